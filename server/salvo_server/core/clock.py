"""The server's clock: epoch milliseconds that never go back and never jump."""

from __future__ import annotations

import time
from collections.abc import Callable

from salvo_game.journal_interface import Saved


def epoch_clock() -> Callable[[], int]:
    """Return a clock of epoch milliseconds that never jumps: set once, then driven by the monotonic clock."""
    offset = time.time_ns() - time.monotonic_ns()
    return lambda: (time.monotonic_ns() + offset) // 1_000_000


def steady_clock(clock: Callable[[], int], saved: Saved) -> Callable[[], int]:
    """Return the service's clock, epoch milliseconds, which never goes back.

    If the clock has been set back since the journal's last step, this one continues from that step's time. It must not
    stand still until the clock has caught up, or no deadline would pass.
    """
    last_at = max((game.steps[-1].at if game.steps else game.opened.at for game in saved.games), default=0)
    back_ms = max(0, last_at - clock())

    def now() -> int:
        nonlocal last_at
        last_at = max(last_at, clock() + back_ms)
        return last_at

    return now
