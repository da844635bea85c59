"""The numbers of games and steps in the journal, and the records that have them."""

from __future__ import annotations

from salvo.codec.transcript import write_header
from salvo_server.core.authenticator import Proof
from salvo_server.core.journal import GameClosed, GameOpened, KeyLearned, StepTaken, TeamAdmitted
from salvo_server.core.keyring import Learned
from salvo_server.core.table import Step, Table


class Ledger:
    """Numbers what is recorded, on from what the journal has.

    Attributes:
        last_step: the number of the latest step of any table.
    """

    def __init__(self, last_game: int, last_step: int) -> None:
        self.last_step = last_step
        self._last_game = last_game
        self._games: dict[str, int] = {}

    def resume(self, table: str, game: int) -> None:
        """Go on with a table's game that the journal has under this number."""
        self._games[table] = game

    def open_game(self, table: Table, at: int) -> GameOpened:
        """Number a table's next game."""
        self._last_game += 1
        self._games[table.name] = self._last_game
        return GameOpened(self._last_game, table.name, table.referee.number, at, write_header(table.header))

    def close_game(self, table: str) -> GameClosed:
        """Record that a table's game is over."""
        return GameClosed(self._games[table])

    def take(self, step: Step, proof: Proof | None) -> StepTaken:
        """Number a step."""
        self.last_step += 1
        return StepTaken(self.last_step, self._games[step.table], step.at, step.text, step.check, proof)

    def admit(self, table: str, name: str, secret: str) -> TeamAdmitted:
        """Record a team's secret."""
        return TeamAdmitted(self._games[table], name, secret)

    def learn(self, learned: Learned) -> KeyLearned:
        """Record a proven salt."""
        return KeyLearned(self._games[learned.table], learned.name, learned.salt, learned.key)
