"""Whether a debugger is attached to a program: if so, this process enforces no time limits."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

_stops = 0


def is_debugged() -> bool:
    """Whether a debugger traces this process: pdb while it steps, or debugpy, as editors start it."""
    monitoring: Any = getattr(sys, "monitoring", None)
    if monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID):
        return True
    return sys.gettrace() is not None or "debugpy" in sys.modules or "pydevd" in sys.modules


def breakpoints_met() -> int:
    """Return how often ``breakpoint()`` has stopped this process inside :func:`watching_breakpoints`."""
    return _stops


@contextlib.contextmanager
def watching_breakpoints() -> Iterator[None]:
    """Count stops at ``breakpoint()``, because pdb leaves no trace by the time the bot answers."""
    former = sys.breakpointhook

    def stop(*args: Any, **kwargs: Any) -> Any:
        global _stops
        _stops += 1
        return former(*args, **kwargs)

    sys.breakpointhook = stop
    try:
        yield
    finally:
        sys.breakpointhook = former
