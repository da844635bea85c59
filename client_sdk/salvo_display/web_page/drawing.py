"""Computes the pictures of a page: boards with their ships and shots, and the chart of a game.

``drawing.html.j2`` draws them. All lengths are SVG units. A cell of a board is 10 of them wide; its column x,
counted from 1, begins at 10 x, and its row likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from salvo.rules import Fleet, Orientation, RuleBook
from salvo_display.boards.marks import Mark

#: By mark, the id of its symbol in symbols.svg.
SYMBOLS: Final = {Mark.HIT: "h", Mark.MISS: "m", Mark.FIRED: "f"}


class Plot(NamedTuple):
    """The size of a chart, in SVG units: the plot, and the margins around it for labels.

    Attributes:
        apart: the offset between lines of two players, so that equal values do not cover each other.
        spread: the largest offset between the first line and the last.
    """

    left: int = 22
    width: int = 240
    right: int = 82
    top: int = 10
    height: int = 100
    bottom: int = 22
    apart: float = 1.6
    spread: float = 12.0


_PLOT: Final = Plot()
#: Line height of the names at the right of the chart, SVG units.
_LINE_HEIGHT: Final = 11
#: Characters of a name that fit there.
_MAX_CHARACTERS: Final = 13


class Board(NamedTuple):
    """What is drawn on a board, as SVG elements; they have no text from players, so nothing needs escaping.

    Attributes:
        shots: a symbol for each cell that was shot at.
        ships: empty if they may not be shown.
        wrecks: the sunk ones among the ships.
        late: whether the ships appear only at the end of the game.
    """

    shots: str
    ships: str
    wrecks: str
    late: bool


def board(book: RuleBook, marks: str, fleet: Fleet | None, sunk: Sequence[int], *, late: bool) -> Board:
    """Return a board as it is at the end.

    Args:
        marks: one :class:`Mark` per cell, row by row.
        fleet: where its ships are; None if they may not be shown.
        sunk: numbers of the sunk ships in the ruleset's fleet.
        late: see :class:`Board`.
    """
    struck = ((book.grid.xy(cell), SYMBOLS[Mark(mark)]) for cell, mark in enumerate(marks) if mark in SYMBOLS)
    shots = "".join(f'<use href="#{symbol}" x="{10 * x}" y="{10 * y}"/>' for (x, y), symbol in struck)
    hulls = [] if fleet is None else [_hull(fleet, number) for number in range(len(book.fleet))]
    wrecks = [hulls[number] for number in sunk] if hulls else []
    return Board(shots, "".join(hulls), "".join(wrecks), late)


def _hull(fleet: Fleet, number: int) -> str:
    place, long = fleet.placements[number], 10 * fleet.book.fleet[number].length - 1
    wide, high = (long, 9) if place.orientation is Orientation.HORIZONTAL else (9, long)
    at = f'x="{10 * place.x + 0.5:g}" y="{10 * place.y + 0.5:g}"'
    return f'<rect data-ship="{number}" {at} width="{wide}" height="{high}" rx="4"/>'


class Course(NamedTuple):
    """How a player's figure changes over a game: its value before the first turn and after each."""

    name: str
    values: Sequence[int]


class Chart(NamedTuple):
    """A chart of courses, with a step wherever a value changes.

    Attributes:
        what: the figure's name, such as ``hits``.
        known: its maximum, if that is public beforehand.
        most: the value at the top of the chart.
        turns: how many the game had.
        falling: whether the values start at their maximum, as ships afloat do, instead of 0.
        players: their names, by seat.
        lines: by seat, the path data of the player's line.
        names: pairs of a name to write at the right and its baseline; empty if there is no room for all.
    """

    what: str
    known: int | None
    most: int
    turns: int
    falling: bool
    players: list[str]
    lines: list[str]
    names: list[tuple[str, float]]
    plot: Plot


def chart(courses: Sequence[Course], what: str, known: int | None) -> Chart:
    """Return the chart of courses, which are in the order of seats; see :class:`Chart`."""
    turns, most = len(courses[0].values) - 1, max(1, known or 0, *(max(course.values) for course in courses))
    players = [course.name for course in courses]
    plot = _PLOT._replace(apart=min(_PLOT.apart, _PLOT.spread / len(courses)))
    offsets = [plot.apart * (seat - (len(courses) - 1) / 2) for seat in range(len(courses))]
    lines = [_steps(course.values, most, offset) for course, offset in zip(courses, offsets, strict=True)]
    return Chart(what, known, most, turns, courses[0].values[0] > 0, players, lines, _names(courses, most), plot)


def _names(courses: Sequence[Course], most: int) -> list[tuple[str, float]]:
    """Return the players' names where their lines end; none if there is no room for all."""
    ends = [_y(course.values[-1], most) for course in courses]
    if len(ends) * _LINE_HEIGHT > _PLOT.top + _PLOT.height:
        return []
    return [(_shortened(course.name), y + 3.5) for course, y in zip(courses, _moved_apart(ends), strict=True)]


def _y(value: int, most: int) -> float:
    return _PLOT.top + _PLOT.height * (1 - value / most)


def _steps(values: Sequence[int], most: int, offset: float) -> str:
    """Return the path data of a line that stays level until its value changes."""
    last = max(1, len(values) - 1)
    changed = [turn for turn in range(1, len(values)) if values[turn] != values[turn - 1]]
    steps = (f"H{_PLOT.left + _PLOT.width * turn / last:.1f}V{_y(values[turn], most) + offset:.1f}" for turn in changed)
    return f"M{_PLOT.left} {_y(values[0], most) + offset:.1f}{''.join(steps)}H{_PLOT.left + _PLOT.width}"


def _moved_apart(heights: Sequence[float]) -> list[float]:
    """Return the heights at which to write names, near these ones, so that none covers another."""
    order = sorted(range(len(heights)), key=lambda seat: heights[seat])
    room = _PLOT.top + _PLOT.height + _PLOT.bottom - 6
    placed, above = list(heights), float("-inf")
    for seat in order:
        placed[seat] = above = max(heights[seat], above + _LINE_HEIGHT)
    below = float(room + _LINE_HEIGHT)
    for seat in reversed(order):
        placed[seat] = below = min(placed[seat], below - _LINE_HEIGHT)
    return placed


def _shortened(name: str) -> str:
    return name if len(name) <= _MAX_CHARACTERS else f"{name[: _MAX_CHARACTERS - 1]}…"
