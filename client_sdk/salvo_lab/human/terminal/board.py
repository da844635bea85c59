"""A board on the person's screen: drawn with a cursor, clicked with a mouse."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Final

from rich.text import Text
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from salvo.errors import printable
from salvo.rules import Grid
from salvo_display.boards.marks import Mark, column_heads
from salvo_lab.human.snapshot import SUNK

#: Colours by mark; every mark reads without them.
COLOURS: Final[Mapping[str, str]] = {
    Mark.BLANK: "not dim #000000 on #add8e6",
    Mark.SHIP: "not dim #ffffff on #000000",
    Mark.HIT: "not dim bold #ffffff on #c00000",
    SUNK: "not dim bold #ffffff on #c00000",
    Mark.MISS: "not dim #ffffff on #00008b",
    Mark.FIRED: "not dim #000000 on #f0d000",
    Mark.AIMED: "not dim bold #ffffff on #a000a0",
    Mark.OFFERED: "not dim bold #000000 on #00c000",
}


#: The same for another player's board where ships that have sunk stand out from hits.
TARGET_COLOURS: Final[Mapping[str, str]] = {**COLOURS, Mark.HIT: "not dim bold #ffffff on #000000"}


class BoardView(Static):
    """A board with a frame; tells which square was clicked."""

    class Clicked(Message):
        """A click on a square."""

        def __init__(self, board: str, cell: int) -> None:
            super().__init__()
            self.board = board
            self.cell = cell

    grid: Grid | None = None

    def show(
        self,
        grid: Grid,
        marks: str,
        title: str,
        *,
        active: bool,
        cursor: int | None = None,
        styles: Mapping[str, str] = COLOURS,
    ) -> None:
        """Draw the board; the active one has a frame that stands out."""
        self.grid = grid
        self.border_title = Text(printable(title))  # no markup
        self.set_class(active, "active")
        self.update(draw_board(marks, grid, styles, cursor))
        if cursor is not None:
            self.call_after_refresh(self._keep_in_sight, grid, cursor)

    def _keep_in_sight(self, grid: Grid, cell: int) -> None:
        """Scroll to a square of a board that is larger than its room."""
        x, y = grid.xy(cell)
        if isinstance(self.parent, Widget):
            # Next to the cells are frame, padding and the row's letter; above them frame and the columns' numbers.
            square = Region(2 + 2 + 2 * (x - 1), 1 + 1 + y - 1, 3, 1)
            self.parent.scroll_to_region(square.translate(self.virtual_region.offset), animate=False)

    def on_click(self, click: events.Click) -> None:
        """Tell which square it was."""
        where = click.get_content_offset(self)
        cell = cell_at(self.grid, where.x, where.y) if where is not None and self.grid is not None else None
        if cell is not None and self.id is not None:
            self.post_message(self.Clicked(self.id, cell))


def draw_board(marks: str, grid: Grid, styles: Mapping[str, str], cursor: int | None = None) -> Text:
    """Return a board with rows A.. and columns 1...

    Args:
        marks: one a cell, row by row.
        styles: rich styles by mark.
        cursor: a cell to put in brackets.
    """
    text = Text("   " + " ".join(column_heads(grid.width)), style="dim")
    for y in range(grid.height):
        cells = range(y * grid.width, (y + 1) * grid.width)
        text.append(f"\n {string.ascii_uppercase[y]}", style="dim")
        text.append("[" if cells[0] == cursor else " ")
        for cell in cells:
            text.append(marks[cell], style=styles[marks[cell]])
            text.append("]" if cell == cursor else "[" if cell + 1 == cursor and cell + 1 in cells else " ")
    return text


def cell_at(grid: Grid, column: int, line: int) -> int | None:
    """Return the cell at a column and line of a drawn board, counted from 0; None outside the cells."""
    x, y = (column - 3) // 2, line - 1
    return grid.cell(x + 1, y + 1) if 0 <= x < grid.width and 0 <= y < grid.height else None
