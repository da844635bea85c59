"""The executor on which a server derives keys: at once, or when a test says so.

gate = Authenticator(executor=Deriver())
worker = Deriver(held=True)  # ... a message comes ...
assert len(worker.waiting) == 1
worker.work()
"""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any

from salvo_server.core.keyring import KeyWorker


class Deriver(Executor):
    """Does what it is given at once; or, while ``held``, not before :meth:`work`.

    Attributes:
        waiting: what is held back, each a future, a function and its arguments.
    """

    def __init__(self, *, held: bool = False) -> None:
        self.held = held
        self.waiting: list[tuple[Future[Any], Any, tuple[Any, ...]]] = []

    @property
    def worker(self) -> KeyWorker:
        """The server's worker on it."""
        return KeyWorker(executor=self)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self.held:
            self.waiting.append((future, fn, args))
        else:
            future.set_result(fn(*args, **kwargs))
        return future

    def work(self) -> int:
        """Do all that waits and was not cancelled; return how much that was."""
        waiting, self.waiting = [job for job in self.waiting if not job[0].cancelled()], []
        for future, fn, args in waiting:
            future.set_result(fn(*args))
        return len(waiting)

    def release(self) -> None:
        """Do all that waits, and hold nothing back any more."""
        self.held = False
        self.work()
