"""What one game of a table is played by."""

from __future__ import annotations

from dataclasses import dataclass, field

from salvo import messages as m
from salvo.messages import Limits
from salvo.rules import RuleBook


@dataclass(frozen=True, slots=True)
class Terms:
    """What is settled when a lobby opens, and holds to the end of its result (SALVO-BACK-6).

    Attributes:
        table: its name; empty for the default one.
        number: the running number of the game, from 1.
        seed: what all draws of the game come from; for a fair draw a secret until the game is over.
    """

    table: str
    number: int
    seed: int | str = field(repr=False)
    draw: m.Draw
    book: RuleBook
    limits: Limits

    @property
    def rules(self) -> m.RulesAnnounced:
        """What ``/game/rules`` says."""
        limits = self.limits
        seconds = (limits.placement_ms // 1000, limits.turn_ms // 1000, limits.over_ms // 1000)
        bank = [None if each is None else each // 1000 for each in (limits.bank_ms, limits.increment_ms)]
        return m.RulesAnnounced(self.book, self.table, *seconds, limits.empty_turns, *bank)
