"""Settings that an operator changes between two servers: those that a game keeps (SALVO-BACK-6)."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any, Final

from salvo.messages import Draw, Limits
from salvo.rules import Announce, Order, Repeats, RuleBook
from simulation.actors import Setup

#: How likely each of them is drawn again.
_LIKELY: Final = 0.3


def other(setup: Setup, random: Random, teams: int) -> Setup:
    """Return settings of which some are others; a turn that is ample before is ample still."""
    drawn = {
        "book": _book(setup.book, random),
        "seed": random.choice((setup.seed, f"{setup.seed}, another")),
        "draw": random.choice(tuple(Draw)),
    }
    return setup._replace(limits=_limits(setup.limits, random, teams), **_some(drawn, random))


def _book(book: RuleBook, random: Random) -> RuleBook:
    """Return the book with more told of each shot, or less; whoever may not repeat a shot has to see all of them."""
    if book.order is not Order.ROTATION or book.repeats is not Repeats.HIT:
        return book
    return replace(book, announce=random.choice(tuple(Announce)))


def _limits(limits: Limits, random: Random, teams: int) -> Limits:
    turn_ms = limits.turn_ms + random.choice((0, 1_000, 7_000))
    drawn = {
        "players": random.choice((None, teams)),
        "placement_ms": random.choice((15_000, 20_000, 30_000)),
        "turn_ms": turn_ms,
        "over_ms": random.choice((60_000, 61_000, 90_000)),
        "empty_turns": random.choice((2, 3, 5)),
        "most_players": random.choice((teams, 64)),
        "bank_ms": random.choice((None, turn_ms)),
        "pace_ms": random.choice((None, 40, 800)),
    }
    return replace(limits, **_some(drawn, random))


def _some(drawn: dict[str, Any], random: Random) -> dict[str, Any]:
    return {name: value for name, value in drawn.items() if random.random() < _LIKELY}
