"""One step of a table: an input and all that followed; what servers record and replays show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from salvo import messages as m
from salvo.codec.announcements import Publication


class Step(NamedTuple):
    """One input and all that followed from it.

    Attributes:
        game: the number of the game that the input belongs to.
        recorded: whether it changed anything, so that it belongs to the game's record.
        text: the input as JSON; empty when it is not recorded.
        check: the chain's value after this step.
    """

    table: str
    game: int
    at: int
    command: m.Input
    recorded: bool
    text: str
    announcements: Sequence[m.Announcement]
    publications: Sequence[Publication]
    check: bytes
