"""The pictures of a page as SVG: boards with their ships and shots, and the course of a game. Styles are the page's.

A board is drawn as it is at the end; the script hides and shows what was not there from the beginning. A cell's place
is in the drawing itself, 10 units a cell, rows and columns counted from 1 as people do.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

from salvo.lab.pictures.marks import Mark
from salvo.rules import Fleet, Grid, Orientation, RuleBook

#: By mark, its drawing, see SYMBOLS.
_SYMBOL: Final = {Mark.HIT: "h", Mark.MISS: "m", Mark.FIRED: "f"}
#: Used by every board and the legend; distinguishable by their shape alone, too.
SYMBOLS: Final = (
    '<svg class="symbols" width="0" height="0" aria-hidden="true" focusable="false"><defs>'
    '<pattern id="grid" width="10" height="10" patternUnits="userSpaceOnUse"><path d="M10 0H0V10"/></pattern>'
    '<g id="h"><rect x="1" y="1" width="8" height="8" rx="1.5"/><path d="M3 3l4 4m0-4l-4 4"/>'
    '<rect class="ring" x=".5" y=".5" width="9" height="9" rx="2"/></g>'
    '<g id="m"><circle cx="5" cy="5" r="1.9"/><rect class="ring" x=".5" y=".5" width="9" height="9" rx="2"/></g>'
    '<g id="f"><path d="M5 1L9 5L5 9L1 5z"/><circle cx="5" cy="5" r="1.3"/>'
    '<rect class="ring" x=".5" y=".5" width="9" height="9" rx="2"/></g>'
    "</defs></svg>"
)
#: Of the chart, in SVG units: the plot, and the margins around it for what is written there.
_WIDE, _HIGH = 380, 130
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 96, 10, 24
#: Between two names at the right of the chart.
_LINE: Final = 11
#: Letters of a name that have room there.
_LETTERS: Final = 15
#: Between two lines that would cover each other.
_APART: Final = 1.6


def board(
    book: RuleBook, title: str, marks: str, fleet: Fleet | None, sunk: Sequence[int] = (), *, late: bool = False
) -> str:
    """Return a board.

    Args:
        title: what it is, for those who don't see it.
        marks: one letter a cell.
        fleet: its ships' places, as far as they may be shown.
        sunk: the ships that are drawn as sunk.
        late: whether the ships are seen at the game's end only.
    """
    grid = book.grid
    wide, high = 10 * grid.width, 10 * grid.height
    hulls, wrecks = ("", "") if fleet is None else (_ships(fleet, range(len(book.fleet))), _ships(fleet, sunk))
    return (
        f'<svg class="sea" role="img" aria-label="{escape(title)}" viewBox="0 0 {wide + 12} {high + 12}">'
        f'<rect class="water" x="10" y="10" width="{wide}" height="{high}"/>'
        f'<g class="ships{" late" * late}">{hulls}</g>'
        f'<rect class="grid" x="10" y="10" width="{wide}" height="{high}"/>'
        f'<g class="labels">{_labels(grid)}</g><g class="shots">{_shots(grid, marks)}</g>'
        f'<g class="wrecks{" late" * late}">{wrecks}</g></svg>'
    )


def _labels(grid: Grid) -> str:
    columns = "".join(f'<text x="{10 * x + 5}" y="7">{x}</text>' for x in range(1, grid.width + 1))
    letters = string.ascii_uppercase[: grid.height]
    rows = "".join(f'<text x="5" y="{10 * y + 7}">{letter}</text>' for y, letter in enumerate(letters, start=1))
    return columns + rows


def _shots(grid: Grid, marks: str) -> str:
    struck = ((grid.xy(cell), _SYMBOL[Mark(mark)]) for cell, mark in enumerate(marks) if mark in _SYMBOL)
    return "".join(f'<use href="#{symbol}" x="{10 * x}" y="{10 * y}"/>' for (x, y), symbol in struck)


def _ships(fleet: Fleet, wanted: Sequence[int]) -> str:
    drawn = []
    for number in wanted:
        ship, place = fleet.book.fleet[number], fleet.placements[number]
        level = place.orientation is Orientation.HORIZONTAL
        wide, high = (10 * ship.length - 1, 9) if level else (9, 10 * ship.length - 1)
        at = f'x="{10 * place.x + 0.5:g}" y="{10 * place.y + 0.5:g}"'
        drawn.append(f'<rect data-ship="{number}" {at} width="{wide}" height="{high}" rx="4"/>')
    return "".join(drawn)


def symbol(mark: Mark) -> str:
    """Return a mark by itself, for the legend."""
    return f'<svg class="symbol" viewBox="0 0 10 10" aria-hidden="true"><use href="#{_SYMBOL[mark]}"/></svg>'


def key(seat: int) -> str:
    """Return a player's line for the legend of the chart."""
    return f'<svg class="key" viewBox="0 0 30 6" aria-hidden="true"><path class="{line(seat)}" d="M0 3H30"/></svg>'


def line(seat: int) -> str:
    """Return the style of a player's line: a colour and a dash; from the ninth player on they repeat."""
    return f"line p{seat % 8}"


class Course(NamedTuple):
    """A player's figure over a game: its value before the first turn and after each."""

    name: str
    values: Sequence[int]


def chart(courses: Sequence[Course], what: str, known: int | None) -> str:
    """Return the courses as steps over the turns, a line a player.

    Args:
        courses: by seat.
        what: which figure it is.
        known: its maximum, where that is public beforehand.
    """
    turns, most = len(courses[0].values) - 1, max(1, known or 0, *(max(course.values) for course in courses))
    spread = [_APART * (seat - (len(courses) - 1) / 2) for seat in range(len(courses))]
    lines = [
        f'<path class="{line(seat)}" d="{_steps(course.values, most, spread[seat])}"/>'
        for seat, course in enumerate(courses)
    ]
    base = _TOP + _HIGH
    return (
        f'<svg class="chart{" falling" * (courses[0].values[0] > 0)}" role="img"'
        f' aria-label="{escape(what)} over the turns"'
        f' data-left="{_LEFT}" data-width="{_WIDE}" data-top="{_TOP}" data-height="{_HIGH}" data-apart="{_APART}"'
        f' data-known="{known or ""}"'
        f' viewBox="0 0 {_LEFT + _WIDE + _RIGHT} {_TOP + _HIGH + _BOTTOM}">'
        f'<path class="axis" d="M{_LEFT} {_TOP}V{base}H{_LEFT + _WIDE}"/>'
        f'<text class="right most" x="{_LEFT - 5}" y="{_TOP + 4}">{most}</text>'
        f'<text class="right" x="{_LEFT - 5}" y="{base + 3}">0</text>'
        f'<text x="{_LEFT}" y="{base + 16}">{escape(what)} by turn</text>'
        f'<text class="right turns" x="{_LEFT + _WIDE}" y="{base + 16}">{turns}</text>'
        f'<path class="cursor" d="M{_LEFT} {_TOP}V{base}"/>{"".join(lines)}'
        f'<g class="names">{_names(courses, most)}</g></svg>'
    )


def _names(courses: Sequence[Course], most: int) -> str:
    """Return the players' names where their lines end; nothing for more than there is room for."""
    ends = [_y(course.values[-1], most) for course in courses]
    if len(ends) * _LINE > _TOP + _HIGH:
        return ""
    return "".join(
        f'<text x="{_LEFT + _WIDE + 5}" y="{y + 3.5:.1f}">{escape(_cut(course.name))}</text>'
        for course, y in zip(courses, _apart(ends), strict=True)
    )


def _y(value: int, most: int) -> float:
    return _TOP + _HIGH * (1 - value / most)


def _steps(values: Sequence[int], most: int, off: float) -> str:
    """Return a line that stays level until its value changes."""
    last = max(1, len(values) - 1)
    changed = [turn for turn in range(1, len(values)) if values[turn] != values[turn - 1]]
    steps = (f"H{_LEFT + _WIDE * turn / last:.1f}V{_y(values[turn], most) + off:.1f}" for turn in changed)
    return f"M{_LEFT} {_y(values[0], most) + off:.1f}{''.join(steps)}H{_LEFT + _WIDE}"


def _apart(heights: Sequence[float]) -> list[float]:
    """Return where to write names that belong to these heights, so that none covers another."""
    order = sorted(range(len(heights)), key=lambda seat: heights[seat])
    room = _TOP + _HIGH + _BOTTOM - 6
    placed, above = list(heights), float("-inf")
    for seat in order:
        placed[seat] = above = max(heights[seat], above + _LINE)
    below = float(room + _LINE)
    for seat in reversed(order):
        placed[seat] = below = min(placed[seat], below - _LINE)
    return placed


def _cut(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
