"""A referee at a small table of any book, with seats and shots by hand.

referee = playing(SALVO, "a", "b")
assert "SalvoResolved" in kinds(fire(referee, rival(referee), (1, 1), (2, 1)))
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from salvo import messages as m
from salvo.messages import Limits, State
from salvo.rules import (
    SALVO,
    Grid,
    Orientation,
    Placement,
    RuleBook,
    ShipClass,
    generator,
    random_fleet,
)
from salvo_game.referee import Referee

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


def playing(book: RuleBook, *names: str, number: int = 1, **limits: Any) -> Referee:
    """Return a game in its first turn, on the small board."""
    referee = Referee(7, book=small(book), limits=Limits(players=len(names), **limits), number=number)
    sit(referee, *names)
    return referee


def drawn(limits: Limits, book: RuleBook = SALVO) -> Referee:
    """Return a game in its first turn, on the book's own board; each fleet follows from its team's name."""
    referee = Referee(7, book=book, limits=replace(limits, players=2))
    for name in ("ann", "bob"):
        referee.receive(m.Participate(name, name.encode()), NOW)
        for placement in random_fleet(book, generator(name)).placements:
            referee.receive(m.PlaceShip(name, placement.ship, placement), NOW)
    assert referee.state is State.TURN
    return referee


def current(referee: Referee) -> str:
    """Return whose turn it is."""
    assert referee.current is not None
    return referee.current.name


def rival(referee: Referee) -> str:
    """Return the first who is not the current player."""
    return next(name for name in referee.players if name != current(referee))


def fire(referee: Referee, target: str, *cells: tuple[int, int], now: int = NOW) -> list[m.Announcement]:
    """Fire shots of whoever's turn it is."""
    announced: list[m.Announcement] = []
    for x, y in cells:
        assert referee.current is not None
        announced += referee.receive(m.Fire(referee.current.name, target, x, y), now)
    return announced


def kinds(announced: list[m.Announcement]) -> list[str]:
    return [type(each).__name__ for each in announced]
