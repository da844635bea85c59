"""The client under test as a process: started with the variables of ``salvo join``, ended with all that it started.

On Linux a keeper is its parent (:mod:`salvo.bots.programs.keeper`), with the limits of bots. Whatever it writes, the
judge stores the last lines, and reads no faster than it can work.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from salvo.bots.programs import keeper, linux
from salvo.errors import printable

_LINES: Final = 200
_LINE_BYTES: Final = 500
#: Between two looks at what it has written.
_LOOK_SECONDS: Final = 0.01
#: How long its process may take to end after it was killed.
_END_SECONDS: Final = 10.0
#: How long after its end to wait for its last words: something that it has left may have its output open.
_LAST_WORDS_SECONDS: Final = 1.0


class ClientProgram:
    """A process of the client.

    Attributes:
        lines: the last lines that it wrote, to either stream, as a terminal may show them.
        code: its exit code; None while it runs.
    """

    def __init__(self, noticed: Callable[[], None]) -> None:
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.code: int | None = None
        self._noticed = noticed
        self._ended = asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None

    async def start(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        """Start it.

        Raises:
            OSError: it cannot be started.
        """
        if shutil.which(command[0]) is None:
            raise OSError(errno.ENOENT, "no such program, or it may not be executed")
        kept = [sys.executable, "-P", "-m", keeper.__name__] if linux.IS_HERE else []
        self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: _Output(self),
            *kept,
            *command,
            env={**_inherited(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def end_as(self, code: int) -> None:
        """Note how it has ended, once."""
        if self.code is not None:
            return
        self.code = code
        self._ended.set()
        self._noticed()

    async def kill(self) -> None:
        """End the process and all that it has started, at once."""
        transport, self._transport = self._transport, None
        if transport is None:
            return
        if not self._ended.is_set():
            await asyncio.to_thread(_end, transport.get_pid())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), _END_SECONDS)
        transport.close()

    @property
    def how_it_ended(self) -> str:
        """How it has ended, in words; empty while it runs."""
        return "" if self.code is None else keeper.how_it_ended(self.code)

    @property
    def last_words(self) -> str:
        """The last line that it wrote."""
        return next((line.strip() for line in reversed(self.lines) if line.strip()), "")


class _Output(asyncio.SubprocessProtocol):
    """Takes what a program writes."""

    def __init__(self, program: ClientProgram) -> None:
        self._program = program
        self._transport: asyncio.SubprocessTransport
        self._begun = b""  # a line without an end
        self._is_read = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        *lines, self._begun = (self._begun + data).split(b"\n")
        self._begun = self._begun[:_LINE_BYTES]
        self._take(lines[-_LINES:])
        pipe = self._transport.get_pipe_transport(fd)
        assert isinstance(pipe, asyncio.ReadTransport)
        pipe.pause_reading()
        asyncio.get_running_loop().call_later(_LOOK_SECONDS, pipe.resume_reading)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._take([self._begun])
        self._is_read = True
        if (code := self._transport.get_returncode()) is not None:
            self._program.end_as(code)

    def process_exited(self) -> None:
        code = self._transport.get_returncode()
        assert code is not None
        wait = 0.0 if self._is_read else _LAST_WORDS_SECONDS
        asyncio.get_running_loop().call_later(wait, self._program.end_as, code)

    def _take(self, lines: Sequence[bytes]) -> None:
        for line in lines:
            self._program.lines.append(printable(line[:_LINE_BYTES].decode(errors="replace").rstrip()))


def _end(process: int) -> None:
    """Kill a process and all that it has started, in whatever session where the system says what that is."""
    with contextlib.suppress(ProcessLookupError, ChildProcessError):  # it has ended meanwhile
        if linux.IS_HERE:
            linux.stop(process)
            linux.end_below(process)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def _inherited() -> dict[str, str]:
    """This process's variables but those that say where to play."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SALVO_")}
