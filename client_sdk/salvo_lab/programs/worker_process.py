"""Worker processes, which bots may end or block: tasks and answers go through a pipe.

All that such a process has started ends with it, as far as the system can do that (:mod:`salvo.bots.programs.linux`).
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import signal
import threading
import time
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import parent_process, resource_tracker
from multiprocessing.connection import Connection
from typing import Any, Final

from salvo.bots.programs import environment, linux
from salvo.bots.programs.keeper import end_as, keep

#: How long a process may take to end after its pipe was closed: longer than its programs take, dismissed together.
LEAVE_SECONDS: Final = 3.0
#: Signals by which a terminal, a service manager or ``kill`` ends a process.
_ENDING: Final = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_started: Final[weakref.WeakSet[WorkerProcess]] = weakref.WeakSet()
#: How often to look whether a bot still answers, in seconds.
LOOK_SECONDS: Final = 0.1
#: And whether a process has ended.
_ALIVE_SECONDS: Final = 0.002


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
                output is discarded, and it has the environment of bots. ``EOFError`` from the pipe means that there
                are no more tasks.
            others: the workers started before, whose pipes a forked process inherits.
        """
        self.pipe, theirs = context.Pipe()
        self.tasks: deque[Any] = deque()
        method = context.get_start_method()
        inherited = [worker.pipe for worker in (*others, self)] if method == "fork" else []
        self._group = context.RawArray("q", 1)  # the process group in which bots are; 0 before
        self._is_over = False
        self._process = context.Process(target=_run, args=(inherited, self._group, work, theirs, *arguments))
        with _uninterrupted(method), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about forking with threads, which is intended
            self._process.start()
        theirs.close()
        _started.add(self)

    @property
    def sentinel(self) -> int:
        """For :func:`multiprocessing.connection.wait`: ready when the process and its copies have ended."""
        return int(self._process.sentinel)

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, though something that it has started may hold pipe and sentinel open."""
        return not self._process.is_alive()

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
        except Exception:  # also what is not an answer: a bot has written to the pipe
            self.pipe.close()
            raise EOFError from None
        self.tasks.popleft()
        return answer

    def dismiss(self) -> None:
        """Let an idle process end by itself, with the programs that wait for further games."""
        if not self.tasks:
            self.pipe.close()

    def kill(self) -> int | None:
        """End the process and what it has started, which may be in an endless loop; return its exit code."""
        end = time.monotonic() + LEAVE_SECONDS
        while self.pipe.closed and self._process.is_alive() and time.monotonic() < end:
            time.sleep(_ALIVE_SECONDS)  # and not join: what a bot has forked has the sentinel open, too
        is_killed = self._process.is_alive()
        if is_killed and linux.IS_HERE:
            linux.stop(self._process.pid)
            linux.end_below(self._process.pid)
        self._process.kill()
        self._process.join()
        self.pipe.close()
        code: int | None = self._process.exitcode
        if not self._is_over and not (linux.IS_HERE and (is_killed or code != -signal.SIGKILL)):
            linux.kill_group(self._group[0])  # there is no keeper, or a bot has killed it
        self._is_over = True  # a group's number may be another one's by now
        return code


def end_all(workers: Iterable[WorkerProcess]) -> None:
    """End processes; idle ones end by themselves, in parallel."""
    for worker in workers:
        worker.dismiss()
    for worker in workers:
        worker.kill()


def _run(inherited: Iterable[Connection], group: Any, work: Callable[..., None], pipe: Connection, *given: Any) -> None:
    for connection in inherited:
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent ends this one
    linux.lead_session()
    if linux.IS_HERE:

        def begun(number: int) -> None:
            group[0] = number
            pipe.close()

        code = keep(dict.fromkeys(_ENDING, signal.SIGKILL), begun, _parent())
        if code is not None:
            end_as(code)
        linux.lead_session()
    else:
        group[0] = os.getpid()
        threading.Thread(target=_end_with_parent, daemon=True).start()
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=pipe.close)  # what a bot forks has no part in this
    _discard_output()
    environment.keep_that_of_bots()
    linux.limit()
    with contextlib.suppress(EOFError, OSError):
        work(pipe, *given)


def _parent() -> int | None:
    """Return the process that has started this one; it may have ended since."""
    parent = parent_process()
    return parent.pid if parent is not None else None


def _end_with_parent() -> None:
    while os.getppid() == _parent():
        time.sleep(1)
    os._exit(1)


def _discard_output() -> None:
    """Discard what bots print, which would flood the screen, but not what is reported of them."""
    reports = logging.StreamHandler(os.fdopen(os.dup(2), "w", encoding="utf-8"))
    for package in ("salvo", "salvo_lab"):
        logging.getLogger(package).addHandler(reports)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.close(nowhere)


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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_started.clear)  # they are the parent's


@atexit.register
def _end_with_interpreter() -> None:
    """End processes that nobody has ended, before :mod:`multiprocessing` asks them to end and waits for it."""
    for worker in list(_started):
        worker.kill()
