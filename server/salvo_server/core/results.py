"""What a game came to, as the journal keeps it; the standings follow from such results and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from salvo import messages as m


class Result(NamedTuple):
    """How a game ended (SALVO-STAND-1).

    Attributes:
        table: empty for the default one.
        number: the game's, counted by table.
        at: when it ended, epoch ms.
        rules: the name of the ruleset.
        players: the figures and place of each, as they were announced.
        aborted: whether it ended without a winner.
        annulled_at: when a host annulled it, epoch ms; None while it stands.
        annulled_by: that host's name.
    """

    table: str
    number: int
    at: int
    rules: str
    players: tuple[m.PlayerStats, ...]
    aborted: bool
    annulled_at: int | None = None
    annulled_by: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the standings count it (SALVO-STAND-4)."""
        return not self.aborted and self.annulled_at is None


def when(result: Result) -> tuple[int, str, int]:
    """Return what results are put in order by, wherever they come from."""
    return result.at, result.table, result.number


def result_of(table: str, number: int, at: int, rules: str, said: Sequence[m.Announcement]) -> Result | None:
    """Return the result that a step announces; None if its game goes on."""
    won = next((each for each in said if isinstance(each, m.GameWon)), None)
    if won is None:
        return None
    players = tuple(each for each in said if isinstance(each, m.PlayerStats))
    return Result(table, number, at, rules, players, aborted=not (won.winner or won.tied))
