"""An HTML page of a series: one file that needs nothing else, with plots as SVG."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from salvo.badges import Badges
from salvo.table_places import place_name
from salvo_display.standings_page import page_style
from salvo_display.web_page import emblems
from salvo_display.web_page.rendering import policy, render
from salvo_game.standings.points_and_ratings import Rating
from salvo_lab.series.lines import SeriesKind, SeriesResult
from salvo_lab.series.standings import SeriesStandings, command_of, points

#: Of a plot, in SVG units: the space for names to its left, the plot, and the height of a line.
_NAMES: Final = 180
_WIDTH: Final = 560
_LINE: Final = 26
#: Height of the plot of ratings by match, and how many bots are in it: more lines cannot be told apart.
_COURSE: Final = 220
_BEST: Final = 5
#: Of a plot of one bot alone.
_SMALL_WIDTH: Final = 150
_SMALL_HEIGHT: Final = 46
#: Points of a line: more are not seen.
_MAX_POINTS: Final = 300
_FEW_POINTS: Final = 60
#: Between two names at the right of a plot.
_APART: Final = 21
#: Of how many each has a column in the open.
_FEW_BOTS: Final = 8
#: Bots on the podium: of a tie of all the table tells.
_MAX_PODIUM: Final = 5
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


class Met(NamedTuple):
    """A match, for its line.

    Attributes:
        sides: names and their points in it, the best first.
        best: the most points.
        games: played so far.
    """

    sides: list[tuple[str, float]]
    best: float
    games: int


class Close(NamedTuple):
    """The closest game: who came first and second in it, and by how many hits."""

    game: SeriesResult
    first: str
    second: str
    hits: tuple[int, int]


def page(came_to: SeriesStandings) -> str:
    """Return the page; without the seed as long as games are left, since it reveals their fleets."""
    series, rows = came_to.series, came_to.rows
    names = [*series.names, *(row.name for row in rows), *(name for match in came_to.matches for name in match.teams)]
    badges = Badges(came_to.badges).of(names)
    ends = [end for row in rows for end in (row.rating.low, row.rating.high)] or [Rating().low, Rating().high]
    ratings = [mu for course in came_to.course.values() for mu in course] or [Rating().mu]
    best = [mu for row in rows[:_BEST] for mu in came_to.course[row.name]] or [Rating().mu]
    upwards = _Scale(min(best) - 1, max(best) + 1, _COURSE)
    little = _Scale(min(ratings) - 1, max(ratings) + 1, _SMALL_HEIGHT)
    columns, table = _table(came_to)
    return _rendered(
        columns=columns,
        table=table,
        came_to=came_to,
        series=series,
        is_local=series.kind is SeriesKind.TOURNAMENT,
        rows=rows,
        badges=badges,
        emblems=emblems(badges.values()),
        podium=[(row.place, row.name, f"{row.points:.4g} points") for row in rows if row.place <= 3 and row.games],
        most_on_podium=_MAX_PODIUM,
        closest=_closest(came_to.games),
        rounds=_rounds(came_to),
        names=_NAMES,
        width=_WIDTH,
        line=_LINE,
        course_height=_COURSE,
        few=len(rows) <= _FEW_BOTS,
        across=_Scale(min(ends), max(ends), _WIDTH),
        upwards=upwards,
        courses=[
            (row, _polyline(came_to.course[row.name], upwards, _WIDTH, _MAX_POINTS), end)
            for row, end in zip(rows[:_BEST], _labels([upwards(row.rating.mu) for row in rows[:_BEST]]), strict=True)
        ],
        small=(_SMALL_WIDTH, _SMALL_HEIGHT, round(_SMALL_HEIGHT - little(25), 1)),
        one_by_one=[(row, _polyline(came_to.course[row.name], little, _SMALL_WIDTH, _FEW_POINTS)) for row in rows],
        command=lambda game: command_of(game, series),
        place_name=place_name,
        games=came_to.games[:_MAX_GAMES],
    )


def _table(came_to: SeriesStandings) -> tuple[list[tuple[str, str]], list[tuple[int, str, list[str | int]]]]:
    """Return the columns of the table, and its rows; what nobody has is not a column."""
    mishaps = "strikes" if came_to.series.kind is SeriesKind.TOURNAMENT else "missed"
    attributes = {"points": "", "games": "less", "wins": "", "ties": "", "losses": "", mishaps: "strike", "rating": ""}
    told = {
        name: kind
        for name, kind in attributes.items()
        if name not in ("ties", mishaps) or any(getattr(row, name) for row in came_to.rows)
    }
    heads = {"wins": "won", "ties": "tied", "losses": "lost"}
    worded = {"points": lambda points: f"{points:.4g}", "rating": lambda rating: f"{rating.mu:.2f}"}
    rows = [(row.place, row.name, [worded.get(name, int)(getattr(row, name)) for name in told]) for row in came_to.rows]
    return [(heads.get(name, name), kind) for name, kind in told.items()], rows


def _closest(games: Iterable[SeriesResult]) -> Close | None:
    """Return the game whose first two were apart by the fewest hits, of several the longest; none with a mishap."""
    close = [_close(game) for game in games if game.was_fought and len(game.teams) > 1]
    return min(
        close, key=lambda candidate: (abs(candidate.hits[0] - candidate.hits[1]), -candidate.game.turns), default=None
    )


def _close(game: SeriesResult) -> Close:
    first, second = sorted(range(len(game.teams)), key=lambda seat: game.places[seat])[:2]
    return Close(game, game.teams[first], game.teams[second], (game.hits[first], game.hits[second]))


def _rounds(came_to: SeriesStandings) -> list[tuple[int, list[Met]]]:
    """Return the matches of each round, the latest round first; nothing where there is but one."""
    played: dict[int, list[SeriesResult]] = {}
    for game in came_to.games:
        played.setdefault(game.result, []).append(game)
    rounds: dict[int, list[Met]] = {}
    for match in came_to.matches:
        got = points(match.teams, [match], played.get(match.number, ()), games=came_to.series.games)
        sides = sorted(got.items(), key=lambda side: -side[1])
        met = Met(sides, sides[0][1], len(played.get(match.number, ())))
        rounds.setdefault(match.round, []).append(met)
    return sorted(rounds.items(), reverse=True) if len(rounds) > 1 else []


def _labels(heights: list[float]) -> list[float]:
    """Return where to write names that belong to these heights, which fall, so that none covers another."""
    placed: list[float] = []
    for height in heights:
        placed.append(min(height, placed[-1] - _APART) if placed else height)
    up = max(0.0, -min(placed, default=0.0))
    return [height + up for height in placed]


def _rendered(**given: object) -> str:
    style = page_style()
    return render("salvo_lab/series/page.html.j2", style=style, policy=policy(style), **given)


def _polyline(course: list[float], upwards: _Scale, width: int, most: int) -> str:
    """Return the points of a line from the first match to the last, thinned to what can be seen."""
    last = len(course) - 1
    step = max(1, last // most)
    shown = sorted({*range(0, last + 1, step), last})
    return " ".join(
        f"{round(width * index / max(1, last), 1)},{round(upwards.length - upwards(course[index]), 1)}"
        for index in shown
    )
