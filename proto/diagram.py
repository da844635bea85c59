"""The referee's state diagram, out of the table of :mod:`salvo_server.core.transitions`; for those who print it."""

from __future__ import annotations

from typing import NamedTuple

from salvo import messages as m
from salvo_server.core.transitions import TABLE


class Transition(NamedTuple):
    """One arrow of the state diagram."""

    source: m.State
    event: str
    target: m.State
    sentence: str


def transitions() -> list[Transition]:
    """Return every arrow once; a pause is part of the state ``turn`` (SALVO-PACE-3)."""
    drawn = [
        Transition(source.state, arrow.event, arrow.target.state, arrow.sentence)
        for source, rows in TABLE.items()
        for row in rows.values()
        for arrow in row.arrows
        if arrow.event
    ]
    return list(dict.fromkeys(drawn))
