"""A worker that derives keys only when a test says so."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any

from salvo_server.core.keyring import KeyWorker


class ByHand(Executor):
    """Keeps what it is given until :meth:`work`."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Any, tuple[Any, ...]]] = []

    @property
    def worker(self) -> KeyWorker:
        return KeyWorker(executor=self)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, fn, args))
        return future

    def work(self) -> int:
        """Do all that waits; return how much that was."""
        waiting, self.waiting = [job for job in self.waiting if not job[0].cancelled()], []
        for future, fn, args in waiting:
            future.set_result(fn(*args))
        return len(waiting)
