"""Whether a debugger is attached to a program: if so, this process enforces no time limits."""

from __future__ import annotations

import sys
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


class watching_breakpoints:
    """Count stops at ``breakpoint()`` in a block, because pdb leaves no trace by the time the bot answers.

    No generator: :mod:`contextlib` would set attributes of a bot's error, which may refuse that.
    """

    def __enter__(self) -> None:
        former = self._former = sys.breakpointhook

        def stop(*args: Any, **kwargs: Any) -> Any:
            global _stops
            _stops += 1
            return former(*args, **kwargs)

        sys.breakpointhook = stop

    def __exit__(self, *_: object) -> None:
        sys.breakpointhook = self._former
