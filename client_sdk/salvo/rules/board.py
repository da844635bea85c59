"""A board and the ships that may lie on it: grid, fleet and spacing of a ruleset, and every place of each ship."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from operator import index
from typing import Final, SupportsIndex

from salvo.errors import IllegalCommand, shown

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


@dataclass(frozen=True, slots=True)
class ShipClass:
    """A kind of ship.

    Attributes:
        name: the name on the wire, lower-case letters and digits.
        length: cells, 1 or more.
    """

    name: str
    length: int


#: Each possible coordinate, by whatever is equal to it.
_WHOLE: Final[Mapping[object, int]] = {number: number for number in range(1, MAX_SIDE + 1)}


def whole(number: object) -> int:
    """Return the whole number that a value is, of whatever type: NumPy's, a tensor of one element, ``3.0``, ``True``.

    Raises:
        KeyError, TypeError: it is none, or no coordinate of any grid.
    """
    try:
        return index(number)  # type: ignore[arg-type]
    except TypeError:
        return _WHOLE[number]


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

    def cell(self, x: SupportsIndex | float, y: SupportsIndex | float) -> int:
        """Return the cell at column ``x`` and row ``y``, both counted from 1; any whole numbers (:func:`whole`).

        Raises:
            IllegalCommand: ``off_grid``.
        """
        try:
            column, row = (x, y) if type(x) is type(y) is int else (whole(x), whole(y))
        except (KeyError, TypeError):
            column = row = 0
        if 1 <= column <= self.width and 1 <= row <= self.height:
            return (row - 1) * self.width + column - 1
        given = f"x={shown(x, 40, str)}, y={shown(y, 40, str)}"
        raise IllegalCommand(
            "off_grid", f"{given} is off the grid; x is 1..{self.width} and y is 1..{self.height}, counted from 1"
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

    def cells(self, rules: BoardRules) -> tuple[int, ...]:
        """Return the ship's cells from the anchor on.

        Raises:
            IllegalCommand: ``unknown_ship``, or ``off_grid`` when the ship leaves the grid.
        """
        number = rules.ship_number.get(self.ship)
        if number is None:
            raise IllegalCommand(
                "unknown_ship", f"no ship {self.ship!r}; this fleet has {', '.join(rules.ship_number)}"
            )
        return _cells(rules.grid, self.x, self.y, self.orientation, rules.fleet[number].length, self.ship)


def _cells(grid: Grid, x: int, y: int, orientation: Orientation, length: int, ship: str) -> tuple[int, ...]:
    first = grid.cell(x, y)
    x, y = grid.xy(first)
    horizontal = orientation is Orientation.HORIZONTAL
    right, down = (length - 1, 0) if horizontal else (0, length - 1)
    most_x, most_y = grid.width - right, grid.height - down
    if x > most_x or y > most_y:
        raise IllegalCommand(
            "off_grid",
            f"{ship} at x={x}, y={y} {orientation} leaves the grid; its anchor may be x 1..{most_x}, y 1..{most_y}",
        )
    step = 1 if horizontal else grid.width
    return tuple(range(first, first + length * step, step))


@dataclass(frozen=True)
class BoardRules:
    """What the fleets of a ruleset follow from.

    Attributes:
        name: the ruleset's name.
        fleet: the ships every player places; names are unique.
    """

    name: str
    grid: Grid
    fleet: tuple[ShipClass, ...]
    spacing: Spacing

    def __post_init__(self) -> None:
        """Refuse ships that no grid like this can have.

        Raises:
            UnplayableBook: names the field.
        """
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
        return tuple([_choices(self, ship.name, ship.length) for ship in self.fleet])


def mask_of(cells: Iterable[int]) -> int:
    """Return cells as a bit mask, with bit 0 for cell 0."""
    return sum([1 << cell for cell in cells])


@lru_cache(maxsize=1024)  # more than there are: a grid is at most 26 wide and high
def column(width: int, length: int) -> int:
    """Return the first cells of that many rows as a bit mask."""
    return mask_of(row * width for row in range(length))


def with_margin(mask: int, grid: Grid, spacing: Spacing) -> int:
    """Add the cells next to a ship that no other one may occupy; cells below the grid do no harm."""
    if spacing is Spacing.TOUCH:
        return mask
    width = grid.width
    first_column = column(width, grid.height + 1)  # cells moved beyond the last row are off the grid, too
    line = mask | (mask & ~first_column) >> 1 | (mask << 1) & ~first_column
    beside = line if spacing is Spacing.APART else mask
    return line | beside >> width | beside << width


#: One legal place of a ship on an empty grid: its cells, and two bit masks, with bit 0 for cell 0 and so on: the ship's
#: cells, and all cells that no other ship may occupy then, including the ship's own.
Choice = tuple[Placement, tuple[int, ...], int, int]


def _choices(rules: BoardRules, ship: str, length: int) -> tuple[Choice, ...]:
    grid, on_grid = rules.grid, (1 << rules.grid.size) - 1
    directions = [Orientation.HORIZONTAL] if length == 1 else list(Orientation)
    choices = []
    for orientation in directions:
        horizontal = orientation is Orientation.HORIZONTAL
        for y in range(1, grid.height + 1 if horizontal else grid.height - length + 2):
            for x in range(1, grid.width - length + 2 if horizontal else grid.width + 1):
                cells = _cells(grid, x, y, orientation, length, ship)
                mask = mask_of(cells)
                forbidden = with_margin(mask, grid, rules.spacing) & on_grid
                choices.append((Placement(ship, x, y, orientation), cells, mask, forbidden))
    return tuple(choices)
