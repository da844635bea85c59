"""Boards as far as they are known: a letter for each known ship, and a mark for each shot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from salvo.rules import Fleet, Grid
from salvo_display.boards.marks import Mark, letters_of
from salvo_display.boards.notebook_html import COLOURS, Square, board

#: What each mark on a board means.
WORDS: Final[Mapping[str, str]] = {Mark.HIT: "hit", Mark.MISS: "miss", Mark.FIRED: "fired at, result unknown"}
#: The legend below boards.
LEGEND: Final = ", ".join(f"{mark} {word}" for mark, word in WORDS.items())


def marked(grid: Grid, marks: Mapping[int, str], title: str, notes: Iterable[str] = ()) -> str:
    """Return a board with only shots on it.

    Args:
        marks: by cell; others have none.
    """
    squares = [
        Square(mark, COLOURS[mark], WORDS.get(mark, ""))
        for mark in (marks.get(cell, Mark.BLANK) for cell in range(grid.size))
    ]
    return board(grid, squares, title, notes)


def laid(fleet: Fleet, struck: Iterable[int] = (), title: str = "", notes: Iterable[str] = ()) -> str:
    """Return a board with all its ships.

    Args:
        struck: cells that were shot at.
    """
    book, hit = fleet.book, set(struck)
    letters = list(letters_of(book).values())
    ship_of = dict(zip(fleet.cells, book.ship_of_cell, strict=True))
    squares = []
    for cell in range(book.grid.size):
        ship = ship_of.get(cell)
        if ship is None:
            mark = Mark.MISS if cell in hit else Mark.BLANK
            squares.append(Square(mark, COLOURS[mark], WORDS.get(mark, "")))
        else:
            mark = Mark.HIT if cell in hit else Mark.SHIP
            description = f"{book.fleet[ship].name}, hit" if cell in hit else book.fleet[ship].name
            squares.append(Square(mark if cell in hit else letters[ship], COLOURS[mark], description))
    return board(book.grid, squares, title, notes)


def fleet_page(fleet: Fleet) -> str:
    """Return a fleet for a notebook."""
    ships = ", ".join(
        f"{letter} {ship.name} {ship.length}"
        for letter, ship in zip(letters_of(fleet.book).values(), fleet.book.fleet, strict=True)
    )
    return laid(fleet, title=f"a fleet of {fleet.book.name}", notes=[ships])
