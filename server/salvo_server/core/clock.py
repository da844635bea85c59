"""Time that never goes back, so that deadlines hold, whatever the computer's clock does."""

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
        self._last_at = max(self._last_at, self._clock() + self._back_ms)
        return self._last_at
