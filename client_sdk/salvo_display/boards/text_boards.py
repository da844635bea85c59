"""Boards side by side in lines of text, for a terminal or a file."""

from __future__ import annotations

import string
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, Self

from salvo.messages import Fate, SalvoResolved
from salvo.rules import Fleet, Grid
from salvo.view import Shot
from salvo_display.boards.marks import PLAIN, Mark, column_heads, picture

#: Characters that fit on the narrowest common terminal.
_LINE_WIDTH: Final = 79
#: SGR codes of what should stand out: hits red, ships blue, misses dim.
_COLOURS: Final = {Mark.HIT: "1;31", Mark.SHIP: "34", Mark.MISS: "2"}


def board_lines(
    boards: Mapping[str, tuple[str, str]],
    grid: Grid,
    *,
    coloured: bool = False,
    latest: Mapping[str, Collection[int]] | None = None,
    columns: int = _LINE_WIDTH,
) -> list[str]:
    """Return boards, as many side by side as fit on a line, with an empty line below each row of them.

    Args:
        boards: by player, a status such as ``3 afloat`` and the marks of its cells, row by row.
        coloured: whether to draw with the characters and colours of a terminal; else in plain letters.
        latest: by player, cells to show in reverse video; only if ``coloured``.
        columns: the line width, in characters; boards that are wider are not broken.
    """
    width = 2 + 2 * grid.width
    inverted = latest or {}
    blocks = [_block(name, *board, grid, width, coloured, inverted.get(name, ())) for name, board in boards.items()]
    per_row = max(1, (columns + 3) // (width + 3))
    lines: list[str] = []
    for first in range(0, len(blocks), per_row):
        row = blocks[first : first + per_row]
        lines += ["   ".join(parts).rstrip() for parts in zip(*row, strict=True)]
        lines.append("")
    return lines


def _block(
    name: str, state: str, marks: str, grid: Grid, width: int, coloured: bool, latest: Collection[int]
) -> list[str]:
    title = f"{name[: width - len(state) - 1]} {state}"
    lines = [title, "  " + " ".join(column_heads(grid.width))]
    lines = [f"{line:<{width}}" for line in lines]
    for y in range(grid.height):
        first = y * grid.width
        row = marks[first : first + grid.width]
        cells = (
            [_coloured(mark, cell in latest) for cell, mark in enumerate(row, first)]
            if coloured
            else row.translate(PLAIN)
        )
        lines.append(f"{string.ascii_uppercase[y]} " + " ".join(cells) + " ")
    return lines


def _coloured(mark: str, inverted: bool) -> str:
    code = "7" if inverted and mark == Mark.MISS else _COLOURS.get(Mark(mark), "") + ";7" * inverted
    return f"\033[{code}m{mark}\033[0m" if code else mark


#: What is said of a player that is out.
OUT: Final = {
    Fate.SUNK: "is defeated",
    Fate.SILENT: "is out, after turns without a shot",
    Fate.REMOVED: "is out, removed by the host",
}


def salvo_line(
    result: SalvoResolved,
    name_width: int = 0,
    turn_width: int = 0,
    of_allowed: str = "",
    consequences: Iterable[str] | None = None,
) -> str:
    """Return a salvo as one line; the widths, in characters, align the columns of several.

    Args:
        of_allowed: appended to the number of shots, such as `` of 5``.
        consequences: its consequences as texts; those of :func:`news` by default.
    """
    shots = f"{result.shots}{of_allowed} shots" if of_allowed else _counted(result.shots, "shot")
    head = f"turn {result.turn:>{turn_width}}  {result.player:<{name_width}}"
    return "  ".join(
        [head, shots, _counted(result.hits, "hit"), ", ".join(news(result) if consequences is None else consequences)]
    ).rstrip()


def news(result: SalvoResolved, removed: Collection[str] = ()) -> list[str]:
    """Return a phrase for each ship that a salvo sank and each player that is out with it.

    Args:
        removed: whom a host has removed from the game.
    """
    sunk = [f"sinks {ship.player}'s {ship.ship}" for ship in result.sunk]
    return [*sunk, *(f"{name} {OUT[result.fate(name, removed)]}" for name in result.defeated)]


def _counted(count: int, noun: str) -> str:
    """Return a number with its noun; a space in place of the plural's s keeps columns aligned."""
    return f"{count} {noun} " if count == 1 else f"{count} {noun}s"


class TextBoards:
    """Follows a game in the arena: :meth:`begin` is its ``opening``, :meth:`follow` its ``listener``.

    A context manager around that game, for subclasses that draw it while it is played.

    Attributes:
        salvos: pairs of player and shots, in order.
    """

    def __init__(self) -> None:
        self.salvos: list[tuple[str, tuple[Shot, ...]]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing: there is nothing to clean up."""

    def begin(self, fleets: Mapping[str, Fleet]) -> None:
        """Start a game; forget the previous one."""
        self.salvos.clear()

    def follow(self, shots: Iterable[Shot], result: SalvoResolved) -> None:
        """Record the shots of a salvo."""
        self.salvos.append((result.player, tuple(shots)))

    def lines(self, fleets: Mapping[str, Fleet], **options: Any) -> list[str]:
        """Return the boards as they are now, with all ships; the options are those of :func:`board_lines`."""
        grid = next(iter(fleets.values())).book.grid
        return board_lines({name: self._board(name, fleet) for name, fleet in fleets.items()}, grid, **options)

    def _board(self, name: str, fleet: Fleet) -> tuple[str, str]:
        shots = (shot for _, salvo in self.salvos for shot in salvo if shot.player == name)
        struck = {fleet.book.grid.cell(shot.x, shot.y) for shot in shots}
        afloat = {ship for cell, ship in zip(fleet.cells, fleet.book.ship_of_cell, strict=True) if cell not in struck}
        return (f"{len(afloat)} afloat" if afloat else "defeated", picture(fleet.board, struck))
