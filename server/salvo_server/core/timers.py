"""The service's time, and when it passes at which table."""

from __future__ import annotations

from collections.abc import Callable

from salvo_server.core.journal import Saved


class SteadyClock:
    """The service's time, epoch milliseconds.

    It goes on from where the journal left it, should the clock have been set back since. It must not stand still until
    the clock is there again: deadlines would not pass.
    """

    def __init__(self, clock: Callable[[], int], saved: Saved) -> None:
        self._clock = clock
        ends = (game.steps[-1].at if game.steps else game.opened.at for game in saved.games)
        self._last_at = max(ends, default=0)
        self._back_ms = max(0, self._last_at - clock())

    def __call__(self) -> int:
        """Return the time, never less than before."""
        now = self._clock() + self._back_ms
        if now > self._last_at:
            self._last_at = now
        return self._last_at


class Timers:
    """The next deadline of each table, epoch milliseconds.

    Attributes:
        earliest: never later than the first of them, but earlier when that one was moved: with a thousand tables it is
            looked up again only when it has passed, and not at every message.
    """

    def __init__(self) -> None:
        self.earliest: int | None = None
        self._due: dict[str, int] = {}

    def set(self, table: str, due: int | None) -> None:
        """Set a table's deadline; None for none."""
        if due is None:
            self._due.pop(table, None)
            return
        self._due[table] = due
        if self.earliest is None or due < self.earliest:
            self.earliest = due

    def take_due(self, now: int) -> list[str]:
        """Return the tables whose deadline has passed; they have none until it is set again."""
        if self.earliest is None or now < self.earliest:
            return []
        tables = [table for table, due in self._due.items() if due <= now]
        for table in tables:
            del self._due[table]
        self.earliest = min(self._due.values(), default=None)
        return tables
