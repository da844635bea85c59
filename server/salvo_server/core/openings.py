"""With what the tables open their games: rules, limits, seed, and who signs the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from salvo import messages as m
from salvo.codec.header import Header, read_header
from salvo.errors import WireError
from salvo.messages import Limits
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
    limits: Mapping[str, Limits]
    draw: m.Draw
    seed: int | str
    fresh_secret: Callable[[], bytes]
    signer: Signer | None

    def set_table(self, name: str, former: SavedGame | None) -> Referee:
        """Return the referee of a table's first game, which follows the last one of the journal."""
        number, seed, limits = 1, self._next_seed(), self.limits[name]
        if former is not None:
            number = former.opened.number + bool(former.steps)
            seed = self._opened_seed(former) or seed
            limits = self._limits_by_host(former) or limits
        return Referee(seed, name, self.book, limits, number, self.draw)

    def configure(self, referee: Referee) -> None:
        """Set with what a table opens its next game."""
        referee.configure(self._next_seed(), self.limits[referee.table], self.draw, self.book)

    def log(self, header: Header) -> TableLog | None:
        """Return the log of a game, which begins with this header."""
        return None if self.signer is None else TableLog(header, self.signer)

    def _next_seed(self) -> int | str:
        return self.fresh_secret().hex() if self.draw is m.Draw.FAIR else self.seed

    def _opened_seed(self, game: SavedGame) -> str:
        """Return the secret of a game in which nothing has happened yet: it is opened, and committed to, as it was."""
        header = _unbegun(game)
        if header is None or self.draw is not m.Draw.FAIR:
            return ""
        return header.seed if header.draw is m.Draw.FAIR else ""

    def _limits_by_host(self, game: SavedGame) -> Limits | None:
        """Return what a host has set for a game in which nothing has happened yet (SALVO-HOST-7)."""
        header = _unbegun(game)
        return header.limits if header is not None and header.limits.by_host else None


def _unbegun(game: SavedGame) -> Header | None:
    """Return the header of a game in which nothing has happened yet; None of any other game."""
    if game.steps:
        return None
    try:
        return read_header(game.opened.header)
    except WireError:
        return None
