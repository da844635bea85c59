"""The laboratory, for authors of bots: games without a broker.

Here live the arena, which plays one game in this process; simulations on all cores and on several hosts; comparisons,
tournaments, explanations of games, the bots that ship, a person's desk, and what bots are tested with (``testing``).
Nothing here knows a contest's storage, brokers or web pages; a game is recorded by the contest's own referee.
Start reading in ``arena``, then ``simulation``; ``bots/hunter.py`` is a bot to learn from.

    from salvo_lab import compare, heat_map, simulate
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from salvo_lab.bots.chances import heat_map as heat_map
    from salvo_lab.comparison import compare as compare
    from salvo_lab.simulation import simulate as simulate

_HOMES = {
    "compare": "salvo_lab.comparison",
    "heat_map": "salvo_lab.bots.chances",
    "simulate": "salvo_lab.simulation",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'salvo_lab' has no attribute {name!r}", name=name)
