"""Programs that run alongside a server, gateways and the web front: a process each, restarted when it dies.

So one that fails takes no game with it, and its guests come back to where they were. It ends with its server, however
that ends: it holds the other end of a pipe, and the system closes it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from salvo.cli.output import WITH_INPUT

log = logging.getLogger(__name__)

#: How long a program may take to report goodbye to its guests.
END_SECONDS: Final = 10.0
#: Pause before a gateway is started again; longer each time that it ends at once.
AGAIN_SECONDS: Final = 0.5
MAX_PAUSE_SECONDS: Final = 30.0
_AT_ONCE_SECONDS: Final = 10.0

#: Told the program's name, and a line that it has printed.
Report = Callable[[str, str], None]


class SupervisedProgram(NamedTuple):
    """A program to run alongside.

    Attributes:
        name: for people.
        words: those behind ``salvo``.
        environment: variables of its own.
        quiet: whether nobody reads what it logs.
        ends: whether it ends by itself when it is done; then it is started again only where that went wrong.
    """

    name: str
    words: Sequence[str]
    environment: Mapping[str, str] = {}
    quiet: bool = False
    ends: bool = False


@contextlib.contextmanager
def programs_beside(programs: Sequence[SupervisedProgram], report: Report) -> Iterator[None]:
    """Run programs for the length of a ``with`` block.

    Args:
        report: called on other threads.
    """
    with contextlib.ExitStack() as running:
        for each in programs:
            program = _Running(each, report)
            program.start()
            running.callback(program.join)
            running.callback(program.end)
        yield


class _Running:
    def __init__(self, program: SupervisedProgram, report: Report) -> None:
        self._program = program
        self._report = report
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._run, name=program.name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Tell it to end; the pipe tells one that is only just starting."""
        with self._lock:
            self._stop.set()
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.close()

    def join(self) -> None:
        self._thread.join(END_SECONDS)
        with self._lock:
            if self._thread.is_alive() and self._process is not None:
                self._process.kill()
        self._thread.join(END_SECONDS)

    def _run(self) -> None:
        pause = AGAIN_SECONDS
        while True:
            began = time.monotonic()
            code = self._once()
            if self._stop.is_set() or (self._program.ends and code == 0):
                return
            lasted = time.monotonic() - began > _AT_ONCE_SECONDS
            pause = AGAIN_SECONDS if lasted else min(2 * pause, MAX_PAUSE_SECONDS)
            log.error("the %s has ended with exit code %d; it is started again", self._program.name, code)
            if self._stop.wait(pause):
                return

    def _once(self) -> int:
        """Run it until it ends."""
        with self._lock:
            if self._stop.is_set():
                return 0
            # With -P it does not import what lies in this folder, such as a bot that is called salvo.py.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "salvo", *self._program.words],
                env={**os.environ, **self._program.environment, WITH_INPUT: "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if self._program.quiet else None,
                text=True,
                start_new_session=True,  # Ctrl-C is the server's, which then ends it
            )
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._report(self._program.name, line.rstrip())
        return self._process.wait()
