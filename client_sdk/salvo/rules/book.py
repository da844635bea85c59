"""What distinguishes the games of the family, as data.

The engine (:mod:`salvo.rules.game`) reads a :class:`RuleBook` and knows no game by name. The books that ship, each with
its rules in prose, are in :mod:`salvo.rules.books`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import NamedTuple

from salvo.rules.board import BoardRules
from salvo.rules.fleet import Fleet, random_fleet

#: Seat and cell that are fired at; seat and number of a ship that sinks.
Shot = tuple[int, int]
Sinking = tuple[int, int]


class Shots(StrEnum):
    """How many shots a turn has."""

    AFLOAT = "afloat"  # as many as ships afloat when the turn began
    ONE = "one"
    #: A hit shoots again, but results only come after the turn, so players cannot know whether to shoot. For games that
    #: were recorded like that; to let a hit shoot again, use ``Order.STREAK``, where each shot is a turn.
    UNTIL_MISS = "until_miss"


class Order(StrEnum):
    """Whose turn follows."""

    ROTATION = "rotation"  # round the table, defeated players left out
    STREAK = "streak"  # the same player's after a hit, else round the table
    ROUNDS = "rounds"  # round the table, and all salvos of a round are resolved at its end, at once


class Announce(StrEnum):
    """What everybody learns of the shots of a turn."""

    COUNT = "count"  # the number of hits only
    EACH_SHOT = "each_shot"  # hit or miss of every shot, in order, but not where it fell
    CELLS = "cells"  # target, cell, and hit or miss of every shot


class Sinkings(StrEnum):
    """Whether everybody learns which ships sank."""

    TOLD = "told"
    UNTOLD = "untold"


class Targets(StrEnum):
    """Whose boards may be shot at."""

    EVERYBODY = "everybody"  # the own one, too
    OTHERS = "others"


class Repeats(StrEnum):
    """What happens to a shot at a cell that any player has shot at before."""

    HIT = "hit"  # a hit again where it was one, and no more damage
    MISS = "miss"
    REFUSED = "refused"  # no shot at all


class Ending(StrEnum):
    """When a game is over."""

    LAST_AFLOAT = "last_afloat"  # at most one player has a ship afloat
    GOAL = "goal"  # a player has as many hits as the goal, after equally many turns for all; no one is ever out


class Starter(StrEnum):
    """Who has the first turn."""

    RANDOM = "random"
    FIRST = "first"  # the first in play order
    ALTERNATING = "alternating"  # from game to game another one


@dataclass(frozen=True)
class RuleBook(BoardRules):
    """Everything that the engine needs to know about a game; ``name`` is the one in ``--rules`` and ``/game/rules``.

    Attributes:
        goal: hits that end a game with ``Ending.GOAL``, by default as many as a fleet has cells; else None.
        reveal: whether all fleets are shown to everybody when the game is over.
        skipping: whether a player may end its turn with shots left.
    """

    shots: Shots
    order: Order
    announce: Announce
    ending: Ending
    starter: Starter
    sinkings: Sinkings = Sinkings.TOLD
    targets: Targets = Targets.EVERYBODY
    repeats: Repeats = Repeats.HIT
    goal: int | None = None
    reveal: bool = False
    skipping: bool = False

    def __post_init__(self) -> None:
        """Refuse a ruleset that cannot be played.

        Raises:
            UnplayableBook: names the field.
        """
        super().__post_init__()
        self._check_goal()
        if self.order is Order.STREAK and self.shots is not Shots.ONE:
            raise self._unplayable("shots", f"with order {self.order}, every shot is a turn: shots is {Shots.ONE}")
        if self.order is Order.ROUNDS and self.shots is Shots.UNTIL_MISS:
            raise self._unplayable("shots", f"with order {self.order}, shots is {Shots.AFLOAT} or {Shots.ONE}")
        if self.repeats is Repeats.REFUSED and (self.announce is not Announce.CELLS or self.order is Order.ROUNDS):
            text = f"repeats {self.repeats} would reveal where others have shot; it needs announce {Announce.CELLS}"
            raise self._unplayable("repeats", f"{text}, and no {Order.ROUNDS}")

    def _check_goal(self) -> None:
        if self.ending is not Ending.GOAL:
            if self.goal is not None:
                raise self._unplayable("goal", f"a goal belongs to ending {Ending.GOAL}; the ending is {self.ending}")
            return
        most = len(self.ship_of_cell)
        if self.goal is None:
            object.__setattr__(self, "goal", most)
        elif not 1 <= self.goal <= most:
            # With a higher one, players who share the cells of a board might never get there.
            raise self._unplayable("goal", f"the goal is {self.goal}; a fleet has 1..{most} cells")
        if self.order is not Order.ROTATION or self.shots is not Shots.ONE:
            text = f"with ending {self.ending}, order is {Order.ROTATION} and shots is {Shots.ONE}"
            raise self._unplayable("ending", f"{text}: equal turns for all")
        if self.repeats is Repeats.HIT:
            raise self._unplayable("repeats", f"with ending {self.ending}, a cell must not count twice")

    def random_fleet(self, random: Random) -> Fleet:
        """Return a random fleet, each legal layout with the same chance (:func:`salvo.rules.random_fleet`)."""
        return random_fleet(self, random)

    @property
    def longest_salvo(self) -> int:
        """The most shots that the first turn of a player can have."""
        return len(self.fleet) if self.shots is Shots.AFLOAT else 1


class Salvo(NamedTuple):
    """The outcome of one turn.

    Attributes:
        turn: counted from 1.
        seat: the one that fired.
        shots: how many were fired.
        hits: how many of them were hits (SALVO-FIRE-9).
        outcomes: whether each shot was a hit, in order.
        sunk: (seat, ship number) in the order of sinking.
        defeated: seats in the order of their defeat.
        aims: the shots themselves, in order.
    """

    turn: int
    seat: int
    shots: int
    hits: int
    outcomes: Sequence[bool]
    sunk: tuple[Sinking, ...]
    defeated: tuple[int, ...]
    aims: Sequence[Shot]

    def announced_outcomes(self, book: RuleBook) -> tuple[bool, ...] | None:
        """Hit or miss of each shot if the ruleset announces that, else None."""
        return None if book.announce is Announce.COUNT else tuple(self.outcomes)

    def announced_aims(self, book: RuleBook) -> Sequence[Shot] | None:
        """The shots themselves if the ruleset announces them, else None."""
        return self.aims if book.announce is Announce.CELLS else None

    def announced_sinkings(self, book: RuleBook) -> tuple[Sinking, ...]:
        """The ships sunk, as far as the ruleset announces that."""
        return self.sunk if book.sinkings is Sinkings.TOLD else ()
