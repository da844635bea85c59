"""With what the tables open their games: rules, limits, seed, and who signs the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from salvo import messages as m
from salvo.codec.header import Header, read_header
from salvo.errors import WireError
from salvo.rules import RuleBook
from salvo_server.core.journal import SavedGame
from salvo_server.core.log import Signer, TableLog
from salvo_server.core.referee import Referee


@dataclass(frozen=True, slots=True)
class Openings:
    """The operator's settings for every next game.

    Attributes:
        limits: by table.
        seed: decides every draw, unless the draw is fair; then a fresh secret of every game does.
        signer: None for a server without an identity, whose games have no log.
    """

    book: RuleBook
    limits: Mapping[str, m.Limits]
    draw: m.Draw
    seed: int | str
    fresh_secret: Callable[[], bytes]
    signer: Signer | None

    def set_table(self, name: str, former: SavedGame | None) -> Referee:
        """Return the referee of a table's first game, which follows the last one of the journal.

        A game in which nothing has happened yet is opened, and committed to, as it was: with its secret, and with what
        a host has set for it (SALVO-HOST-7).
        """
        number, seed, limits = 1, self._next_seed(), self.limits[name]
        if former is not None:
            number = former.opened.number + bool(former.steps)
        if former is not None and not former.steps:
            with suppress(WireError):
                header = read_header(former.opened.header)
                if self.draw is header.draw is m.Draw.FAIR:
                    seed = header.seed
                if header.limits.by_host:
                    limits = header.limits
        return Referee(seed, name, self.book, limits, number, self.draw)

    def configure(self, referee: Referee) -> None:
        """Set with what a table opens its next game."""
        referee.configure(self._next_seed(), self.limits[referee.table], self.draw, self.book)

    def log(self, header: Header) -> TableLog | None:
        """Return the log of a game, which begins with this header."""
        return None if self.signer is None else TableLog(header, self.signer)

    def _next_seed(self) -> int | str:
        return self.fresh_secret().hex() if self.draw is m.Draw.FAIR else self.seed
