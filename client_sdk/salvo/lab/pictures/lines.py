"""Boards side by side in lines of text, for a terminal or a file."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from typing import Final

from salvo.lab.pictures.marks import PLAIN, Mark, picture
from salvo.messages import SalvoResolved
from salvo.rules import Fleet, Grid
from salvo.view import Shot

#: Characters that fit on the narrowest common terminal.
_LINE_WIDTH: Final = 79
#: SGR codes of what should stand out: hits red, ships blue, misses dim.
_COLOURS: Final = {Mark.HIT: "1;31", Mark.SHIP: "34", Mark.MISS: "2"}


def board_lines(boards: Mapping[str, tuple[str, str]], grid: Grid, *, coloured: bool = False) -> list[str]:
    """Return boards, as many side by side as fit on a line, with an empty line below each row of them.

    Args:
        boards: how each player stands, such as ``3 afloat``, and the marks of its cells, by name.
        coloured: whether to draw with the characters and colours of a terminal; else in plain letters.
    """
    width = 2 + 2 * grid.width
    blocks = [_block(name, *board, grid, width, coloured) for name, board in boards.items()]
    per_row = max(1, (_LINE_WIDTH + 3) // (width + 3))
    lines: list[str] = []
    for first in range(0, len(blocks), per_row):
        row = blocks[first : first + per_row]
        lines += ["   ".join(parts).rstrip() for parts in zip(*row, strict=True)]
        lines.append("")
    return lines


def _block(name: str, state: str, marks: str, grid: Grid, width: int, coloured: bool) -> list[str]:
    title = f"{name[: width - len(state) - 1]} {state}"
    last = grid.width if grid.width <= 10 else grid.width % 10  # there is no room for more than one 10
    lines = [title, "  " + " ".join([*(str(x % 10) for x in range(1, grid.width)), str(last)])]
    lines = [f"{line:<{width}}" for line in lines]
    for y in range(grid.height):
        row = marks[y * grid.width : (y + 1) * grid.width]
        cells = map(_coloured, row) if coloured else row.translate(PLAIN)
        lines.append(f"{string.ascii_uppercase[y]} " + " ".join(cells) + " ")
    return lines


def _coloured(mark: str) -> str:
    code = _COLOURS.get(Mark(mark))
    return mark if code is None else f"\033[{code}m{mark}\033[0m"


class Boards:
    """The boards of a game in the arena, which it follows as its listener.

    Attributes:
        salvos: who fired what, in order.
    """

    def __init__(self) -> None:
        self.salvos: list[tuple[str, tuple[Shot, ...]]] = []

    def follow(self, shots: Iterable[Shot], result: SalvoResolved) -> None:
        """Note the shots of a salvo."""
        self.salvos.append((result.player, tuple(shots)))

    def lines(self, fleets: Mapping[str, Fleet], *, coloured: bool = False) -> list[str]:
        """Return how the boards look, with all ships; see :func:`board_lines`."""
        return board_lines(
            {name: self._board(name, fleet) for name, fleet in fleets.items()},
            next(iter(fleets.values())).book.grid,
            coloured=coloured,
        )

    def _board(self, name: str, fleet: Fleet) -> tuple[str, str]:
        shots = (shot for _, salvo in self.salvos for shot in salvo if shot.player == name)
        struck = {fleet.book.grid.cell(shot.x, shot.y) for shot in shots}
        afloat = {ship for cell, ship in zip(fleet.cells, fleet.book.ship_of_cell, strict=True) if cell not in struck}
        return (f"{len(afloat)} afloat" if afloat else "defeated", picture(fleet.board, struck))
