"""Throttle warnings that any client can cause as often as it likes."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

#: Between two warnings of a kind; what happens in between is counted.
PAUSE_SECONDS: Final = 10.0
#: The ``extra`` of a record that strangers can cause, and which :class:`LogThrottle` therefore counts.
SELDOM: Final = {"seldom": True}
#: Libraries that read what strangers send, by their loggers.
_LIBRARIES: Final = frozenset(("amqtt", "anyio", "asyncio", "h11", "paho", "starlette", "uvicorn", "websockets"))

_Kind = TypeVar("_Kind", bound=Hashable)


class _Counted(Generic[_Kind]):
    """What has happened, by kind, and what of it was logged."""

    def __init__(self, pause_seconds: float | None = None) -> None:
        self.counts: Counter[_Kind] = Counter()
        self._pause_seconds = PAUSE_SECONDS if pause_seconds is None else pause_seconds
        self._logged: dict[_Kind, tuple[float, int]] = {}

    def addition(self, kind: _Kind) -> str | None:
        """Count one of a kind; return what its line adds about those before, None if it gets no line."""
        self.counts[kind] += 1
        now, count = time.monotonic(), self.counts[kind]
        logged_at, logged_count = self._logged.get(kind, (-self._pause_seconds, count - 1))
        if now - logged_at < self._pause_seconds:
            return None
        self._logged[kind] = now, count
        left_out = count - logged_count - 1
        return f" (and {left_out} more like it before)" if left_out else ""


class Throttle:
    """Logs a kind of warning at most once in a while, and then how many were left out.

    Attributes:
        counts: how often each kind has happened.
    """

    def __init__(self, log: logging.Logger, pause_seconds: float | None = None) -> None:
        """Begin; ``pause_seconds`` is :data:`PAUSE_SECONDS` where it is not given."""
        self._log = log
        self._counted: _Counted[str] = _Counted(pause_seconds)
        self.counts: Counter[str] = self._counted.counts

    def warn(self, kind: str, text: str) -> None:
        """Warn, unless the same kind was logged just now; ``kind`` is chosen by the program, never by a client."""
        if (addition := self._counted.addition(kind)) is not None:
            self._log.warning("%s%s", text, addition)


class LogThrottle(logging.Filter):
    """Does for a whole log what :class:`Throttle` does for one logger: a kind is a line of code that logs.

    It is about the warnings of libraries, and about our records with :data:`SELDOM`; what a bot logs is its author's.
    """

    def __init__(self) -> None:
        super().__init__()
        self._counted: _Counted[tuple[str, str, int]] = _Counted()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is logged; it then says how many were left out."""
        of_library = record.levelno >= logging.WARNING and record.name.partition(".")[0] in _LIBRARIES
        if not getattr(record, "seldom", of_library):
            return True
        addition = self._counted.addition((record.name, record.pathname, record.lineno))
        if addition:
            record.msg, record.args = f"{record.getMessage().rstrip()}{addition}", ()
        return addition is not None
