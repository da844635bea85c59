"""`/game/league` after a league: its final table stands until the first table plays a game of its own (SALVO-LEAGUE-1).

A league's host leaves it there for latecomers. A game without a host's settings belongs to no league. What was left
while an earlier server ran is cleared by :mod:`salvo_server.core.retained_sync`.
"""

from __future__ import annotations

from salvo import messages as m
from salvo import topics
from salvo.codec.announcements import Publication
from salvo.messages import State
from salvo.table_step import Step
from salvo_game.table import Follower, Table


class EndedLeague(Follower):
    """Clears what a league has left."""

    def __init__(self, table: str) -> None:
        """Follow a table.

        Args:
            table: whose topic has the league.
        """
        super().__init__()
        self._table = table
        self._left = False

    def follow(self, table: Table, step: Step) -> list[Publication]:
        """Take in a step of a table; clear the topic with the first game that no host has set."""
        if table.name != self._table:
            return []
        if table.header.limits.by_host:
            self._left = True
        elif self._left and m.StateChanged(State.TURN) in step.announcements:
            self._left = False
            return [Publication(topics.LEAGUE.of(self._table), b"", True)]
        return []
