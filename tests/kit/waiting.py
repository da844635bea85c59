"""Waiting for what other threads and processes do.

until(lambda: "listed" in program.said, shown=lambda: program.said)
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: For what is sure to come, also on a busy machine.
SECONDS = 60.0
_PAUSE_SECONDS = 0.01


def until(holds: Callable[[], object], shown: Callable[[], object] = str) -> None:
    """Return as soon as something holds; after a minute fail with what ``shown`` returns."""
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, shown()
        time.sleep(_PAUSE_SECONDS)
