"""Fleets: what makes them legal, and those drawn at random; the ships and the board are in :mod:`salvo.rules.board`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from math import floor
from random import Random

from salvo.errors import IllegalCommand
from salvo.rules.board import BoardRules, Choice, Grid, Orientation, Placement, column, mask_of, with_margin


def check_placement(book: BoardRules, placement: Placement, others: Iterable[Placement]) -> None:
    """Make sure that a ship fits on a board with the other ships.

    Raises:
        IllegalCommand: ``unknown_ship``, ``off_grid``, ``overlap`` or ``too_close``.
    """
    cells = placement.cells(book)
    mask = mask_of(cells)
    for other in others:
        taken = other.cells(book)
        others_mask = mask_of(taken)
        if mask & others_mask:
            shared = next(cell for cell in cells if cell in taken)
            raise IllegalCommand("overlap", f"{placement.ship} overlaps {other.ship} at {book.grid.name(shared)}")
        if mask & with_margin(others_mask, book.grid, book.spacing):
            raise IllegalCommand(
                "too_close", f"{placement.ship} is too close to {other.ship}; spacing is {book.spacing}"
            )


class Fleet:
    """A complete and legal fleet of one player.

    Attributes:
        placements: one per ship, in the order of the ruleset.
        cells: the occupied cells, ship by ship in the order of the ruleset, each from its anchor on;
            ``book.ship_of_cell`` says whose they are.
    """

    __slots__ = ("book", "cells", "placements")

    def __init__(self, book: BoardRules, placements: Sequence[Placement]) -> None:
        """Take the placements in any order, and as plain ones: with coordinates of any type.

        Raises:
            IllegalCommand: ``unknown_ship``, ``off_grid``, ``overlap``, ``too_close``, or ``fleet_incomplete`` when
                a ship is missing or placed twice.
        """
        if sorted(p.ship for p in placements) != sorted(book.ship_number):
            raise IllegalCommand(
                "fleet_incomplete",
                f"a fleet is each of {', '.join(book.ship_number)} once, not {[p.ship for p in placements]}",
            )
        plain = [
            Placement(
                book.fleet[book.ship_number[placement.ship]].name,
                *book.grid.xy(book.grid.cell(placement.x, placement.y)),
                Orientation(placement.orientation),
            )
            for placement in placements
        ]
        for number, placement in enumerate(plain):
            check_placement(book, placement, plain[:number])
        self._lay(book, plain)

    def _lay(self, book: BoardRules, placements: Iterable[Placement]) -> None:
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


#: Tries before a book is called too crowded. A standard fleet needs 1.9 on average; books that leave less than one
#: layout in ten thousand are better placed by hand than by luck.
MAX_TRIES = 100_000


def random_fleet(book: BoardRules, random: Random) -> Fleet:
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


def fleet_ship_by_ship(book: BoardRules, random: Random) -> Fleet:
    """Return a random fleet as many programs draw it: the longest ship first, each evenly where it still fits.

    Some layouts are likelier than others. Where a ship fits nowhere, all are drawn again.

    Raises:
        ValueError: no legal layout found in 100,000 tries.
    """
    longest_first = sorted(range(len(book.fleet)), key=lambda ship: -book.fleet[ship].length)
    for _ in range(MAX_TRIES):
        taken, layout = 0, dict[int, Choice]()
        for ship in longest_first:
            fits = [choice for choice in book.choices[ship] if not taken & choice[2]]
            if not fits:
                break
            layout[ship] = fits[floor(random.random() * len(fits))]
            taken |= layout[ship][3]
        else:
            return _fleet_of(book, [layout[ship] for ship in range(len(layout))])
    raise ValueError(f"ruleset {book.name}: no legal fleet found in {MAX_TRIES} tries")


#: Fleets that :func:`check_room` draws. In streak, one layout in 5000 is legal; a book with none in 20,000 is too
#: crowded for :data:`MAX_TRIES`. A book without any costs a tenth of a second, three tenths if ships collide late.
MAX_TRIALS = 20_000


def check_room(book: BoardRules, random: Random) -> None:
    """Make sure that a fleet can be drawn quickly, well below :data:`MAX_TRIES`.

    For untrusted rulesets: no fleet is built and nothing is kept.

    Raises:
        ValueError: none of 20,000 layouts drawn was legal.
    """
    longest_first = sorted((ship.length for ship in book.fleet), reverse=True)
    for _ in range(MAX_TRIALS):
        taken = 0
        for length in longest_first:
            mask = _drawn_mask(book.grid, length, random.random())
            if taken & mask:
                break
            taken |= with_margin(mask, book.grid, book.spacing)
        else:
            return
    raise ValueError(f"ruleset {book.name}: none of {MAX_TRIALS} fleets drawn at random fits on the grid")


def _drawn_mask(grid: Grid, length: int, chance: float) -> int:
    """Return the cells of a ship drawn evenly on the empty grid, as a bit mask."""
    width, height = grid.width, grid.height
    lying = max(0, width - length + 1) * height
    standing = max(0, height - length + 1) * width if length > 1 else 0
    number = int(chance * (lying + standing))
    if number < lying:
        y, x = divmod(number, width - length + 1)
        return ((1 << length) - 1) << (y * width + x)
    return column(width, length) << (number - lying)  # the cell of the anchor, row by row


def _fleet_of(book: BoardRules, layout: Sequence[Choice]) -> Fleet:
    """Build a fleet from places known to be legal, in the order of the book (no second check: it is hot)."""
    fleet = object.__new__(Fleet)
    fleet.book = book
    fleet.placements = tuple([choice[0] for choice in layout])
    fleet.cells = tuple(chain.from_iterable([choice[1] for choice in layout]))
    return fleet
