"""Seats and fleets in each game of a simulation, as decided by the game's number."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from salvo.bots.player import Bot
from salvo.rules import Fleet, RuleBook, Starter, generator
from salvo.rules.starter import draw_starter


class Seats(StrEnum):
    """How seats change from game to game."""

    FIXED = "fixed"  # in the given order
    ROTATED = "rotated"  # everybody moves on one seat
    #: As many consecutive games as there are players share the fleets and the first seat; everybody gets each seat and
    #: each fleet once. The luck of the draw then affects all equally, and fewer games tell the bots apart.
    PAIRED = "paired"


class Seating(NamedTuple):
    """Arguments of :func:`salvo_lab.arena.play` for one game.

    Attributes:
        order: names in play order.
        fleets: by name; empty if bots place their own.
        starter: None if the rules and the game's number decide.
    """

    order: tuple[str, ...]
    fleets: dict[str, Fleet]
    starter: int | None


def places_alike(kinds: Sequence[type[Bot]]) -> bool:
    """Whether all bots leave their fleets to chance, so that fleets can be exchanged.

    A deliberate placement is part of a bot's strength, so the bot keeps it.
    """
    return all(getattr(kind, "draws_fleet", getattr(kind, "place_fleet", None) is Bot.place_fleet) for kind in kinds)


def seating(
    seats: Seats, names: Sequence[str], seed: int | str, game: int, book: RuleBook, *, exchanged: bool
) -> Seating:
    """Return seats, fleets and starter.

    Args:
        game: its number, from 1.
        exchanged: whether paired seats also draw and exchange fleets, see :func:`places_alike`.
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
