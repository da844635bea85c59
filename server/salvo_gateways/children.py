"""Child processes as guests: a program on its standard streams, started again whenever it has ended."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, Final

from salvo.bots.programs import environment
from salvo.errors import printable
from salvo_gateways.errors import GatewayError

log = logging.getLogger(__name__)

#: How long a child may go on after its guest has left, and another one waits to be started; longer each time that a
#: child ends at once without having finished a game.
LEAVE_SECONDS: Final = 2.0
AGAIN_SECONDS: Final = 0.2
MAX_PAUSE_SECONDS: Final = 30.0
#: What goes to the log of a child's standard error: bytes of a line, and number of lines.
MAX_LINE_BYTES: Final = 500
MAX_LINES: Final = 1000
_LOOK_SECONDS: Final = 0.1


class Child:
    """One program's place: one process at a time, in its own process group.

    It inherits the environment, without our variables, which may hold secrets.
    """

    def __init__(
        self,
        command: Sequence[str],
        name: str,
        admit: Callable[[socket.socket, str], None],
        wants_more: Callable[[], bool] = lambda: True,
        finished: Callable[[], int] = lambda: 0,
    ) -> None:
        """Prepare; :meth:`start` starts it.

        Args:
            name: what the log calls it.
            admit: takes our end of its standard streams; closes it when the guest has left.
            wants_more: whether to start it again when it has ended; if not, one that runs on is ended soon.
            finished: how many games its processes have played to the end.
        """
        self._command = list(command)
        self._name = name
        self._admit = admit
        self._wants_more = wants_more
        self._finished = finished
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"child {name}", daemon=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._ours: socket.socket | None = None
        self._errors: threading.Thread | None = None

    def start(self) -> None:
        """Start the first process.

        Raises:
            GatewayError: ``cannot_start``.
        """
        self._spawn()
        self._thread.start()

    def join(self) -> None:
        """Wait until no more processes are wanted and the last one has ended."""
        self._thread.join()

    def close(self) -> None:
        """Kill the process with all that it has started, and start none again."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(10)

    def _spawn(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            process = subprocess.Popen(
                self._command,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.PIPE,
                env=environment.of_bots(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            ours.close()
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise GatewayError("cannot_start", f"{self._command[0][:200]!r}: {reason}") from None
        finally:
            theirs.close()
        assert process.stderr is not None
        self._process, self._ours = process, ours
        self._errors = threading.Thread(target=self._log, args=(process.stderr,), daemon=True)
        self._errors.start()
        self._admit(ours, self._name)

    def _run(self) -> None:
        pause = AGAIN_SECONDS
        while True:
            began, finished = time.monotonic(), self._finished()
            self._watch()
            self._end()
            too_early = time.monotonic() - began <= LEAVE_SECONDS and self._finished() == finished
            pause = min(2 * pause, MAX_PAUSE_SECONDS) if too_early else AGAIN_SECONDS
            if not self._wants_more() or self._stop.wait(pause):
                return
            try:
                self._spawn()
            except GatewayError as error:
                log.error("%s: %s", self._name, error)
                return

    def _watch(self) -> None:
        """Return when the process has ended, or should have."""
        assert self._process is not None
        assert self._ours is not None
        left_at: float | None = None
        # It is left a zombie until its group is killed: until then no other process can have its number.
        while os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            if left_at is None and (self._ours.fileno() == -1 or not self._wants_more()):
                left_at = time.monotonic()
            if self._stop.wait(_LOOK_SECONDS) or (left_at is not None and time.monotonic() - left_at > LEAVE_SECONDS):
                return

    def _end(self) -> None:
        """Kill what is left of the process and its group."""
        assert self._process is not None
        assert self._errors is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):  # only the zombie is left
            os.killpg(self._process.pid, signal.SIGKILL)
        code = self._process.wait()
        if code > 0:
            log.warning("%s: ended with exit code %d", self._name, code)
        self._errors.join(LEAVE_SECONDS)

    def _log(self, errors: IO[bytes]) -> None:
        with errors:
            for number, line in enumerate(iter(lambda: errors.readline(MAX_LINE_BYTES), b"")):
                if number < MAX_LINES:
                    text = line.decode(errors="replace").rstrip()
                    log.info("%s: %s", self._name, printable(text))
                elif number == MAX_LINES:
                    log.warning("%s: has written %d lines to standard error; no more are shown", self._name, number)
