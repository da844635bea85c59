"""The client under test as a process: started with the variables of ``salvo join``, ended with all that it started."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Final

_LINES: Final = 200
_LINE_BYTES: Final = 1 << 20


class ClientProgram:
    """A process of the client.

    Attributes:
        lines: the last lines that it wrote, to either stream.
        code: its exit code; None while it runs.
    """

    def __init__(self, noticed: Callable[[], None]) -> None:
        self.lines: deque[str] = deque(maxlen=_LINES)
        self.code: int | None = None
        self._noticed = noticed
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    async def start(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        """Start it.

        Raises:
            OSError: it cannot be started.
        """
        self._process = await asyncio.create_subprocess_exec(
            *command,
            env={**_inherited(), **variables},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            limit=_LINE_BYTES,
        )
        self._reader = asyncio.create_task(self._read(self._process))

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        with contextlib.suppress(ValueError):  # a line that is too long
            while line := await process.stdout.readline():
                self.lines.append(line.decode(errors="replace").rstrip())
        self.code = await process.wait()
        self._noticed()

    async def kill(self) -> None:
        """End the process and all that it has started, at once."""
        process, reader = self._process, self._reader
        if process is None or reader is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
        reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reader

    @property
    def last_words(self) -> str:
        """The last line that it wrote."""
        return next((line.strip() for line in reversed(self.lines) if line.strip()), "")


def _inherited() -> dict[str, str]:
    """This process's variables but those that say where to play."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SALVO_")}
