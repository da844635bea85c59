"""A service as tests open it: one table, one seed, and what a test says otherwise.

service = serve(wire, clock=lambda: now)
service.step()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from salvo import messages as m
from salvo_game.recovery import Openings
from salvo_server.service import ServerLink, Service
from salvo_server.wiring import open_service

_OF_OPENINGS = ("book", "fresh_secret", "identity")


def serve(
    link: ServerLink,
    tables: Sequence[str] = ("",),
    *,
    seed: int | str = 1,
    limits: m.Limits | None = None,
    draw: str = "seed",
    **given: Any,
) -> Service:
    """Open a service with these tables; further arguments are those of Openings and open_service."""
    taken: Mapping[str, Any] = {name: given.pop(name) for name in _OF_OPENINGS if name in given}
    openings = Openings(dict.fromkeys(tables, limits or m.Limits()), seed, draw=m.Draw(draw), **taken)
    return open_service(link, openings, **given)
