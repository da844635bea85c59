"""Worker processes, which bots may end or block: tasks and answers go through a pipe.

Programs that such a process has started (``exec:COMMAND``) end with it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import parent_process, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

#: How long a process may take to end after its pipe was closed: longer than its programs take, dismissed together.
LEAVE_SECONDS: Final = 3.0
#: Signals by which a terminal, a service manager or ``kill`` ends a process.
_ENDING: Final = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_started: Final[weakref.WeakSet[WorkerProcess]] = weakref.WeakSet()
#: How often to look whether a bot still answers, in seconds.
LOOK_SECONDS: Final = 0.1


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WorkerProcess:
    """A process that answers tasks in order until its pipe is closed.

    Attributes:
        pipe: closed once the process was dismissed or has ended.
        tasks: those not answered yet; the process works on the first.
    """

    def __init__(
        self, context: Any, work: Callable[..., None], *arguments: Any, others: Iterable[WorkerProcess] = ()
    ) -> None:
        """Start the process.

        Args:
            context: the start method, from :func:`multiprocessing.get_context`.
            work: called in the process with its end of the pipe and the arguments, which may be shared memory; its
                output is discarded. ``EOFError`` from the pipe means that there are no more tasks.
            others: the workers started before, whose pipes a forked process inherits.
        """
        self.pipe, theirs = context.Pipe()
        self.tasks: deque[Any] = deque()
        method = context.get_start_method()
        inherited = [worker.pipe for worker in (*others, self)] if method == "fork" else []
        self._process = context.Process(target=_run, args=(inherited, work, theirs, *arguments), daemon=True)
        with _uninterrupted(method), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about forking with threads, which is intended
            self._process.start()
        theirs.close()
        _started.add(self)

    @property
    def sentinel(self) -> int:
        """For :func:`multiprocessing.connection.wait`: ready when the process has ended, whoever has its pipe open."""
        return int(self._process.sentinel)

    def give(self, task: Any) -> None:
        """Send a task."""
        self.tasks.append(task)
        with contextlib.suppress(OSError):  # it has ended, which :meth:`receive` reports
            self.pipe.send(task)

    def receive(self) -> Any:
        """Wait for the answer to the first task and return it.

        Raises:
            EOFError: the process has ended; :meth:`kill` returns how.
        """
        try:
            answer = self.pipe.recv()
        except Exception:  # also what is no answer: a bot has written to the pipe
            self.pipe.close()
            raise EOFError from None
        self.tasks.popleft()
        return answer

    def dismiss(self) -> None:
        """Let an idle process end by itself, with the programs that wait for further games."""
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
    """End processes; idle ones end by themselves, in parallel."""
    for worker in workers:
        worker.dismiss()
    for worker in workers:
        worker.kill()


def how_it_ended(code: int | None) -> str:
    """Return how a process ended, from its exit code; a negative one is the signal that killed it."""
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
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end_with_programs)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # a bot that prints would flood the screen
    os.close(nowhere)
    with contextlib.suppress(EOFError, OSError):
        work(*arguments)


def _end_with_programs(number: int, _: object) -> None:
    """End this process by a signal, and first its programs: a signal for a whole group does not reach them."""
    _kill_groups_of(os.getpid())
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


@contextlib.contextmanager
def _uninterrupted(method: str) -> Iterator[None]:
    """Delay what ends this process, and keep Ctrl-C from processes that are started here, even while they import.

    Python drops an interruption that comes while it forks.

    Args:
        method: how processes are started, as :mod:`multiprocessing` names it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    if method == "spawn":
        resource_tracker.ensure_running()  # which would undo the mask if the first process started it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, *_ENDING})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill_groups_below(pid: int) -> None:
    """Kill the process groups led by children of a child of this process; the child is stopped.

    So a killed process's programs end with it, even in an endless loop. Only works on Linux.
    """
    if sys.platform != "linux":
        return
    os.kill(pid, signal.SIGSTOP)  # so that it cannot reap a child, whose id might be reused
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    _kill_groups_of(pid)


def _kill_groups_of(pid: int) -> None:
    with contextlib.suppress(FileNotFoundError):  # not every system has it
        for leader in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(int(leader), signal.SIGKILL)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_started.clear)  # they are the parent's


@atexit.register
def _end_with_interpreter() -> None:
    """End processes that nobody has ended, before :mod:`multiprocessing` asks them to end and waits for it."""
    for worker in list(_started):
        worker.kill()
