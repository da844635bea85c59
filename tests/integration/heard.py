"""A listener for tests: what the referee announced."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from salvo import messages as m

#: Longer than any game of these tests takes on a busy machine.
_SECONDS = 40.0


class Heard:
    """Keeps what the referee announced, and wakes who waits for it."""

    def __init__(self) -> None:
        self.all: list[m.Announcement] = []
        self._news = threading.Condition()

    def __call__(self, table: str, now: int, command: m.Input | None, announcements: Any) -> None:
        with self._news:
            self.all += announcements
            self._news.notify_all()

    def until(self, holds: Callable[[list[m.Announcement]], bool]) -> None:
        with self._news:
            assert self._news.wait_for(lambda: holds(self.all), _SECONDS), self.all[-10:]

    def of(self, kind: type) -> list[Any]:
        return [announcement for announcement in self.all if isinstance(announcement, kind)]


def over(announcements: list[m.Announcement]) -> bool:
    return any(isinstance(announcement, m.GameWon) for announcement in announcements)
