"""An HTML page of a contest's standings: one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from salvo.badges import Badges
from salvo_display.replay_text import when as time_of
from salvo_display.web_page import emblems, team_style
from salvo_display.web_page.rendering import policy, render
from salvo_game.standings.chronicle import Standings

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
        across=rows[:_MOST_ACROSS],
        meetings=standings.meetings,
        few=len(rows) <= _FEW,
        podium=podium if len(podium) <= _MAX_PODIUM else [],
        games=standings.results[: -_MAX_GAMES - 1 : -1],
        time_of=time_of,
    )


def page_style() -> str:
    """Return the style of pages with standings."""
    return files(__package__).joinpath("page.css").read_text(encoding="utf-8") + team_style()
