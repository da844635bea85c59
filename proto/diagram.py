"""The referee's state diagram, out of the table of :mod:`salvo_game.transitions`; for those who print it."""

from __future__ import annotations

from typing import NamedTuple

from salvo import messages as m
from salvo_game.transitions import TABLE


class Edge(NamedTuple):
    """One edge of the state diagram."""

    source: m.State
    event: str
    target: m.State
    sentence: str


def edges() -> list[Edge]:
    """Return every edge once; a pause is part of the state ``turn`` (SALVO-PACE-3)."""
    drawn = [
        Edge(source.state, target.event, target.state.state, target.sentence)
        for source, transitions in TABLE.items()
        for transition in transitions.values()
        for target in transition.targets
        if target.event
    ]
    return list(dict.fromkeys(drawn))
