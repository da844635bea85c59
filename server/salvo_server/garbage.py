"""The garbage collector of a server with a broker of its own.

A full collection of CPython looks through every object: with 300 games in play, 0.4 s every few seconds in which nobody
is answered. Messages and games that end leave it next to nothing. So what a full collection has left is put aside, and
the next ones look only through what is new; through everything, once that is twice as much.

Not for a server with the embedded broker: each of its connections, buffers and TLS, may stay in a cycle when it closes.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

#: To count what has been put aside takes 10 ms with 300 games.
COUNT_SECONDS: Final = 60.0


def collect_in_portions(clock: Callable[[], float] = time.monotonic) -> None:
    """Let full collections of this process look through what is new, and through all when that has doubled."""
    gc.freeze()
    whole = gc.get_freeze_count()
    count_at = clock() + COUNT_SECONDS
    looks_through_all = False

    def collected(phase: str, info: Mapping[str, Any]) -> None:
        nonlocal whole, count_at, looks_through_all
        if phase != "stop" or info["generation"] < 2:
            return
        gc.freeze()
        if looks_through_all:
            looks_through_all, whole = False, gc.get_freeze_count()
        elif clock() >= count_at:
            count_at = clock() + COUNT_SECONDS
            looks_through_all = gc.get_freeze_count() > 2 * whole
            if looks_through_all:
                gc.unfreeze()

    gc.callbacks.append(collected)
