"""Who meets next: the tournament's rounds, with built-in bots where seats would stay empty, and the ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from salvo_lab.tournament.schedule import Match, meetings, mixed_round, swiss_round
from salvo_league.league_file import LeagueFormat
from salvo_league.league_record import Drawn
from salvo_league.league_state import LeagueState

#: Difference in rating that weighs as much as having waited longest of all.
RATING_SCALE: Final = 5.0
#: A meeting in one of a team's last games weighs as much as this difference in rating.
AGAIN: Final = 2.5
#: Games of a ladder in which somebody was met lately.
LATELY: Final = 3


def next_round(book: LeagueState, teams: Sequence[str]) -> Drawn | None:
    """Return the next round of these teams, which are in order of drawing; None when the league is over."""
    league, number = book.league, book.round + 1
    first = len(book.matches) + 1
    filling = fillers(book, len(teams))
    names = [*teams, *filling]
    earlier = book.earlier
    if len(filling) > 1:  # they sit apart, as if they had met more often than anybody
        earlier = [*earlier, *[Match(0, 0, tuple(filling))] * (1 + len(earlier))]
    if league.format is LeagueFormat.SWISS:
        if book.round >= (league.rounds or 0):
            return None
        every = book.points(names)
        points = {name: every[name] for name in names}
        matches = swiss_round(number, first, points, earlier, league.seed, league.table_size)
    else:
        if not unmet(book, teams):
            return None
        matches = mixed_round(number, first, names, earlier, league.seed, league.table_size)
    return Drawn(number, first, tuple(match.bots for match in matches))


def unmet(book: LeagueState, teams: Sequence[str]) -> bool:
    """Whether two of these teams have not met yet."""
    met = meetings(book.earlier)
    return any(not met[frozenset((a, b))] for at, a in enumerate(teams) for b in teams[:at])


def fillers(book: LeagueState, teams: int) -> list[str]:
    """Return the built-in bots that fill up the tables."""
    return list(book.league.fill)[: -teams % book.league.table_size] if book.filling else []


def next_on_ladder(book: LeagueState, since: Mapping[str, float]) -> Drawn:
    """Return a game of those who wait: who waits longest, with those who are nearest in rating.

    Who waits longest always plays, so nobody waits for more games to begin than there are others. Of the others, a
    smaller difference in rating counts for them, a longer wait does, and not to have been met lately.

    Args:
        since: when they began to wait, two or more.
    """
    ordered = sorted(since, key=lambda name: (since[name], name))
    first = ordered[0]
    longest = max(since.values()) - since[first]
    rating = {name: book.rating(name).mu for name in ordered}
    met = _met_lately(book, first)

    def distance(name: str) -> float:
        waited = (max(since.values()) - since[name]) / longest if longest else 0.0
        return abs(rating[name] - rating[first]) / RATING_SCALE + AGAIN / RATING_SCALE * met.count(name) - waited

    others = sorted(ordered[1:], key=distance)[: book.league.table_size - 1]
    filling = fillers(book, 1 + len(others))
    number = book.round + 1
    return Drawn(number, len(book.matches) + 1, ((first, *others, *filling),))


def _met_lately(book: LeagueState, team: str) -> list[str]:
    """Return whom a team has met in its last games, once for each."""
    own = [match.bots for match in book.matches.values() if team in match.bots][-LATELY:]
    return [name for bots in own for name in bots if name != team]
