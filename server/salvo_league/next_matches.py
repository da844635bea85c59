"""Who meets next in a league: rounds, with built-in bots where seats would stay empty, or the game of a ladder."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from salvo_lab.series.lines import Drawn
from salvo_lab.series.schedule import Fixture, ladder_match, meetings, mixed_round, swiss_round
from salvo_league.league_file import LeagueFormat
from salvo_league.league_state import LeagueState


def next_round(book: LeagueState, teams: Sequence[str]) -> Drawn | None:
    """Return the next round of these teams, which are in order of drawing; None when the league is over."""
    league, number = book.league, book.round + 1
    first = len(book.matches) + 1
    filling = fillers(book, len(teams))
    names = [*teams, *filling]
    earlier = book.earlier
    if len(filling) > 1:  # they sit apart, as if they had met more often than anybody
        earlier = [*earlier, *[Fixture(0, 0, tuple(filling))] * (1 + len(earlier))]
    if league.format is LeagueFormat.SWISS:
        if book.round >= (league.rounds or 0):
            return None
        every = book.points(names)
        points = {name: every[name] for name in names}
        matches = swiss_round(
            number, first, points, earlier, league.seed, league.table_size, together=_crowding(book, names)
        )
    else:
        if not unmet(book, teams):
            return None
        matches = mixed_round(number, first, names, earlier, league.seed, league.table_size)
    return Drawn(number, first, tuple(match.teams for match in matches))


def unmet(book: LeagueState, teams: Sequence[str]) -> bool:
    """Whether two of these teams have not met yet."""
    met = meetings(book.earlier)
    return any(not met[frozenset((a, b))] for at, a in enumerate(teams) for b in teams[:at])


def fillers(book: LeagueState, teams: int) -> list[str]:
    """Return the built-in bots that fill up the tables."""
    return list(book.league.fill)[: -teams % book.league.table_size] if book.filling else []


def _crowding(book: LeagueState, names: Sequence[str]) -> frozenset[str]:
    """Return the teams that follow no seat, if a round might take longer for them: they share the default table."""
    plain, games = book.plain.intersection(names), math.ceil(len(names) / book.league.table_size)
    further = [table for table in book.league.tables if table]
    return frozenset(plain) if further and len(plain) > math.ceil(games / len(further)) else frozenset()


def next_on_ladder(book: LeagueState, since: Mapping[str, float], together: Collection[str] = ()) -> Drawn:
    """Return a game of those who wait.

    Args:
        since: when they began to wait, two or more.
        together: those that share a table; the game is of one of them at least, and of others of them first.
    """
    rating = {name: book.rating(name).mu for name in since}
    teams = ladder_match(since, rating, book.earlier, book.league.table_size, together)
    return Drawn(book.round + 1, len(book.matches) + 1, ((*teams, *fillers(book, len(teams))),))
