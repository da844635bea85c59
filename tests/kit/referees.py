"""A referee at a small table of any book, with seats and shots by hand.

referee = Referee("7", "", small(SALVO), Limits(players=2))
sit(referee, "a", "b")
assert "SalvoResolved" in kinds(fire(referee, "b", (1, 1), (2, 1)))
"""

from __future__ import annotations

from dataclasses import replace

from salvo import messages as m
from salvo.rules import (
    Grid,
    Orientation,
    Placement,
    RuleBook,
    ShipClass,
)
from salvo_server.core.referee import Referee

NOW = 1_000_000


FLEET = (ShipClass("long", 2), ShipClass("dot", 1))


def small(book: RuleBook) -> RuleBook:
    """Two ships on 4 x 4; every fleet of these tests has its long ship at A1 and A2, its dot at A4."""
    return replace(book, name="small", grid=Grid(4, 4), fleet=FLEET, goal=None)


def sit(referee: Referee, *names: str) -> None:
    for name in names:
        referee.receive(m.Participate(name, name.encode()), NOW)
        for ship, x in (("long", 1), ("dot", 4)):
            place = Placement(ship, x, 1, Orientation.HORIZONTAL)
            referee.receive(m.PlaceShip(name, ship, place), NOW)


def fire(referee: Referee, target: str, *cells: tuple[int, int], now: int = NOW) -> list[m.Announcement]:
    """Fire shots of whoever's turn it is."""
    said: list[m.Announcement] = []
    for x, y in cells:
        assert referee.current is not None
        said += referee.receive(m.Fire(referee.current.name, target, x, y), now)
    return said


def kinds(said: list[m.Announcement]) -> list[str]:
    return [type(each).__name__ for each in said]
