"""A program on its standard streams: a line is asked, a line is answered, within bounds of time and size.

What it may do wrong costs its owner the question and nobody else anything: a crash, silence, half a line, a line
without an end, a flood on either stream. All is done by one thread, inside the calls: between them the program's
pipes fill up, and it waits.
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
from typing import Final, TypeVar

from salvo.errors import BotError
from salvo.lab.programs.debugger import is_traced

T = TypeVar("T")

#: An answer's line (SALVO-EXEC-6), all that is read while one is awaited, and how many late answers among it.
MAX_ANSWER_BYTES: Final = 64 * 1024
MAX_ANSWERS_BYTES: Final = 1024 * 1024
MAX_LATE_ANSWERS: Final = 100
#: Of standard error, lines of so many bytes and so many lines are shown.
MAX_ERROR_BYTES: Final = 500
MAX_ERROR_LINES: Final = 1000
#: How long one whose input has ended may go on before it is terminated, and then before it is killed; and how long the
#: end of one is looked into.
LEAVE_SECONDS: Final = 1.0
TERMINATE_SECONDS: Final = 0.5
INQUEST_SECONDS: Final = 0.5
#: Lines of one game are kept up to so many bytes, to be shown to the program again.
MAX_KEPT_BYTES: Final = 8 * 1024 * 1024
#: After so long without an answer it is told that one is waited for.
WAITING_SECONDS: Final = 5.0
#: What languages write below an error, and no last words: indented lines of where it was, brackets, Node.js's version.
_ADDED: Final = re.compile(r"\s|\W*$|Node\.js v\d")
_CHUNK: Final = 65536
_LOOK_SECONDS: Final = 0.005
_DEBUGGED_SECONDS: Final = 0.5


def environment_of_others() -> dict[str, str]:
    """Return what a program of somebody else's inherits: all but the variables of ours, which may hold secrets."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SALVO_")}


class Program:
    """One process at a time, in a process group of its own.

    It inherits the environment, but for the variables of ours, which may hold secrets.

    Attributes:
        kept: the lines told since :meth:`begin_game`; None when they became too many.
        idle: whether nothing that was asked is unanswered.
        asked: how many questions were asked, over all games and processes.
        stays: whether this process has said that it plays several games alike (SALVO-EXEC-10); the owner notes it.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """Prepare; :meth:`start` starts it."""
        self.command = tuple(command)
        self.asked = 0
        self.attend()
        self._process: subprocess.Popen[bytes] | None = None
        self._finalizer: weakref.finalize[[subprocess.Popen[bytes], int], Program] | None = None
        self._clear()

    def attend(
        self,
        show: Callable[[str], None] = lambda line: None,
        waiting: Callable[[float | None], None] = lambda seconds: None,
    ) -> None:
        """Have an owner that listens, or none.

        Args:
            show: takes each line of standard error, as printable text.
            waiting: called with the seconds of a question that has no answer after ``WAITING_SECONDS``.
        """
        self._show = show
        self._waiting = waiting

    def _clear(self) -> None:
        self.stays = False
        self._dismissed: float | None = None  # since when, on the monotonic clock
        self._unsent = b""
        self._read = b""
        self._errors = b""
        self.idle = True
        self.begin_game()

    @property
    def running(self) -> bool:
        """Whether there is a process; it may have ended without anybody having looked."""
        return self._process is not None

    def start(self) -> None:
        """Start a process.

        Raises:
            BotError: ``cannot_start``.
        """
        self._clear()
        try:
            process = subprocess.Popen(
                self.command,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment_of_others(),
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
        """Forget the lines that were told before, and how much came on standard error."""
        self.kept: list[bytes] | None = []
        self._error_lines = 0
        self._last_error = ""

    def tell(self, line: bytes) -> None:
        """Tell a line that needs no answer; what does not go through the pipe now goes with the next one."""
        self._queue(line)
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            self._write()

    def ask(self, line: bytes, seconds: float | None, read: Callable[[bytes], T | None], limit: str) -> T:
        """Tell a line and return the answer to it.

        Args:
            seconds: how long to wait; None for ever.
            read: makes an answer of a line; None for a late one, which is passed over. What it raises ends the
                question, and the process lives.
            limit: the code of the error when time is up.

        Raises:
            BotError: ``limit``; ``bot_crashed`` or ``bot_flood``, after which no process is left.
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
        patient = began + WAITING_SECONDS
        read_bytes, late = len(self._read), 0
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
                if now >= patient:
                    self._waiting(seconds)
                    patient = math.inf
                wake = patient if end is None else min(end, patient)
                for key, _ in selector.select(None if wake == math.inf else wake - now):
                    if key.fileobj is process.stdin:
                        if not self._send():
                            selector.unregister(process.stdin)
                    elif key.fileobj is process.stderr:
                        if not self._hear_errors():
                            selector.unregister(process.stderr)
                    else:
                        count = self._hear()
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
        """End the process with all that it has started; one that waits for a question gets time to end by itself."""
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
        if self.kept is not None:
            self.kept.append(line)
            if sum(map(len, self.kept)) > MAX_KEPT_BYTES:
                self.kept = None
        self._unsent += line

    def _write(self) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        while self._unsent:
            self._unsent = self._unsent[os.write(self._process.stdin.fileno(), self._unsent[:_CHUNK]) :]

    def _send(self) -> bool:
        """Write what goes through; return whether there may be more to write."""
        try:
            self._write()
        except BlockingIOError:
            return True
        except BrokenPipeError:
            pass  # the end of its output will tell why it has closed its input
        return False

    def _hear(self) -> int:
        """Read of standard output; return how many bytes, 0 at its end."""
        assert self._process is not None
        assert self._process.stdout is not None
        chunk = os.read(self._process.stdout.fileno(), _CHUNK)
        self._read += chunk
        return len(chunk)

    def _hear_errors(self) -> bool:
        """Read of standard error; return whether there may be more."""
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
        text = text if text.isprintable() else ascii(text)
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
        """Find out why the output has ended, and let nothing of the process be left."""
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
        return BotError("bot_crashed", f"it {cause}{half}{last}")

    def _wait_for_end(self, seconds: float) -> bool:
        """Wait until the process has ended, but not longer than so, and hear its last words; return whether it has."""
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
        """Read of standard error; return whether something was there, and lines are still shown."""
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
    """Whether it has; it is left a zombie until its group is killed: nobody else can have its number so long."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill(process: subprocess.Popen[bytes], owner: int) -> None:
    """Kill a process and its group, unless this is a fork of the process that has started it."""
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    if owner != os.getpid():
        return
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a process and its group; where systems have no groups, to the process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # there is nobody but the zombie
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
