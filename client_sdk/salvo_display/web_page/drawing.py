"""Computes the pictures of a page: boards as boards.js draws them, and the chart of a game.

``drawing.html.j2`` draws them. All lengths are SVG units. A cell of a board is 10 of them wide; the first one is at 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from salvo.rules import Fleet
from salvo_display.boards.marks import Mark
from salvo_display.replay import ship_letter
from salvo_display.web_page.rendering import shortened

#: By mark, how a cell is written on which no ship is known.
_LETTERS: Final[Mapping[str, str]] = {Mark.HIT: "!", Mark.MISS: "*", Mark.FIRED: "?"}


class Plot(NamedTuple):
    """The size of a chart, in SVG units: the plot, and the margins around it for labels.

    Attributes:
        apart: the offset between lines of two players, so that equal values do not cover each other.
        spread: the largest offset between the first line and the last.
    """

    left: int = 22
    width: int = 240
    right: int = 88
    top: int = 10
    height: int = 100
    bottom: int = 22
    apart: float = 1.6
    spread: float = 12.0


_PLOT: Final = Plot()
#: Line height of the names at the right of the chart, SVG units.
_LINE_HEIGHT: Final = 11


def cells_of(marks: str, fleet: Fleet | None) -> str:
    """Return a board as boards.js takes it, one letter a cell: a ship's own, upper-case where it was hit.

    Args:
        marks: one :class:`Mark` per cell, row by row.
        fleet: where its ships are; None if they may not be shown.
    """
    ships = bytes(len(marks)) if fleet is None else fleet.board
    return "".join(_cell(mark, ship) for mark, ship in zip(marks, ships, strict=True))


def _cell(mark: str, ship: int) -> str:
    if not ship:
        return _LETTERS.get(mark, ".")
    return ship_letter(ship - 1).upper() if mark == Mark.HIT else ship_letter(ship - 1)


def board(cells: str, width: int, latest: Iterable[int] = ()) -> dict[str, str]:
    """Return the path data of a board by class, in the order in which boards.js draws them.

    Args:
        cells: see :func:`cells_of`.
        latest: the cells of the last salvo.
    """
    ships: dict[str, list[int]] = {}
    paths = dict.fromkeys(("ships", "rings", "wrecks", "hits", "crosses", "misses", "unknown", "grid", "latest"), "")
    for cell, letter in enumerate(cells):
        x, y = _middle(cell, width)
        if letter.isalpha():
            ships.setdefault(letter.lower(), []).append(cell)
        if letter == "!" or letter.isupper():
            paths["hits"] += f"M{x} {y}h0"
            paths["crosses"] += f"M{x - 2} {y - 2}l4 4m0-4l-4 4"
        elif letter == "*":
            paths["misses"] += f"M{x} {y}h0"
        elif letter == "?":
            paths["unknown"] += f"M{x} {y - 2.4:g}l2.4 2.4l-2.4 2.4l-2.4-2.4z"
    for at in ships.values():
        sunk = all(cells[cell].isupper() for cell in at)
        for name in ("rings", "wrecks") if sunk else ("ships",):
            paths[name] += _hull(at, width)
    wide, high = 10 * width, 10 * (len(cells) // width)
    paths["grid"] = "".join(f"M{x} 0V{high}" for x in range(10, wide, 10))
    paths["grid"] += "".join(f"M0 {y}H{wide}" for y in range(10, high, 10))
    corners = ((x - 4.3, y - 4.3) for x, y in (_middle(cell, width) for cell in sorted(latest)))
    paths["latest"] = "".join(f"M{x:g} {y:g}h8.6v8.6h-8.6z" for x, y in corners)
    return {name: path for name, path in paths.items() if path}


def _middle(cell: int, width: int) -> tuple[int, int]:
    return 10 * (cell % width) + 5, 10 * (cell // width) + 5


def _hull(at: Sequence[int], width: int) -> str:
    """Return a line through a ship's cells; one by one where they are in no row, as of ships that share a letter."""
    steps = {after - before for before, after in pairwise(at)}
    ends = [(at[0], at[-1])] if steps <= {1} or steps <= {width} else [(cell, cell) for cell in at]
    lines = ((*_middle(start, width), *_middle(end, width)) for start, end in ends)
    return "".join(f"M{x} {y}L{to_x} {to_y}" for x, y, to_x, to_y in lines)


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
    return [(shortened(course.name), y + 3.5) for course, y in zip(courses, _moved_apart(ends), strict=True)]


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


class Fortune(NamedTuple):
    """A player's luck and skill over a game, in hits.

    Attributes:
        came: what became of the player, such as ``won``.
        luck: hits less the expected ones.
        expected: hits that its shots promised.
        skill: those as a share of the hits that the best shots promised.
    """

    player: str
    came: str
    luck: float
    hits: int
    expected: float
    skill: float

    @property
    def best(self) -> float:
        """Hits that the best shots promised."""
        return self.expected / self.skill if self.skill else self.expected


class Luck(NamedTuple):
    """What is said of luck and skill in a game: a picture, what it means, and lines for who wants to know more."""

    fortunes: Sequence[Fortune]
    meaning: str
    lines: Sequence[str]

    @property
    def most(self) -> float:
        """The longest bar of the picture, in hits."""
        return max(1.0, *(max(one.best, one.hits) for one in self.fortunes))
