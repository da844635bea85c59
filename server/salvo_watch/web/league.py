"""How a league stands, as a page draws it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from salvo import messages as m
from salvo_display.web_page.badges import Badge, Badges
from salvo_server.game_lengths import TimeLeft


def league_picture(league: m.LeagueShown, badges: Badges) -> dict[str, Any]:
    """Return the round, its matches and the table, JSON-ready, each team with its badge."""
    names = {row.team for row in league.rows}.union(*(match.teams for match in league.matches))
    of = badges.of(names)
    return {
        "name": league.name,
        "round": league.round,
        "rounds": league.rounds,
        "over": league.over,
        "left": "" if not league.left else str(TimeLeft(league.left, league.left)),
        "matches": [
            {"table": match.table, "places": list(match.places), "teams": _named(match.teams, of)}
            for match in league.matches
        ],
        "rows": [
            {
                "place": row.place,
                "points": row.points / 1000,
                "games": row.games,
                "wins": row.wins,
                **_named([row.team], of)[0],
            }
            for row in league.rows
        ],
    }


def _named(teams: Iterable[str], badges: dict[str, Badge]) -> list[dict[str, Any]]:
    return [{"name": team, **badges[team]._asdict()} for team in teams]
