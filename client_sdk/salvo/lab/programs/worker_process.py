"""Processes that work for this one, and that bots may end or block: what is sent through a pipe is answered through it.

A program that such a process has started (``exec:COMMAND``) ends with it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import parent_process, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

#: How long a process whose pipe is closed may take to end: longer than programs that are dismissed together may take.
LEAVE_SECONDS: Final = 3.0


class WorkerProcess:
    """A process that answers tasks in their order, until its pipe is closed.

    Attributes:
        pipe: closed once the process was dismissed or has ended.
        tasks: those that are not answered yet; the process is at the first.
    """

    def __init__(
        self, context: Any, work: Callable[..., None], *arguments: Any, others: Iterable[WorkerProcess] = ()
    ) -> None:
        """Start the process.

        Args:
            context: how, from :func:`multiprocessing.get_context`.
            work: called in the process with its end of the pipe and the arguments, which may be shared memory; what it
                prints goes nowhere. Its ``EOFError`` says that no tasks will come.
            others: the workers started before, whose pipes a forked process inherits.
        """
        self.pipe, theirs = context.Pipe()
        self.tasks: deque[Any] = deque()
        method = context.get_start_method()
        inherited = [worker.pipe for worker in (*others, self)] if method == "fork" else []
        self._process = context.Process(target=_run, args=(inherited, work, theirs, *arguments), daemon=True)
        with _uninterrupted(method), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads, which is meant
            self._process.start()
        theirs.close()

    def give(self, task: Any) -> None:
        """Send a task."""
        self.tasks.append(task)
        with contextlib.suppress(OSError):  # it has ended, which :meth:`receive` reports
            self.pipe.send(task)

    def receive(self) -> Any:
        """Return the answer to the first task; wait for it.

        Raises:
            EOFError: the process has ended; :meth:`kill` returns how.
        """
        try:
            answer = self.pipe.recv()
        except (EOFError, OSError):
            self.pipe.close()
            raise EOFError from None
        self.tasks.popleft()
        return answer

    def dismiss(self) -> None:
        """Let the process end by itself, with the programs that wait for further games, if it has nothing to do."""
        if not self.tasks:
            self.pipe.close()

    def kill(self) -> int | None:
        """End the process and its programs, which may be in an endless loop; return its exit code."""
        if self.pipe.closed:
            self._process.join(LEAVE_SECONDS)
        if self._process.is_alive():
            _kill_groups_below(self._process.pid)
        self._process.kill()
        self._process.join()
        self.pipe.close()
        code: int | None = self._process.exitcode
        return code


def end_all(workers: Iterable[WorkerProcess]) -> None:
    """End processes: those that have nothing to do by themselves, side by side."""
    for worker in workers:
        worker.dismiss()
    for worker in workers:
        worker.kill()


def how_it_ended(code: int | None) -> str:
    """Return how a process ended, from its exit code; below 0 is the signal that killed it."""
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


def end_with_parent() -> None:
    """Let this process end when its parent does, even while a bot never answers."""
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    while (parent := parent_process()) and os.getppid() == parent.pid:
        time.sleep(1)
    os._exit(1)


def _run(inherited: Iterable[Connection], work: Callable[..., None], *arguments: Any) -> None:
    for pipe in inherited:
        pipe.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent ends this one
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # a bot that prints would flood the screen
    os.close(nowhere)
    with contextlib.suppress(EOFError, OSError):
        work(*arguments)


@contextlib.contextmanager
def _uninterrupted(method: str) -> Iterator[None]:
    """Let Ctrl-C wait, and have processes that are started here never hear it, not even while they import.

    Python drops an interruption that comes while it forks.

    Args:
        method: how processes are started, as :mod:`multiprocessing` names it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    if method == "spawn":
        resource_tracker.ensure_running()  # which, started by the first process, would undo the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill_groups_below(pid: int) -> None:
    """Kill the children of a child of this process that lead a group, and all who are in it; the child stops.

    So the programs of a process that is killed end with it, even in an endless loop. Does nothing but on Linux.
    """
    if sys.platform != "linux":
        return
    os.kill(pid, signal.SIGSTOP)  # lest it waits for one whose number is then somebody else's
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    with contextlib.suppress(FileNotFoundError):  # not every kernel tells
        for leader in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(leader), signal.SIGKILL)
