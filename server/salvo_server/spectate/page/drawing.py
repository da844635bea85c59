"""The pictures of a page in numbers: boards with their ships and shots, and the course of a game.

``drawing.html.j2`` draws them. A cell's place is in the drawing itself, 10 units a cell, rows and columns counted from
1 as people do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from salvo.lab.pictures.marks import Mark
from salvo.rules import Fleet, Orientation, RuleBook

#: By mark, its drawing, see symbols.svg.
SYMBOLS: Final = {Mark.HIT: "h", Mark.MISS: "m", Mark.FIRED: "f"}


class Plot(NamedTuple):
    """Of the chart, in SVG units: the plot, and the margins around it for what is written there.

    Attributes:
        apart: between two lines that would cover each other, and between the first and the last at most.
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
#: Between two names at the right of the chart.
_LINE: Final = 11
#: Letters of a name that have room there.
_LETTERS: Final = 13


class Board(NamedTuple):
    """What is drawn on a board: SVG made of numbers alone, which needs no escaping.

    Attributes:
        ships: as far as they may be shown.
        wrecks: the ships that are drawn as sunk.
        late: whether the ships are seen at the game's end only.
    """

    shots: str
    ships: str
    wrecks: str
    late: bool


def board(book: RuleBook, marks: str, fleet: Fleet | None, sunk: Sequence[int], *, late: bool) -> Board:
    """Return a board; ``marks`` has one letter a cell, ``fleet`` its ships' places if they may be shown."""
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
    """A player's figure over a game: its value before the first turn and after each."""

    name: str
    values: Sequence[int]


class Chart(NamedTuple):
    """The courses as steps over the turns.

    Attributes:
        what: which figure it is.
        known: its maximum, where that is public beforehand.
        most: the highest value.
        players: by seat.
        lines: the path of each player's line, by seat.
        names: of the players, and how high each stands; none where there is no room for all.
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
    """Return the chart of courses, which are by seat."""
    turns, most = len(courses[0].values) - 1, max(1, known or 0, *(max(course.values) for course in courses))
    players = [course.name for course in courses]
    plot = _PLOT._replace(apart=min(_PLOT.apart, _PLOT.spread / len(courses)))
    spread = [plot.apart * (seat - (len(courses) - 1) / 2) for seat in range(len(courses))]
    lines = [_steps(course.values, most, off) for course, off in zip(courses, spread, strict=True)]
    return Chart(what, known, most, turns, courses[0].values[0] > 0, players, lines, _names(courses, most), plot)


def _names(courses: Sequence[Course], most: int) -> list[tuple[str, float]]:
    """Return the players' names where their lines end; nothing for more than there is room for."""
    ends = [_y(course.values[-1], most) for course in courses]
    if len(ends) * _LINE > _PLOT.top + _PLOT.height:
        return []
    return [(_cut(course.name), y + 3.5) for course, y in zip(courses, _apart(ends), strict=True)]


def _y(value: int, most: int) -> float:
    return _PLOT.top + _PLOT.height * (1 - value / most)


def _steps(values: Sequence[int], most: int, off: float) -> str:
    """Return a line that stays level until its value changes."""
    last = max(1, len(values) - 1)
    changed = [turn for turn in range(1, len(values)) if values[turn] != values[turn - 1]]
    steps = (f"H{_PLOT.left + _PLOT.width * turn / last:.1f}V{_y(values[turn], most) + off:.1f}" for turn in changed)
    return f"M{_PLOT.left} {_y(values[0], most) + off:.1f}{''.join(steps)}H{_PLOT.left + _PLOT.width}"


def _apart(heights: Sequence[float]) -> list[float]:
    """Return where to write names that belong to these heights, so that none covers another."""
    order = sorted(range(len(heights)), key=lambda seat: heights[seat])
    room = _PLOT.top + _PLOT.height + _PLOT.bottom - 6
    placed, above = list(heights), float("-inf")
    for seat in order:
        placed[seat] = above = max(heights[seat], above + _LINE)
    below = float(room + _LINE)
    for seat in reversed(order):
        placed[seat] = below = min(placed[seat], below - _LINE)
    return placed


def _cut(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
