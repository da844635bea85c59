"""A square of a grid, found by keys."""

from __future__ import annotations

import string

from salvo.rules import Grid
from salvo_lab.human.keys import ARROWS


class Cursor:
    """A square of a grid, moved by keys.

    Attributes:
        x: column, from 1.
        y: row, from 1.
    """

    def __init__(self) -> None:
        self.x = self.y = 1
        self._digits = ""

    def cell(self, grid: Grid) -> int:
        """Return the square; on a smaller grid the nearest one."""
        self.x, self.y = min(self.x, grid.width), min(self.y, grid.height)
        return grid.cell(self.x, self.y)

    def go(self, grid: Grid, cell: int) -> None:
        """Go to a square."""
        self.x, self.y = grid.xy(cell)
        self._digits = ""

    def press(self, grid: Grid, key: str) -> bool:
        """Do what an arrow, a row's capital letter or a digit does; return whether the key was one of them."""
        if key in ARROWS:
            dx, dy = ARROWS[key]
            self.x = (self.x - 1 + dx) % grid.width + 1
            self.y = (self.y - 1 + dy) % grid.height + 1
            self._digits = ""
        elif len(key) == 1 and key in string.digits:
            self._type(grid, key)
        elif len(key) == 1 and key in string.ascii_uppercase[: grid.height]:
            self.y = string.ascii_uppercase.index(key) + 1
            self._digits = ""
        else:
            return False
        return True

    def _type(self, grid: Grid, digit: str) -> None:
        """Take a digit as the second one of a column where there is such a column, else as the first one."""
        for digits in (self._digits + digit, digit):
            if 1 <= int(digits) <= grid.width:
                self.x, self._digits = int(digits), digits
                return
