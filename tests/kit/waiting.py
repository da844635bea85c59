"""Waiting for what other threads and processes do.

until(lambda: "listed" in program.said, shown=lambda: program.said)
children = until(lambda: children_of(process.pid))
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

#: For what is sure to come, also on a busy machine.
SECONDS = 60.0
_PAUSE_SECONDS = 0.01
_Found = TypeVar("_Found")


def until(
    holds: Callable[[], _Found],
    shown: Callable[[], object] = str,
    seconds: float = SECONDS,
    pause: float = _PAUSE_SECONDS,
) -> _Found:
    """Return what a call gives, once that is true; after some time fail with what ``shown`` returns.

    Args:
        pause: between two calls; a longer one where a call costs much.
    """
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, shown()
        time.sleep(pause)
    return found
