"""Who sits where in which game of a simulation, and with which fleet: all of it decided by the game's number."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from salvo.player import Bot
from salvo.rules import Fleet, RuleBook, Starter, generator
from salvo.rules.game import draw_starter


class Seats(StrEnum):
    """How seats go from game to game."""

    FIXED = "fixed"  # as they are given
    ROTATED = "rotated"  # everybody one seat on
    #: So many games in a row as there are players have the same fleets and the same first seat; everybody has each seat
    #: and each fleet once. Luck of the draw then falls on all alike, and what is left is told apart in fewer games.
    PAIRED = "paired"


class Seating(NamedTuple):
    """What :func:`salvo.lab.arena.play` is told of one game.

    Attributes:
        order: names in play order.
        fleets: by name; empty where bots place their own.
        starter: None where the rules and the game's number decide.
    """

    order: tuple[str, ...]
    fleets: dict[str, Fleet]
    starter: int | None


def places_alike(kinds: Sequence[type[Bot]]) -> bool:
    """Whether all bots leave it to chance where their fleets lie, so that fleets can change hands.

    A fleet that a bot lays with a purpose is part of its strength: it keeps it.
    """
    return all(getattr(kind, "place_fleet", None) is Bot.place_fleet for kind in kinds)


def seating(
    seats: Seats, names: Sequence[str], seed: int | str, game: int, book: RuleBook, *, exchanged: bool
) -> Seating:
    """Return who sits where.

    Args:
        game: its number, from 1.
        exchanged: whether fleets are drawn here and change hands where seats are paired, see :func:`places_alike`.
    """
    names = tuple(names)
    if seats is Seats.FIXED:
        return Seating(names, {}, None)
    count = len(names)
    block, step = divmod(game - 1, count)
    order = names[step:] + names[:step]
    if seats is Seats.ROTATED:
        return Seating(order, {}, None)
    fleets = dict(zip(order, _drawn(book, seed, block, count), strict=True)) if exchanged else {}
    starter = draw_starter(book, seed, "paired", block, count) if book.starter is Starter.RANDOM else None
    return Seating(order, fleets, starter)


@lru_cache(maxsize=4)
def _drawn(book: RuleBook, seed: int | str, block: int, count: int) -> tuple[Fleet, ...]:
    random = generator(seed, "paired", block)
    return tuple(book.random_fleet(random) for _ in range(count))
