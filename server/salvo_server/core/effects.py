"""The effects of an input: what is recorded, published, acknowledged and reported, in this order.

The steps of the core return effects, add them up and carry out none; :class:`salvo_server.service.Service` alone does,
in ``_settle``. So what a step decides is known before anything of it has left the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.net.inbound import Inbound
from salvo_game.journal_interface import Record


class StepNews(NamedTuple):
    """What listeners receive of a step: the input, None for the opening of a table, and the announcements."""

    table: str
    at: int
    command: m.Input | None
    announcements: Sequence[m.Announcement]


@dataclass(slots=True)
class Effects:
    """The effects of one input, or of all that wait to be carried out.

    Attributes:
        records: committed to the journal, all at once and before all else.
        publications: published, in this order.
        receipts: acknowledged to the broker.
        news: reported to listeners.
    """

    records: list[Record] = field(default_factory=list)
    publications: list[Publication] = field(default_factory=list)
    receipts: list[Inbound] = field(default_factory=list)
    news: list[StepNews] = field(default_factory=list)

    def __iadd__(self, later: Effects) -> Effects:
        """Add what follows from a later input; the order within each kind stays."""
        self.records += later.records
        self.publications += later.publications
        self.receipts += later.receipts
        self.news += later.news
        return self
