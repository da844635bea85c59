"""Ships on a board: placements, what makes them legal, and fleets drawn at random.

Rulesets draw their fleets with this module, which needs ``RuleBook`` only in annotations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from math import floor
from random import Random
from typing import TYPE_CHECKING

from salvo.errors import IllegalCommand
from salvo.notebook import Pictured

if TYPE_CHECKING:
    from salvo.rules.book import Grid, RuleBook


class Spacing(StrEnum):
    """How close two ships of a fleet may lie."""

    TOUCH = "touch"  # anything but an overlap
    NO_COMMON_EDGE = "no_common_edge"  # corners may meet
    APART = "apart"  # not even corners


class Orientation(StrEnum):
    """The direction in which a ship grows from its anchor (SALVO-PLACE-3)."""

    HORIZONTAL = "HORIZONTAL"  # x grows
    VERTICAL = "VERTICAL"  # y grows


@dataclass(frozen=True, slots=True)
class Placement:
    """One ship's place. The anchor is the ship's smallest x and y, counted from 1 (SALVO-PLACE-3)."""

    ship: str
    x: int
    y: int
    orientation: Orientation

    def cells(self, book: RuleBook) -> tuple[int, ...]:
        """Return the ship's cells from the anchor on.

        Raises:
            IllegalCommand: ``unknown_ship``, or ``off_grid`` when the ship leaves the grid.
        """
        number = book.ship_number.get(self.ship)
        if number is None:
            raise IllegalCommand("unknown_ship", f"no ship {self.ship!r}; this fleet has {', '.join(book.ship_number)}")
        return _cells(book.grid, self.x, self.y, self.orientation, book.fleet[number].length, self.ship)


def _cells(grid: Grid, x: int, y: int, orientation: Orientation, length: int, ship: str) -> tuple[int, ...]:
    first = grid.cell(x, y)
    horizontal = orientation is Orientation.HORIZONTAL
    last_x, last_y = (x + length - 1, y) if horizontal else (x, y + length - 1)
    if last_x > grid.width or last_y > grid.height:
        most_x = grid.width - length + 1 if horizontal else grid.width
        most_y = grid.height if horizontal else grid.height - length + 1
        raise IllegalCommand(
            "off_grid",
            f"{ship} at x={x}, y={y} {orientation} leaves the grid; its anchor may be x 1..{most_x}, y 1..{most_y}",
        )
    step = 1 if horizontal else grid.width
    return tuple(range(first, first + length * step, step))


def check_placement(book: RuleBook, placement: Placement, others: Iterable[Placement]) -> None:
    """Make sure that a ship fits on a board with the other ships.

    Raises:
        IllegalCommand: ``unknown_ship``, ``off_grid``, ``overlap`` or ``too_close``.
    """
    cells = placement.cells(book)
    mask = _mask(cells)
    for other in others:
        taken = other.cells(book)
        if mask & _mask(taken):
            shared = next(cell for cell in cells if cell in taken)
            raise IllegalCommand("overlap", f"{placement.ship} overlaps {other.ship} at {book.grid.name(shared)}")
        if mask & _with_margin(_mask(taken), book.grid, book.spacing):
            raise IllegalCommand(
                "too_close", f"{placement.ship} is too close to {other.ship}; spacing is {book.spacing}"
            )


def _mask(cells: Iterable[int]) -> int:
    return sum(1 << cell for cell in cells)


class Fleet(Pictured):
    """A complete and legal fleet of one player.

    Attributes:
        placements: one per ship, in the order of the ruleset.
        cells: the occupied cells, ship by ship in the order of the ruleset, each from its anchor on;
            ``book.ship_of_cell`` says whose they are.
    """

    __slots__ = ("book", "cells", "placements")

    def __init__(self, book: RuleBook, placements: Sequence[Placement]) -> None:
        """Take the placements in any order.

        Raises:
            IllegalCommand: ``unknown_ship``, ``off_grid``, ``overlap``, ``too_close``, or ``fleet_incomplete`` when
                a ship is missing or placed twice.
        """
        if sorted(p.ship for p in placements) != sorted(book.ship_number):
            raise IllegalCommand(
                "fleet_incomplete",
                f"a fleet is each of {', '.join(book.ship_number)} once, not {[p.ship for p in placements]}",
            )
        for number, placement in enumerate(placements):
            check_placement(book, placement, placements[:number])
        self._lay(book, placements)

    def _lay(self, book: RuleBook, placements: Iterable[Placement]) -> None:
        self.book = book
        self.placements = tuple(sorted(placements, key=lambda p: book.ship_number[p.ship]))
        self.cells = tuple(chain.from_iterable(placement.cells(book) for placement in self.placements))

    @property
    def board(self) -> bytes:
        """The whole board, a byte per cell: 0 for water, else the ship's number in the ruleset plus 1."""
        board = bytearray(self.book.grid.size)
        for cell, ship in zip(self.cells, self.book.ship_of_cell, strict=True):
            board[cell] = ship + 1
        return bytes(board)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fleet) and (self.book, self.placements) == (other.book, other.placements)

    def __hash__(self) -> int:
        return hash(self.placements)

    def __repr__(self) -> str:
        return f"Fleet({self.book.name}, {list(self.placements)})"


#: One legal place of a ship on an empty grid: its cells, and two bit masks, with bit 0 for cell 0 and so on: the ship's
#: cells, and all cells that no other ship may occupy then, including the ship's own.
Choice = tuple[Placement, tuple[int, ...], int, int]


def choices_of(book: RuleBook) -> tuple[tuple[Choice, ...], ...]:
    """Return every place of each ship, row by row, in the order of the book; ``book.choices`` has them, too."""
    return tuple([_choices(book, ship.name, ship.length) for ship in book.fleet])


def _choices(book: RuleBook, ship: str, length: int) -> tuple[Choice, ...]:
    grid, on_grid = book.grid, (1 << book.grid.size) - 1
    directions = [Orientation.HORIZONTAL] if length == 1 else list(Orientation)
    choices = []
    for orientation in directions:
        horizontal = orientation is Orientation.HORIZONTAL
        for y in range(1, grid.height + 1 if horizontal else grid.height - length + 2):
            for x in range(1, grid.width - length + 2 if horizontal else grid.width + 1):
                cells = _cells(grid, x, y, orientation, length, ship)
                mask = _mask(cells)
                forbidden = _with_margin(mask, grid, book.spacing) & on_grid
                choices.append((Placement(ship, x, y, orientation), cells, mask, forbidden))
    return tuple(choices)


#: Tries before a book is called too crowded. A standard fleet needs 1.9 on average; books that leave less than one
#: layout in ten thousand are better placed by hand than by luck.
MAX_TRIES = 100_000


def random_fleet(book: RuleBook, random: Random) -> Fleet:
    """Return a random fleet, each legal layout with the same chance of the ruleset.

    Each ship is drawn evenly on the empty grid and the whole layout is thrown away when two collide: drawing ship
    by ship around the others would favour some layouts.

    Raises:
        ValueError: no legal layout found in 100,000 tries.
    """
    between_0_and_1 = random.random
    for _ in range(MAX_TRIES):
        taken = 0
        layout = []
        for choices in book.choices:
            choice = choices[floor(between_0_and_1() * len(choices))]
            if taken & choice[2]:
                break
            taken |= choice[3]
            layout.append(choice)
        else:
            return _fleet_of(book, layout)
    raise ValueError(f"ruleset {book.name}: no legal fleet found in {MAX_TRIES} tries")


#: Fleets that :func:`check_room` draws. In streak, one layout in 5000 is legal; a book with none in 20,000 is too
#: crowded for :data:`MAX_TRIES`. A book without any costs a tenth of a second, three tenths if ships collide late.
_MAX_TRIALS = 20_000


def check_room(book: RuleBook, random: Random) -> None:
    """Make sure that a fleet can be drawn quickly, well below :data:`MAX_TRIES`.

    For untrusted rulesets: no fleet is built and nothing is kept.

    Raises:
        ValueError: none of 20,000 layouts drawn was legal.
    """
    longest_first = sorted((ship.length for ship in book.fleet), reverse=True)
    for _ in range(_MAX_TRIALS):
        taken = 0
        for length in longest_first:
            mask = _drawn_mask(book.grid, length, random.random())
            if taken & mask:
                break
            taken |= _with_margin(mask, book.grid, book.spacing)
        else:
            return
    raise ValueError(f"ruleset {book.name}: none of {_MAX_TRIALS} fleets drawn has room on the grid")


def _drawn_mask(grid: Grid, length: int, chance: float) -> int:
    """Return the cells of a ship drawn evenly on the empty grid, as a bit mask."""
    width, height = grid.width, grid.height
    lying = max(0, width - length + 1) * height
    standing = max(0, height - length + 1) * width if length > 1 else 0
    number = int(chance * (lying + standing))
    if number < lying:
        y, x = divmod(number, width - length + 1)
        return ((1 << length) - 1) << (y * width + x)
    return _column(width, length) << (number - lying)  # the cell of the anchor, row by row


@lru_cache(maxsize=1024)  # more than there are: a grid is at most 26 wide and high
def _column(width: int, length: int) -> int:
    return _mask(row * width for row in range(length))


def _with_margin(mask: int, grid: Grid, spacing: Spacing) -> int:
    """Add the cells next to a ship that no other one may occupy; cells below the grid do no harm."""
    if spacing is Spacing.TOUCH:
        return mask
    width = grid.width
    first_column = _column(width, grid.height + 1)  # cells moved beyond the last row are off the grid, too
    line = mask | (mask & ~first_column) >> 1 | (mask << 1) & ~first_column
    beside = line if spacing is Spacing.APART else mask
    return line | beside >> width | beside << width


def _fleet_of(book: RuleBook, layout: Sequence[Choice]) -> Fleet:
    """Build a fleet from places known to be legal, in the order of the book (no second check: it is hot)."""
    fleet = object.__new__(Fleet)
    fleet.book = book
    fleet.placements = tuple([choice[0] for choice in layout])
    fleet.cells = tuple(chain.from_iterable([choice[1] for choice in layout]))
    return fleet
