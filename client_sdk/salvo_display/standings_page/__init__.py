"""An HTML page of a contest's standings: one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from salvo.badges import Badges
from salvo_display.replay_text import when as time_of
from salvo_display.web_page import emblems, team_style, text_of
from salvo_display.web_page.rendering import policy, render
from salvo_game.standings.chronicle import Standings
from salvo_game.standings.points_and_ratings import Score

#: Teams of whom each has a column in the open, and of whom there is one at all.
_FEW: Final = 8
_MOST_ACROSS: Final = 40
#: Teams on the podium: of a tie of all the table tells.
_MAX_PODIUM: Final = 5
#: Games on the page, the latest; ``--json`` has all.
_MAX_GAMES: Final = 2000


def page(standings: Standings, title: str, given: Mapping[str, int] | None = None) -> str:
    """Return the page.

    Args:
        given: the badges that teams were given, as numbers.
    """
    rows, style = standings.ranked(), page_style()
    badges = Badges(given).of(row.name for row in rows)
    ties = [("tied", "")] if any(row.ties for row in rows) else []
    columns = [("points", ""), ("games", "less"), ("won", ""), *ties, ("lost", ""), ("hits of shots", "less")]
    columns += [("opponents' points", "less"), ("rating", ""), ("95%", "less")]
    podium = [(row.place, row.name, f"{round(row.points, 2):g} points") for row in rows if row.place <= 3]
    return render(
        "salvo_display/standings_page/page.html.j2",
        title=title,
        style=style,
        policy=policy(style),
        badges=badges,
        emblems=emblems(badges.values()),
        standings=standings,
        rows=rows,
        columns=columns,
        table=[(row.place, row.name, _figures(row, ties=bool(ties))) for row in rows],
        across=rows[:_MOST_ACROSS],
        meetings=standings.meetings,
        few=len(rows) <= _FEW,
        podium=podium if len(podium) <= _MAX_PODIUM else [],
        games=standings.results[: -_MAX_GAMES - 1 : -1],
        time_of=time_of,
    )


def _figures(row: Score, *, ties: bool) -> list[object]:
    rating = row.rating
    return [
        *(f"{round(row.points, 2):g}", row.games, row.wins, *([row.ties] if ties else []), row.losses),
        *(f"{row.hits} of {row.shots}", f"{round(row.opposition, 2):.10g}"),
        *(f"{rating.mu:.2f}", f"{rating.low:.2f}..{rating.high:.2f}"),
    ]


def page_style() -> str:
    """Return the style of pages with standings."""
    return team_style() + text_of("page.css", __package__)
