"""Rule books: everything that tells one game of the family from another, as data.

The engine (:mod:`salvo.rules.game`) reads a :class:`RuleBook` and knows no game by name. ``SALVO`` is the book
of Battleship: Salvo:

    Two or more players place five ships, 5, 4, 3, 3 and 2 cells long, on a grid of 10 x 10. Ships may touch but
    never overlap. The starter is drawn at random; then play goes round in the order in which the fleets were
    completed. A turn is one salvo: as many shots as the player had ships afloat when the turn began, each aimed at
    a player of its own choice. Only the number of hits of the whole salvo is announced, and which ships sank. Every
    shot at an occupied cell is a hit, also the second one there. Whoever has no ship afloat is defeated; the last
    one left wins.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING

from salvo.errors import IllegalCommand

if TYPE_CHECKING:
    from salvo.rules.fleet import Fleet

#: Rows are named by one letter, so a grid is at most 26 high; the same bound for the width keeps it printable.
LARGEST_SIDE = 26
#: The referee's view has one letter for each ship of a fleet (SALVO-VIEW-5).
MOST_SHIPS = 26


class Spacing(StrEnum):
    """How close two ships of a fleet may lie."""

    TOUCH = "touch"  # anything but an overlap
    NO_COMMON_EDGE = "no_common_edge"  # corners may meet
    APART = "apart"  # not even corners


class Shots(StrEnum):
    """How many shots a turn has."""

    AFLOAT = "afloat"  # as many as ships afloat when the turn began
    ONE = "one"
    UNTIL_MISS = "until_miss"  # a hit shoots again


class Order(StrEnum):
    """Whose turn follows."""

    ROTATION = "rotation"  # round the table, defeated players left out


class Announce(StrEnum):
    """What everybody learns of a turn, beside the ships that sank."""

    COUNT = "count"  # the number of hits only
    EACH_SHOT = "each_shot"  # hit or miss of every shot, in order


class Ending(StrEnum):
    """When a game is over."""

    LAST_AFLOAT = "last_afloat"


class Starter(StrEnum):
    """Who has the first turn."""

    RANDOM = "random"
    FIRST = "first"  # the first in play order


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
        if not (1 <= self.width <= LARGEST_SIDE and 1 <= self.height <= LARGEST_SIDE):
            raise ValueError(f"a grid is 1..{LARGEST_SIDE} cells wide and high, not {self.width} x {self.height}")

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
        """Return what people say, such as ``B3``."""
        x, y = self.xy(cell)
        return f"{string.ascii_uppercase[y - 1]}{x}"


@dataclass(frozen=True)
class RuleBook:
    """All that the engine needs to know of a game.

    Attributes:
        name: what ``--rules`` and ``/game/rules`` call it.
        fleet: the ships every player places; names are unique.
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

    def __post_init__(self) -> None:
        if not self.fleet or len({ship.name for ship in self.fleet}) != len(self.fleet):
            raise ValueError(f"rule book {self.name}: a fleet has at least one ship and no name twice")
        cells = sum(ship.length for ship in self.fleet)
        if len(self.fleet) > MOST_SHIPS or cells > self.grid.size:
            raise ValueError(
                f"rule book {self.name}: {len(self.fleet)} ships with {cells} cells; a fleet has at most {MOST_SHIPS} "
                f"and, on this grid, {self.grid.size}"
            )
        longest = max(self.grid.width, self.grid.height)
        for ship in self.fleet:
            if not 1 <= ship.length <= longest:
                raise ValueError(f"rule book {self.name}: {ship.name} is {ship.length} cells long, 1..{longest} fit")

    @cached_property
    def ship_number(self) -> dict[str, int]:
        """Index in ``fleet`` by ship name."""
        return {ship.name: number for number, ship in enumerate(self.fleet)}

    @cached_property
    def ship_of_cell(self) -> tuple[int, ...]:
        """Index in ``fleet`` of each cell that a player's ships occupy, ship by ship."""
        return tuple(number for number, ship in enumerate(self.fleet) for _ in range(ship.length))

    def random_fleet(self, random: Random) -> Fleet:
        """Return a fleet drawn evenly from all legal layouts (:func:`salvo.rules.random_fleet`)."""
        from salvo.rules.fleet import random_fleet

        return random_fleet(self, random)

    @property
    def longest_salvo(self) -> int:
        """The most shots that the first turn of a player can have."""
        return len(self.fleet) if self.shots is Shots.AFLOAT else 1


SALVO = RuleBook(
    name="salvo",
    grid=Grid(10, 10),
    fleet=(
        ShipClass("carrier", 5),
        ShipClass("battleship", 4),
        ShipClass("destroyer", 3),
        ShipClass("submarine", 3),
        ShipClass("patrolboat", 2),
    ),
    spacing=Spacing.TOUCH,
    shots=Shots.AFLOAT,
    order=Order.ROTATION,
    announce=Announce.COUNT,
    ending=Ending.LAST_AFLOAT,
    starter=Starter.RANDOM,
)
