"""Boards and tables of players for the terminal, drawn with rich.

Everything is drawn from plain values; nothing here does any input or waits.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from salvo.errors import MissingExtra
from salvo.rules import Fleet, Grid
from salvo_display.boards.marks import Mark, column_heads, picture

try:
    from rich.columns import Columns
    from rich.console import Group, RenderableType
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError:
    raise MissingExtra("the live view", "terminal") from None

STYLES: Final[Mapping[str, str]] = {
    Mark.BLANK: "dim blue",
    Mark.SHIP: "white",
    Mark.HIT: "bold red",
    Mark.MISS: "cyan",
    Mark.FIRED: "yellow",
    Mark.AIMED: "bold magenta",
    Mark.OFFERED: "bold green",
}


@dataclass(slots=True)
class Board:
    """One player's board, as the screen shows it.

    Attributes:
        ships: whether each ship is afloat, by its name; empty if the rules do not reveal that.
        struck: cells that were fired at.
        fleet: the ships' placements if the spectator may see them, else None.
        marks: the board already drawn, one letter a cell; empty to draw it from ``fleet`` and ``struck``.
        latest: cells to highlight.
        partial: whether shots and hits leave out earlier turns.
    """

    ships: dict[str, bool]
    shots: int = 0
    hits: int = 0
    last: str = ""
    out: bool = False
    struck: set[int] = field(default_factory=set)
    fleet: Fleet | None = None
    marks: str = ""
    latest: frozenset[int] = frozenset()
    partial: bool = False


def draw_board(
    board: Board, grid: Grid, gap: str = " ", styles: Mapping[str, str] = STYLES, cursor: int | None = None
) -> Text:
    """Return a board with rows A.. and columns 1..; as the referee sees it, unless it has ``marks``.

    Args:
        gap: the text between cells; empty for none.
        styles: rich styles by mark.
        cursor: a cell to put in brackets, which takes a gap.
    """
    heads = column_heads(grid.width) if gap else [str(x % 10) for x in range(1, grid.width + 1)]
    text = Text("   " + gap.join(heads), style="dim")
    owner = board.fleet.board if board.fleet is not None else bytes(grid.size)
    marks = board.marks or picture(owner, board.struck)
    for y in range(grid.height):
        cells = range(y * grid.width, (y + 1) * grid.width)
        text.append(f"\n {string.ascii_uppercase[y]}", style="dim")
        text.append("[" if gap and cells[0] == cursor else " ")
        for cell in cells:
            style = styles[marks[cell]]
            text.append(marks[cell], style=f"{style} reverse" if cell in board.latest else style)
            opens = cell + 1 == cursor and cell + 1 in cells
            text.append(gap if cursor is None or not gap else "]" if cell == cursor else "[" if opens else gap)
    return text


def cell_at(grid: Grid, column: int, line: int) -> int | None:
    """Return the cell at a column and line of a board drawn with gaps, counted from 0; None outside the cells."""
    x, y = (column - 3) // 2, line - 1
    return grid.cell(x + 1, y + 1) if 0 <= x < grid.width and 0 <= y < grid.height else None


def board_width(grid: Grid, gap: str = " ") -> int:
    """Return the width of a framed board, in characters."""
    return 3 + grid.width * (1 + len(gap)) + 4


def draw_boards(boards: Mapping[str, Board], grid: Grid, current: str, gap: str = " ") -> RenderableType:
    """Return all boards side by side, the current player's in a brighter frame; ``gap`` separates the cells."""
    panels = []
    for name, board in boards.items():
        state = "☠" if board.out else "▮" * sum(board.ships.values())
        # The frame of a board without gaps is too narrow for name and state on one line.
        title, subtitle = (f"{name} {state}", board.last) if gap else (name, f"{state} {board.last}")
        style = "dim" if board.out else ("bold green" if name == current else "blue")
        panels.append(
            Panel(
                draw_board(board, grid, gap),
                title=title,
                subtitle=subtitle,
                border_style=style,
                width=board_width(grid, gap),
            )
        )
    return Columns(panels)


def draw_players(boards: Mapping[str, Board], current: str) -> Table:
    """Return a table of what is public about the players."""
    table = Table(box=None, padding=(0, 2))
    for heading in ("", "player", "afloat", "sunk", "shots", "hits", "last salvo"):
        table.add_column(heading, justify="right" if heading in ("shots", "hits") else "left")
    for name, board in boards.items():
        afloat = [ship for ship, floats in board.ships.items() if floats]
        sunk = [ship for ship, floats in board.ships.items() if not floats]
        mark = "☠" if board.out else ("▶" if name == current else "")
        style = "dim" if board.out else ("bold green" if name == current else "")
        and_more = "+" if board.partial else ""
        table.add_row(
            mark,
            name,
            "▮" * len(afloat),
            ", ".join(sunk),
            f"{board.shots}{and_more}",
            f"{board.hits}{and_more}",
            board.last,
            style=style,
        )
    return table


def draw_page(heading: str, body: RenderableType, news: Sequence[str]) -> Group:
    """Return a page: a heading, the body, and the latest news below it."""
    return Group(Text(heading, style="bold"), body, Text("\n".join(news), style="dim"))
