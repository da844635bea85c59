"""The standings of a league, as its host reports them (SALVO-LEAGUE-1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from salvo import messages as m
from salvo.codec.announcements import LEAGUE, MAX_REPORT_BYTES
from salvo_lab.series.schedule import Fixture
from salvo_league.league_file import LeagueFormat
from salvo_league.league_state import LeagueState

#: Teams of the table.
MOST_ROWS: Final = 64
#: How much of a match that is on can have been played.
_NEARLY: Final = 0.9


def league_shown(
    book: LeagueState,
    host: str,
    rules: str,
    epoch: float,
    here: Sequence[str] = (),
    *,
    begins: int = 0,
    over: bool,
) -> m.LeagueShown:
    """Return the round, its matches and the table; so many matches as a message has room for.

    Args:
        host: who runs it.
        rules: the ruleset of its tables; empty until it is known.
        epoch: seconds since 1970.
        here: the teams that have come, who are the table before the first round.
        begins: when the first round begins at the latest, epoch ms; 0 while nobody knows.
    """
    rows, matches = book.rows(), _matches(book)
    tables = {line.assigned: place for place, line in book.assigned.items()}
    shown = m.LeagueShown(
        by=host,
        name=book.league.name,
        round=book.round,
        rounds=book.league.rounds,
        over=over,
        teams=len(rows) if book.round else len(here),
        left=None if over else _seconds_left(book, rules, matches, epoch),
        matches=tuple(
            m.LeagueMatch(
                match.teams,
                tables.get(match.number),
                book.results[match.number].places if match.number in book.results else (),
            )
            for match in matches
        ),
        rows=tuple(
            m.LeagueStanding(row.place, row.name, round(1000 * row.points), row.games, row.wins)
            for row in rows[:MOST_ROWS]
        )
        if book.round
        else tuple(m.LeagueStanding(1, team, 0, 0, 0) for team in here[:MOST_ROWS]),
        begins=0 if book.round else begins,
    )
    while shown.matches and len(LEAGUE.write(shown)) > MAX_REPORT_BYTES:
        shown = replace(shown, matches=shown.matches[:-1])
    return shown


def _matches(book: LeagueState) -> list[Fixture]:
    """Return those of the present round; on a ladder, where each is drawn alone, those that are not over."""
    if book.league.format is LeagueFormat.LADDER:
        return book.open_matches
    return [match for match in book.earlier if match.round == book.round]


def _seconds_left(book: LeagueState, rules: str, matches: Sequence[Fixture], epoch: float) -> int | None:
    """Return how long the rest takes if all teams answer at once, in whole minutes; None where nobody knows."""
    league, teams = book.league, max(2, len(book.teams))
    whole = league.seconds(teams, rules, len(book.plain))
    if whole is None or book.began is None:
        return None
    if league.format is LeagueFormat.LADDER:
        left = book.began + whole - epoch
    else:
        rounds = league.rounds or math.ceil((teams - 1) / (min(league.table_size, teams) - 1))
        open_matches = {match.number for match in matches if len(match.teams) > 1} - book.results.keys()
        on = sum(line.assigned in open_matches for line in book.assigned.values())
        share = 1 / max(1, len(matches))
        done = max(0, book.round - 1) + share * (len(matches) - len(open_matches))
        by_time = (epoch - book.began) / whole * rounds  # moves while the games do that are on, however long they take
        left = whole * (1 - min(max(done, by_time), done + share * _NEARLY * on) / rounds)
    return 60 * math.ceil(max(0.0, left) / 60)
