"""What follows from an input, as values: the steps return them, and the service alone carries them out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.net.inbound import Inbound
from salvo_server.core.journal import Batch, Record


class News(NamedTuple):
    """What listeners hear of a step: the input, None for the opening of a table, and the announcements."""

    table: str
    at: int
    command: m.Input | None
    announcements: Sequence[m.Announcement]


#: A record is committed; then a publication leaves, an inbound message is acknowledged, and listeners hear the news.
Effect = Record | Publication | Inbound | News


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
            match effect:
                case Publication():
                    self.publications.append(effect)
                case Inbound():
                    self.receipts.append(effect)
                case News():
                    self.news.append(effect)
                case _:
                    self.batch.add(effect)
