"""What follows from an input, as values: the steps return them, and the service alone carries them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.codec.header import write_header
from salvo.net.inbound import Inbound
from salvo_server.core.authenticator import Proof
from salvo_server.core.journal import Batch, GameOpened, Record, StepTaken
from salvo_server.core.table import Step, Table


class News(NamedTuple):
    """What listeners hear of a step: the input, None for the opening of a table, and the announcements."""

    table: str
    at: int
    command: m.Input | None
    announcements: Sequence[m.Announcement]


#: A record is committed; then a publication leaves, an inbound message is acknowledged, and listeners hear the news.
Effect = Record | Publication | Inbound | News


class Ledger:
    """The numbers of games and steps, on from what the journal has.

    Attributes:
        last_step: the number of the latest step of any table.
        games: the numbers of the games in play, by table.
    """

    def __init__(self, last_game: int, last_step: int) -> None:
        self.last_step = last_step
        self.games: dict[str, int] = {}
        self._last_game = last_game

    def open_game(self, table: Table, at: int) -> GameOpened:
        """Number a table's next game."""
        self._last_game += 1
        self.games[table.name] = self._last_game
        return GameOpened(self._last_game, table.name, table.referee.number, at, write_header(table.header))

    def take(self, step: Step, proof: Proof | None) -> StepTaken:
        """Number a step."""
        self.last_step += 1
        return StepTaken(self.last_step, self.games[step.table], step.at, step.text, step.check, proof)


@dataclass(slots=True)
class Pending:
    """Effects that wait to be carried out: those of this round, and all since journal or broker are away."""

    batch: Batch = field(default_factory=Batch)
    publications: list[Publication] = field(default_factory=list)
    receipts: list[Inbound] = field(default_factory=list)
    news: list[News] = field(default_factory=list)

    def add(self, effects: Iterable[Effect]) -> None:
        """Take effects, each kind in its order."""
        for effect in effects:
            if type(effect) is Publication:
                self.publications.append(effect)
            elif type(effect) is StepTaken:
                self.batch.steps.append(effect)
            elif type(effect) is News:
                self.news.append(effect)
            elif type(effect) is Inbound:
                self.receipts.append(effect)
            else:
                self.batch.add(effect)  # type: ignore[arg-type]
