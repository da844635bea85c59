"""A program on its standard streams: one line out, one line back, within limits of time and size.

Whatever it does wrong only costs its owner the question: a crash, silence, half a line, an endless line, a flood on
either stream. Everything is done by one thread, inside the calls: in between, the program's pipes fill up, and it
waits.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import selectors
import shlex
import signal
import subprocess
import time
import weakref
from collections.abc import Callable, Sequence
from typing import BinaryIO, Final, TypeVar

from salvo.bots.programs import environment
from salvo.bots.programs.linux import is_traced
from salvo.errors import BotError, printable

T = TypeVar("T")

#: An answer's line (SALVO-EXEC-6), all input for one question, and the late answers in it.
MAX_ANSWER_BYTES: Final = 64 * 1024
MAX_ANSWERS_BYTES: Final = 1024 * 1024
MAX_LATE_ANSWERS: Final = 100
#: Of standard error, this many bytes of a line and this many lines are shown.
MAX_ERROR_BYTES: Final = 500
MAX_ERROR_LINES: Final = 1000
#: How long a process may run after its input has ended before it is terminated, and after that before it is killed; and
#: how long to look for the cause when a process ends.
LEAVE_SECONDS: Final = 1.0
TERMINATE_SECONDS: Final = 0.5
INQUEST_SECONDS: Final = 0.5
#: Lines of one game are kept up to this many bytes, to be replayed to the program.
MAX_GAME_BYTES: Final = 8 * 1024 * 1024
#: What languages print after an error, and no last words: indented traceback lines, brackets, Node.js's version.
_ADDED: Final = re.compile(r"\s|\W*$|Node\.js v\d")
#: What Python before 3.13 says of a file salvo.py that imports salvo, and so itself.
_IS_HIDDEN: Final = "partially initialized module 'salvo'"
_CHUNK: Final = 65536
_LOOK_SECONDS: Final = 0.005
#: How often to look whether a process has ended whose output something that it has started holds open.
_ALIVE_SECONDS: Final = 0.1
_DEBUGGED_SECONDS: Final = 0.5


def answers_apart() -> BinaryIO:
    """Return standard output for answers alone: from now on, what anything else prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


class Program:
    """One process at a time, in its own process group.

    It has the environment of bots (:mod:`salvo.bots.programs.environment`).

    Attributes:
        game_lines: the lines sent since :meth:`begin_game`; None when they became too many.
        idle: whether every question is answered.
        asked: how many questions were asked, over all games and processes.
        stays: whether this process has said that it can play several games (SALVO-EXEC-10); set by the owner.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """Prepare; :meth:`start` starts it."""
        self.command = tuple(command)
        self.asked = 0
        self.attend()
        self._process: subprocess.Popen[bytes] | None = None
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes], int], Program] | None = None
        self._clear()

    def attend(self, show: Callable[[str], None] = lambda line: None) -> None:
        """Set what takes each line of standard error, as printable text, or reset it."""
        self._show = show

    def _clear(self) -> None:
        self.stays = False
        self._dismissed: float | None = None  # when, on the monotonic clock
        self._unsent = b""
        self._read = b""
        self._errors = b""
        self.idle = True
        self.begin_game()

    @property
    def running(self) -> bool:
        """Whether there is a process; it may have ended unnoticed."""
        return self._process is not None

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended by itself."""
        return self._process is not None and _has_ended(self._process)

    def start(self) -> None:
        """Start a process.

        Raises:
            BotError: ``cannot_start``.
        """
        self._clear()
        if os.name != "posix":  # Windows cannot wait for several pipes at once
            fix = "use a bot in Python, or WSL"
            raise BotError("cannot_start", f"{shlex.join(self.command)[:200]}: programs need Linux or macOS; {fix}")
        try:
            process = subprocess.Popen(
                self.command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment.of_bots(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise BotError("cannot_start", f"{shlex.join(self.command)[:200]}: {reason}") from None
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
        self._process = process
        self._finalizer = weakref.finalize(self, _kill, process, os.getpid())

    def begin_game(self) -> None:
        """Forget earlier lines, and how much came on standard error."""
        self.game_lines: list[bytes] | None = []
        self._error_lines = 0
        self._last_error = ""

    def send(self, line: bytes) -> None:
        """Send a line that needs no answer; what does not fit into the pipe now goes with the next one."""
        self._queue(line)
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            self._write()

    def ask(self, line: bytes, seconds: float | None, read: Callable[[bytes], T | None], limit: str) -> T:
        """Send a line and return the answer to it.

        Args:
            seconds: how long to wait; None for ever.
            read: turns a line into an answer; None for a late one, which is skipped. An exception from it ends the
                question, but not the process.
            limit: the code of the error when time is up.

        Raises:
            BotError: ``limit``; ``bot_crashed`` or ``bot_flood``, after which the process is gone.
        """
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._queue(line)
        self.asked += 1
        self.idle = False
        began = time.monotonic()
        end = None if seconds is None else began + seconds
        read_bytes, late = len(self._read), 0
        look, ended = began + _ALIVE_SECONDS, False
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stderr, selectors.EVENT_READ)
            selector.register(process.stdin, selectors.EVENT_WRITE)
            while True:
                while (split := self._read.find(b"\n")) >= 0:
                    answer_line, self._read = self._read[:split], self._read[split + 1 :]
                    if len(answer_line) <= MAX_ANSWER_BYTES:
                        answer = read(answer_line)
                        if answer is not None:
                            self.idle = True
                            return answer
                    late += 1
                    if late > MAX_LATE_ANSWERS or len(answer_line) > MAX_ANSWER_BYTES:
                        raise self._flood(len(answer_line), late)
                if len(self._read) > MAX_ANSWER_BYTES or read_bytes > MAX_ANSWERS_BYTES:
                    raise self._flood(len(self._read), late)
                now = time.monotonic()
                if end is not None and now >= end:
                    if is_traced(process.pid):
                        end = now + _DEBUGGED_SECONDS
                        continue
                    half = f"; {len(self._read)} bytes without a line's end came" if self._read else ""
                    raise BotError(limit, f"no answer in {now - began:.2f} s{half}")
                wake = now if ended else min(look, math.inf if end is None else end)
                ready = [key for key, _ in selector.select(wake - now)]
                if ended and all(key.fileobj is not process.stdout for key in ready):
                    raise self._inquest()
                if not ended and time.monotonic() >= look:
                    look, ended = time.monotonic() + _ALIVE_SECONDS, _has_ended(process)
                for key in ready:
                    if key.fileobj is process.stdin:
                        if not self._send():
                            selector.unregister(process.stdin)
                    elif key.fileobj is process.stderr:
                        if not self._hear_errors():
                            selector.unregister(process.stderr)
                    else:
                        count = self._receive()
                        if not count:
                            raise self._inquest()
                        read_bytes += count

    def dismiss(self) -> None:
        """Ask the process to end, by the end of its input."""
        if self._process is not None and self._dismissed is None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._dismissed = time.monotonic()

    def close(self) -> None:
        """End the process and all of its group; an idle one gets time to end by itself.

        What it has started in a session of its own (``setsid``) is not found: where bots play in a process that is
        kept (:mod:`salvo.bots.programs.keeper`), it ends with that.
        """
        process = self._process
        if process is None:
            return
        self.dismiss()
        assert self._dismissed is not None
        if self.idle and not self._wait_for_end(self._dismissed + LEAVE_SECONDS - time.monotonic()):
            _signal(process, signal.SIGTERM)
            self._wait_for_end(TERMINATE_SECONDS)
        self._end()

    # --- one stream each ----------------------------------------------------------------------------------------

    def _queue(self, line: bytes) -> None:
        if self.game_lines is not None:
            self.game_lines.append(line)
            if sum(map(len, self.game_lines)) > MAX_GAME_BYTES:
                self.game_lines = None
        self._unsent += line

    def _write(self) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        while self._unsent:
            self._unsent = self._unsent[os.write(self._process.stdin.fileno(), self._unsent[:_CHUNK]) :]

    def _send(self) -> bool:
        """Write what fits; return whether there may be more to write."""
        try:
            self._write()
        except BlockingIOError:
            return True
        except BrokenPipeError:
            pass  # the end of its output will show why it has closed its input
        return False

    def _receive(self) -> int:
        """Read from standard output; return how many bytes, 0 at its end."""
        assert self._process is not None
        assert self._process.stdout is not None
        chunk = os.read(self._process.stdout.fileno(), _CHUNK)
        self._read += chunk
        return len(chunk)

    def _hear_errors(self) -> bool:
        """Read from standard error; return whether there may be more."""
        assert self._process is not None
        assert self._process.stderr is not None
        try:
            chunk = os.read(self._process.stderr.fileno(), _CHUNK)
        except BlockingIOError:
            return True
        *lines, rest = (self._errors + chunk).split(b"\n")
        self._errors = rest[:MAX_ERROR_BYTES]
        if not chunk and rest:
            lines, self._errors = [rest], b""
        for line in lines:
            self._show_error(line)
        return bool(chunk)

    def _show_error(self, line: bytes) -> None:
        text = line[:MAX_ERROR_BYTES].decode(errors="replace").rstrip()
        text = printable(text)
        if text and not _ADDED.match(text):
            self._last_error = text
        self._error_lines += 1
        if self._error_lines <= MAX_ERROR_LINES:
            self._show(text)
        elif self._error_lines == MAX_ERROR_LINES + 1:
            self._show(f"... has written {MAX_ERROR_LINES} lines to standard error; no more are shown")

    # --- its end ------------------------------------------------------------------------------------------------

    def _flood(self, length: int, late: int) -> BotError:
        self._end()
        if length > MAX_ANSWER_BYTES:
            return BotError("bot_flood", f"a line of more than {MAX_ANSWER_BYTES} bytes; it was killed")
        if late > MAX_LATE_ANSWERS:
            text = f"more than {MAX_LATE_ANSWERS} answers to questions of before; it was killed"
            return BotError("bot_flood", text)
        return BotError("bot_flood", f"more than {MAX_ANSWERS_BYTES} bytes for one question; it was killed")

    def _inquest(self) -> BotError:
        """Find out why the output has ended, and kill what is left of the process."""
        half = f", after {len(self._read)} bytes without a line's end" if self._read else ""
        self._wait_for_end(INQUEST_SECONDS)
        code = self._end()
        if code is None:
            cause = "closed its standard output"
        elif code < 0:
            cause = f"was killed by {signal.Signals(-code).name}"
        else:
            cause = f"ended with exit code {code}"
        last = f"; its last words: {self._last_error}" if self._last_error else ""
        if _IS_HIDDEN in self._last_error:
            last += "; rename the file salvo.py beside it, which Python takes for the package salvo"
        return BotError("bot_crashed", f"it {cause}{half}{last}")

    def _wait_for_end(self, seconds: float) -> bool:
        """Wait at most this long for the process to end, and read its last words; return whether it has ended."""
        process = self._process
        assert process is not None
        assert process.stdout is not None
        end = time.monotonic() + seconds
        while True:
            ended = _has_ended(process)
            while self._errors_left():
                pass
            with contextlib.suppress(OSError):
                os.read(process.stdout.fileno(), _CHUNK)
            if ended or time.monotonic() >= end:
                return ended
            time.sleep(_LOOK_SECONDS)

    def _errors_left(self) -> bool:
        """Read from standard error; return whether there was something, and lines are still shown."""
        before = self._error_lines
        return self._hear_errors() and before < self._error_lines <= MAX_ERROR_LINES

    def _end(self) -> int | None:
        """Kill what is left of the process and its group; return its exit code if it had ended by itself."""
        process, self._process = self._process, None
        assert process is not None
        ended = _has_ended(process)
        if self._finalizer is not None:
            self._finalizer.detach()
        _kill(process, os.getpid())
        return process.returncode if ended else None


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended; it stays a zombie until its group is killed, so that its id is not reused."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill(process: subprocess.Popen[bytes], owner: int) -> None:
    """Kill a process and its group, unless this is a fork of the process that started it."""
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    if owner != os.getpid():
        return
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a process and its group; on systems without groups, only to the process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # only the zombie is left
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
