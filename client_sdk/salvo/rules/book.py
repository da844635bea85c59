"""What distinguishes the games of the family, as data.

The engine (:mod:`salvo.rules.game`) reads a :class:`RuleBook` and knows no game by name. The books that ship, each with
its rules in prose, are in :mod:`salvo.rules.books`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from random import Random
from typing import NamedTuple

from salvo.errors import IllegalCommand
from salvo.rules.fleet import Choice, Fleet, Spacing, choices_of, random_fleet

#: Seat and cell that are fired at; seat and number of a ship that sinks.
Shot = tuple[int, int]
Sinking = tuple[int, int]
#: Rows are named by one letter, so a grid is at most 26 high; the same bound for the width keeps it printable.
MAX_SIDE = 26
#: The referee's view has one letter for each ship of a fleet (SALVO-VIEW-5).
MAX_SHIPS = 26
#: A ship's name is a topic level, without the characters that are ignored (SALVO-NAME-5).
SHIP_NAME = re.compile(r"[a-z0-9]{1,32}")


class UnplayableBook(ValueError):
    """A ruleset that cannot be played.

    Attributes:
        field: the one that is wrong.
    """

    def __init__(self, book: str, field: str, text: str) -> None:
        super().__init__(f"ruleset {book}: {text}")
        self.field = field
        self.text = text


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


@dataclass(frozen=True, slots=True)
class ShipClass:
    """A kind of ship.

    Attributes:
        name: the name on the wire, lower-case letters and digits.
        length: cells, 1 or more.
    """

    name: str
    length: int


@dataclass(frozen=True)
class Grid:
    """A board's shape and its three ways to name a cell.

    A *cell* is an int, 0..size-1, row by row. On the wire it is x = column and y = row, both from 1
    (SALVO-GAME-2). People read the row's letter and the column's number: ``B3`` is row 2, column 3 (SALVO-GAME-4).
    """

    width: int = 10
    height: int = 10

    def __post_init__(self) -> None:
        if not (1 <= self.width <= MAX_SIDE and 1 <= self.height <= MAX_SIDE):
            raise ValueError(f"a grid is 1..{MAX_SIDE} cells wide and high, not {self.width} x {self.height}")

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.width * self.height

    def cell(self, x: int, y: int) -> int:
        """Return the cell at column ``x`` and row ``y``, both counted from 1.

        Raises:
            IllegalCommand: ``off_grid``.
        """
        if 1 <= x <= self.width and 1 <= y <= self.height:
            return (y - 1) * self.width + x - 1
        raise IllegalCommand(
            "off_grid",
            f"x={x}, y={y} is off the grid; x is 1..{self.width} and y is 1..{self.height}, counted from 1",
        )

    def xy(self, cell: int) -> tuple[int, int]:
        """Return (x, y), both from 1."""
        y, x = divmod(cell, self.width)
        return x + 1, y + 1

    def name(self, cell: int) -> str:
        """Return a cell's name for people, such as ``B3``."""
        return self.name_at(*self.xy(cell))

    @staticmethod
    def name_at(x: int, y: int) -> str:
        """Return the name of the cell in a column and row, both from 1; there are at most 26 rows."""
        return f"{string.ascii_uppercase[y - 1]}{x}"

    def at(self, name: str) -> tuple[int, int]:
        """Return the column and row, both from 1, of a cell by its name: (3, 2) for ``B3``.

        Raises:
            IllegalCommand: ``off_grid``.
        """
        letter, column = name[:1].upper(), name[1:]
        if letter in string.ascii_uppercase[: self.height] and column in map(str, range(1, self.width + 1)):
            return int(column), string.ascii_uppercase.index(letter) + 1
        last = self.name(self.size - 1)
        raise IllegalCommand("off_grid", f"no cell {name[:40]!r}; cells are A1 to {last}, the row's letter first")


@dataclass(frozen=True)
class RuleBook:
    """Everything that the engine needs to know about a game.

    Attributes:
        name: the one in ``--rules`` and ``/game/rules``.
        fleet: the ships every player places; names are unique.
        goal: hits that end a game with ``Ending.GOAL``, by default as many as a fleet has cells; else None.
        reveal: whether all fleets are shown to everybody when the game is over.
        skipping: whether a player may end its turn with shots left.
    """

    name: str
    grid: Grid
    fleet: tuple[ShipClass, ...]
    spacing: Spacing
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
        self._check_fleet()
        self._check_goal()
        if self.order is Order.STREAK and self.shots is not Shots.ONE:
            raise self._unplayable("shots", f"with order {self.order}, every shot is a turn: shots is {Shots.ONE}")
        if self.order is Order.ROUNDS and self.shots is Shots.UNTIL_MISS:
            raise self._unplayable("shots", f"with order {self.order}, shots is {Shots.AFLOAT} or {Shots.ONE}")
        if self.repeats is Repeats.REFUSED and (self.announce is not Announce.CELLS or self.order is Order.ROUNDS):
            text = f"repeats {self.repeats} would tell where others have shot; it needs announce {Announce.CELLS}"
            raise self._unplayable("repeats", f"{text}, and no {Order.ROUNDS}")

    def _check_fleet(self) -> None:
        if not 1 <= len(self.fleet) <= MAX_SHIPS or len(self.ship_number) != len(self.fleet):
            raise self._unplayable("fleet", f"a fleet has 1..{MAX_SHIPS} ships and no name twice")
        longest = max(self.grid.width, self.grid.height)
        for ship in self.fleet:
            if SHIP_NAME.fullmatch(ship.name) is None:
                raise self._unplayable("fleet", f"{ship.name[:40]!r} is not a ship's name: 1..32 of a-z 0-9")
            if not 1 <= ship.length <= longest:
                raise self._unplayable("fleet", f"{ship.name} is {ship.length} cells long, 1..{longest} fit")
        if len(self.ship_of_cell) > self.grid.size:
            text = f"a fleet of {len(self.ship_of_cell)} cells; the grid has {self.grid.size}"
            raise self._unplayable("fleet", text)

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

    def _unplayable(self, field: str, text: str) -> UnplayableBook:
        return UnplayableBook(self.name, field, text)

    @cached_property
    def ship_number(self) -> dict[str, int]:
        """Index in ``fleet`` by ship name."""
        return {ship.name: number for number, ship in enumerate(self.fleet)}

    @cached_property
    def ship_of_cell(self) -> tuple[int, ...]:
        """Index in ``fleet`` of each cell that a player's ships occupy, ship by ship."""
        return tuple(number for number, ship in enumerate(self.fleet) for _ in range(ship.length))

    @cached_property
    def choices(self) -> tuple[tuple[Choice, ...], ...]:
        """Every place of each ship on an empty grid, in the order of ``fleet``; 180 for a ship of two on 10 x 10."""
        return choices_of(self)

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
