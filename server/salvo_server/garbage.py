"""The garbage collector of a server.

A full collection of CPython looks through every object: with 300 games in play, 0.4 s every few seconds in which nobody
is answered. Messages and games that end leave it next to nothing. So what a full collection has left is put aside, and
the next ones look only through what is new; through everything, once that is twice as much.

With the embedded broker, only what is there at the start is put aside: each of its connections may stay in a cycle when
it closes, with its buffers and its TLS.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

#: To count what has been put aside takes 10 ms with 300 games.
COUNT_SECONDS: Final = 60.0


def collect_in_portions(*, embedded: bool, clock: Callable[[], float] = time.monotonic) -> None:
    """Let full collections of this process look through what is new, and through all when that has doubled.

    Args:
        embedded: whether the broker is in this process.
    """
    gc.freeze()
    if embedded:
        return
    whole: int | None = gc.get_freeze_count()  # None while nothing is aside
    count_at = clock() + COUNT_SECONDS

    def collected(phase: str, info: Mapping[str, Any]) -> None:
        nonlocal whole, count_at
        if phase != "stop" or info["generation"] < 2:
            return
        gc.freeze()
        if whole is None:
            whole = gc.get_freeze_count()
        elif clock() >= count_at:
            count_at = clock() + COUNT_SECONDS
            if gc.get_freeze_count() > 2 * whole:
                gc.unfreeze()
                whole = None

    gc.callbacks.append(collected)
