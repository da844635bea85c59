"""Boards of ``salvo solo`` on other hosts, where they are cleared as on this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from salvo.errors import BotError
from salvo.rules import RuleBook
from salvo_lab.clearers import Clearers
from salvo_lab.cluster import Carrying, Shipped, Work, ship
from salvo_lab.solo import Cleared


@dataclass(frozen=True, slots=True)
class Boards(Work[int, Cleared]):
    """Clears the boards of these numbers."""

    bot: Shipped
    seed: str
    book: RuleBook

    @classmethod
    def shipped(cls, bot: str, seed: str, book: RuleBook) -> Boards:
        """Pack the bot.

        Raises:
            BotError: as :func:`salvo_lab.cluster.ship`.
        """
        return cls(ship([bot])[0], seed, book)

    @contextmanager
    def begin(self, jobs: int) -> Iterator[Carrying[int, Cleared]]:
        """Start processes, which clear block after block."""
        with Clearers(self.bot.unpacked(), self.seed, self.book, jobs) as clearers:

            def clear(boards: Sequence[int], look: Callable[[], None]) -> list[Cleared]:
                try:
                    return list(clearers.clear(boards, look))
                except BotError as error:
                    text, trace = self.bot.seen_there(error.text), self.bot.seen_there(error.trace)
                    raise BotError(error.code, text, trace) from None

            yield clear
