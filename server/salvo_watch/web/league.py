"""The evening and the standings of a league, as a page draws them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from typing import Any, Final

from salvo import messages as m
from salvo.badges import Badge, Badges
from salvo.table_places import table_of
from salvo_server.spectators.game_lengths import TimeLeft
from salvo_watch.web.stage import LATEST_SECONDS

#: Phases that give results away, so that they wait for the tapes of their games.
_WITH_RESULTS: Final = (m.Phase.BETWEEN, m.Phase.FINAL)


class LeagueCourse:
    """How an evening came to be what it is, as far as it was seen.

    Attributes:
        since: since when its phase is on, epoch ms.
    """

    def __init__(self) -> None:
        self.since = 0
        self._league = ""
        self._phase: m.Phase | None = None
        self._ends: dict[int, dict[str, int]] = {}  # by round, the places at its end
        self._tables: dict[tuple[int, tuple[str, ...]], str] = {}  # by round and teams

    def receive(self, newest: m.EveningShown) -> None:
        """Note what is on now."""
        if newest.phase is not self._phase:
            self._phase, self.since = newest.phase, newest.at
        if newest.name != self._league:
            self._league, self._ends, self._tables = newest.name, {}, {}
        self._tables |= {(newest.round, each.teams): each.table for each in newest.matches if each.table is not None}
        places = {row.team: row.place for row in newest.rows}
        self._ends[newest.round] = places
        if not any(len(match.teams) > 1 and match.places for match in newest.matches):
            self._ends[newest.round - 1] = places  # the last results of a round may come with the next one

    def moves(self, league: m.EveningShown) -> dict[str, int]:
        """Return by how many places teams have moved up in the latest round that counts; those of whom it is known."""
        places = {row.team: row.place for row in league.rows}
        latest = league.round if any(match.places for match in league.matches) else league.round - 1
        before = self._ends.get(latest - 1, {}) if latest > 1 else {}
        return {team: before[team] - place for team, place in places.items() if team in before}

    def round_of(self, place: str, teams: Set[str]) -> int:
        """Return in which round teams met at a place, the latest one; 0 if it was not seen."""
        met = (
            number
            for (number, names), at in self._tables.items()
            if at in (place, table_of(place)) and set(names) == teams
        )
        return max(met, default=0)

    def without_results(self, shown: m.EveningShown, newest: m.EveningShown) -> m.EveningShown:
        """Return a league as it is now, but for results that are to be shown by tapes."""
        if newest.name != shown.name or shown.over:
            return shown
        told = {each.teams: each.places for each in shown.matches} if shown.round == newest.round else {}
        matches = tuple(
            each if each.places == told.get(each.teams, ()) else self._on(newest.round, each) for each in newest.matches
        )
        return replace(newest, over=False, matches=matches, teams=shown.teams, rows=shown.rows)

    def _on(self, number: int, match: m.LeagueMatch) -> m.LeagueMatch:
        """Return a match that has been played as it was before its result."""
        return replace(match, places=(), table=self._tables.get((number, match.teams)))


def evening_picture(
    shown: m.EveningShown, newest: m.EveningShown, course: LeagueCourse, badges: Badges, *, tapes: bool = True
) -> dict[str, Any]:
    """Return what is on, and the league's round, its matches and the table, JSON-ready, each team with its badge.

    Args:
        shown: as far as the tapes of its games have been shown.
        newest: as it is now.
        tapes: whether the games that are on will have tapes, for which the podium waits.
    """
    league = course.without_results(shown, newest)
    waits = league.matches != newest.matches or league.over != newest.over
    phase = newest.phase
    if waits and (phase in _WITH_RESULTS or (phase is m.Phase.ROUND and league.name != newest.name)):
        phase = m.Phase.ROUND if shown.phase is m.Phase.BETWEEN else shown.phase
    resumes = shown.phase_but_for_break if phase is m.Phase.BREAK else None
    return {
        "evening": {
            "phase": phase,
            "resumes": resumes,
            "silent": newest.silent,
            "since": course.since if phase is newest.phase else shown.at,
            "missing": list(newest.missing),
            "begins": newest.begins,
            "waits": waits and all(match.places or len(match.teams) < 2 for match in newest.matches),
            "late": _late(newest),
        },
        "league": _league(league, newest, course.moves(shown), badges, tapes=tapes) if shown.name else None,
    }


def _late(newest: m.EveningShown) -> list[str]:
    """Return the teams that have come after the round that is on was drawn."""
    if not newest.league_runs or not newest.round:
        return []
    playing = {row.team for row in newest.rows}.union(newest.withdrawn, *(match.teams for match in newest.matches))
    return sorted(newest.badges.keys() - playing)


def podium_in(league: m.EveningShown, *, tapes: bool) -> str:
    """Return how long it is until the podium, the tapes of the last round's games included; empty if nobody knows."""
    last = league.rounds is not None and league.round >= league.rounds
    left = (league.left or 0) + (LATEST_SECONDS if tapes or not last else 0)
    return str(TimeLeft(left, left)).removesuffix(" left") if league.left else ""


def _league(
    league: m.EveningShown, newest: m.EveningShown, moves: Mapping[str, int], badges: Badges, *, tapes: bool
) -> dict[str, Any]:
    names = {row.team for row in league.rows}.union(*(match.teams for match in league.matches))
    of = badges.of(names)
    played = {match.teams for match in newest.matches if match.places}
    return {
        "name": league.name,
        "round": league.round,
        "rounds": league.rounds,
        "over": league.over,
        "tapes": tapes,
        "behind": league.name == newest.name and league.rows != newest.rows,
        "left": podium_in(league, tapes=tapes),
        "matches": [
            {
                "table": match.table,
                "places": list(match.places),
                "played": match.teams in played,
                "teams": _named(match.teams, of),
            }
            for match in league.matches
        ],
        "rows": [
            {
                "place": row.place,
                "points": row.points / 1000,
                "games": row.games,
                "wins": row.wins,
                "moved": moves.get(row.team),
                **_named([row.team], of)[0],
            }
            for row in league.rows
        ],
    }


def _named(teams: Iterable[str], badges: dict[str, Badge]) -> list[dict[str, Any]]:
    return [{"name": team, **badges[team]._asdict()} for team in teams]
