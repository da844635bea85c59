"""Warnings about what any client can bring about as often as it likes."""

from __future__ import annotations

import logging
import time
from collections import Counter

#: Between two warnings of a kind; what happens in between is counted.
PAUSE_SECONDS = 10.0


class Throttle:
    """Logs a kind of warning at most once in a while, and then how many were left out.

    Attributes:
        counts: how often each kind has happened.
    """

    def __init__(self, log: logging.Logger, pause_seconds: float | None = None) -> None:
        """Begin; ``pause_seconds`` is :data:`PAUSE_SECONDS` where it is not given."""
        self.counts: Counter[str] = Counter()
        self._pause_seconds = PAUSE_SECONDS if pause_seconds is None else pause_seconds
        self._log = log
        self._logged: dict[str, tuple[float, int]] = {}

    def warn(self, kind: str, text: str) -> None:
        """Warn, unless the same kind was logged just now; ``kind`` is chosen by the program, never by a client."""
        self.counts[kind] += 1
        now, count = time.monotonic(), self.counts[kind]
        logged_at, logged_count = self._logged.get(kind, (-self._pause_seconds, count - 1))
        if now - logged_at < self._pause_seconds:
            return
        self._logged[kind] = now, count
        left_out = count - logged_count - 1
        self._log.warning("%s%s", text, f" (and {left_out} more like it before)" if left_out else "")
