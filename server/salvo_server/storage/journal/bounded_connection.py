"""A connection to PostgreSQL that waits for an answer only so long.

The system of a database that stands still, or whose disk does, acknowledges all that it is sent: for TCP, nothing is
wrong.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, Final, TypeVar

import psycopg

_Answer = TypeVar("_Answer")

#: How long the owner of a journal waits for an answer: it could play no game that waits longer.
ANSWER_SECONDS: Final = 5.0


class BoundedConnection(psycopg.Connection[Any]):
    """Ends a connection whose answer does not come.

    Attributes:
        patience_seconds: how long to wait for an answer; None for no limit.
    """

    patience_seconds: float | None = None

    def wait(self, gen: Generator[Any, Any, _Answer], *given: Any, **named: Any) -> _Answer:
        """Wait for an answer.

        Raises:
            psycopg.OperationalError: none comes in time; the connection is closed.
        """
        bounded = gen if self.patience_seconds is None else self._bounded(gen, self.patience_seconds)
        return super().wait(bounded, *given, **named)

    def _bounded(self, waits: Generator[Any, Any, _Answer], seconds: float) -> Generator[Any, Any, _Answer]:
        end = time.monotonic() + seconds
        try:
            wanted = next(waits)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() >= end:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the database has not answered for {seconds:g} s")
                wanted = waits.send(ready)
        except StopIteration as end_of_waiting:
            answer: _Answer = end_of_waiting.value
            return answer
