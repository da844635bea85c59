"""Results of an evening, and the times of it."""

from __future__ import annotations

from salvo import messages as m
from salvo_game.journal_interface import Result, ResultAnnulled

NOON = 1_760_000_000_000
HOUR = 3_600_000


def result(number: int, *order: str, at: int | None = None, table: str = "", aborted: bool = False) -> Result:
    """Return a game in which the players came in this order."""
    players = tuple(m.PlayerStats(name, 20, 20 - place, 1, 5, place) for place, name in enumerate(order, start=1))
    return Result(table, number, NOON + number if at is None else at, "salvo", players, aborted)


def annulled(number: int) -> ResultAnnulled:
    return ResultAnnulled("", number, "desk", NOON + HOUR)
