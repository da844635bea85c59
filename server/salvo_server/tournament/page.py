"""An HTML page of a tournament: one file that needs nothing else, with plots as SVG; or the first page of its site."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, Protocol

from salvo_server.spectate.page.rendering import policy, render
from salvo_server.storage.atomic_file import replace_file
from salvo_server.tournament.file import TournamentError
from salvo_server.tournament.games import Played
from salvo_server.tournament.standings import Standings, command_of

#: Of a plot, in SVG units: the space for names to its left, the plot, and the height of a line.
_NAMES: Final = 180
_WIDTH: Final = 560
_LINE: Final = 26
#: Height of the plot of ratings by match.
_COURSE: Final = 240
#: Points of a line in it: more are not seen.
_MAX_POINTS: Final = 300
#: Colours that people tell apart, also those who don't see red and green (Okabe and Ito).
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "currentColor")
#: Games on the page, a megabyte of them. --json has all.
_MAX_GAMES: Final = 5000


@dataclass(frozen=True, slots=True)
class _Scale:
    """A linear axis from values to SVG units."""

    low: float
    high: float
    length: float

    def __call__(self, value: float) -> float:
        return round((value - self.low) / (self.high - self.low) * self.length, 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Return where to write which values: whole multiples of 1, 2 or 5."""
        step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000) if (self.high - self.low) / step <= 10)
        first = -int(-self.low // step) * step
        return [(self(value), f"{value}") for value in range(first, int(self.high) + 1, step)]


class Links(Protocol):
    """Where the first page of a site leads.

    Attributes:
        odd: games in which something went wrong, those that are shown.
        odd_in_all: how many there are.
    """

    odd: list[Played]
    odd_in_all: int

    def bot(self, bot: str, against: str = "") -> str:
        """Return the address of a bot's games."""

    def game(self, game: Played) -> str:
        """Return the address of a game."""


def page(came_to: Standings, site: Links | None = None) -> str:
    """Return the page; without the seed as long as games are left, since it reveals their fleets.

    Args:
        site: whose first page it is; it has links then in place of all games.
    """
    rows = came_to.rows
    colour = {row.bot: _COLOURS[place % len(_COLOURS)] for place, row in enumerate(rows)}
    dash = {
        row.bot: "" if place < len(_COLOURS) else f"{2 + 3 * (place // len(_COLOURS))} 3"
        for place, row in enumerate(rows)
    }
    ends = [end for row in rows for end in (row.rating.low, row.rating.high)]
    across = _Scale(min(ends), max(ends), _WIDTH)
    told = [mu for course in came_to.course.values() for mu in course]
    upwards = _Scale(min(told) - 1, max(told) + 1, _COURSE)
    return rendered(
        "page.html.j2",
        came_to=came_to,
        given=came_to.tournament,
        rows=rows,
        names=_NAMES,
        width=_WIDTH,
        line=_LINE,
        course_height=_COURSE,
        colour=colour,
        dash=dash,
        across=across,
        upwards=upwards,
        courses={bot: _polyline(course, upwards) for bot, course in came_to.course.items()},
        share=_share,
        command=lambda game: command_of(game, came_to.tournament),
        games=came_to.games[:_MAX_GAMES],
        site=site,
    )


def rendered(template: str, **said: object) -> str:
    """Return a page made of a template, with the style of all of them."""
    style = files("salvo_server.tournament").joinpath("page.css").read_text(encoding="utf-8")
    return render(f"tournament/{template}", style=style, policy=policy(style), **said)


def _polyline(course: list[float], upwards: _Scale) -> str:
    """Return the points of a line from the first match to the last, thinned to what can be seen."""
    last = len(course) - 1
    step = max(1, last // _MAX_POINTS)
    shown = sorted({*range(0, last + 1, step), last})
    return " ".join(
        f"{round(_WIDTH * index / max(1, last), 1)},{round(_COURSE - upwards(course[index]), 1)}" for index in shown
    )


def _share(points: float, games: int) -> str:
    """Return the class of a cell of the cross table: none at half of the points, blue above, orange below."""
    lean = round(5 * (2 * points / games - 1))
    return f"{'w' if lean > 0 else 'l'}{abs(lean)}" if lean else "even"


def write_page(came_to: Standings, path: Path) -> None:
    """Write the page; a reader never sees half of it.

    Raises:
        TournamentError: ``bad_results``: it cannot be written.
    """
    write_whole(path, page(came_to), "name another file with --html")


def write_whole(path: Path, text: str, cure: str) -> None:
    """Write a file; a reader never sees half of it.

    Raises:
        TournamentError: ``bad_results``: it cannot be written.
    """
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise TournamentError("bad_results", f"{path}: {error.strerror}; {cure}") from None
