"""How a table begins: with the operator's settings, or from the journal, by executing its game again.

A game is its header and its inputs. They pass through the same referee, and the hash chain shows whether every
announcement comes out as it was recorded. Any mismatch is a
:class:`~salvo_game.journal_interface.JournalError` that names the game, the record and the
fix: a table is restored exactly, or does not start at all.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from salvo import messages as m
from salvo.codec.announcements import Publication
from salvo.codec.header import Header, read_header
from salvo.codec.log import SECRET_BYTES
from salvo.codec.steps import read_input
from salvo.errors import WireError
from salvo.rules import SALVO, RuleBook
from salvo_game.journal_interface import GameOpened, JournalError, SavedGame, StepTaken
from salvo_game.log import ServerIdentity, TableLog
from salvo_game.referee import Referee
from salvo_game.table import Table, seat
from salvo_game.table_step import Step

_FIX = "start with the version that wrote it, restore it from a copy, or begin a new one with --journal FILE"


@dataclass(slots=True)
class Recovered:
    """A table, restored.

    Attributes:
        log: the game's, restored; None for a server without an identity.
        unsent: what the broker may not have received, in order.
    """

    game: SavedGame
    table: Table
    log: TableLog | None
    unsent: Sequence[Publication]


def recover(
    game: SavedGame,
    status: Callable[[Referee], m.ServerStatus],
    sent_through: int,
    follow: Callable[[Table, Step], object] | None = None,
    signer: ServerIdentity | None = None,
) -> Recovered:
    """Restore a table by executing its game again.

    Args:
        status: returns what ``/game/server`` says about a table.
        sent_through: the last step whose announcements the broker has all acknowledged.
        follow: called after every step.
        signer: signs the game's log.

    Raises:
        JournalError: ``journal_corrupt`` or ``journal_diverged``.
    """
    table = open_table(game, status)
    game_log = None if signer is None else TableLog(table.header, signer)
    unsent: list[Publication] = []
    if game_log is not None and game.steps and game.steps[0].id > sent_through:
        unsent += game_log.opening()
    for number, record in enumerate(game.steps, start=1):
        step = execute_step(table, game, number, record)
        if follow is not None:
            follow(table, step)
        if record.id > sent_through:
            unsent += step.publications
            unsent += game_log.take_in(step) if game_log is not None else ()
        elif game_log is not None:
            game_log.skip(step)
    return Recovered(game, table, game_log, unsent)


def open_table(game: SavedGame, status: Callable[[Referee], m.ServerStatus]) -> Table:
    """Return a game's table as it was before the first step.

    Its next lobby gets the settings with which it was opened: the operator may have changed them during the game
    (SALVO-BACK-6).

    Raises:
        JournalError: ``journal_corrupt``.
    """
    header = _header(game.opened)
    table = Table(seat(header), status)
    table.header = replace(table.header, version=header.version)
    if game.next_game is not None:
        later = _header(game.next_game)
        table.referee.configure(later.seed, later.limits, later.draw, later.rules.book)
    table.open()
    return table


def _header(opened: GameOpened) -> Header:
    try:
        return read_header(opened.header)
    except WireError as error:
        raise JournalError("journal_corrupt", f"{_where(opened)}: its header: {error}; {_FIX}") from None


def execute_step(table: Table, game: SavedGame, number: int, record: StepTaken) -> Step:
    """Execute one recorded step.

    Raises:
        JournalError: ``journal_corrupt`` if it cannot be read, ``journal_diverged`` if its announcements differ.
    """
    where = f"{_where(game.opened)}, step {number} (record {record.id})"
    if table.referee.number != game.opened.number:
        raise JournalError("journal_corrupt", f"{where}: comes after the game's end; {_FIX}")
    try:
        command = read_input(record.text)
    except WireError as error:
        raise JournalError("journal_corrupt", f"{where}: {error}; {_FIX}") from None
    try:
        step = table.carry_out(command, record.at)
    except Exception as error:  # an input no service passes to a referee, such as a ship that the rules don't have
        text = f"{where}: cannot be carried out: {type(error).__name__}: {error}; {_FIX}"
        raise JournalError("journal_corrupt", text) from error
    if step.check != record.check:
        raise JournalError("journal_diverged", f"{where}: other announcements follow than were recorded; {_FIX}")
    return step


def _where(opened: GameOpened) -> str:
    table = f" of table {opened.table}" if opened.table else ""
    return f"game {opened.number}{table}"


@dataclass(slots=True)
class Openings:
    """The operator's settings for every next game.

    Attributes:
        limits: by table, in the order of the tables.
        seed: decides every draw, unless the draw is fair; then a fresh secret of every game and the teams' messages do.
        book: the ruleset of all tables.
        fresh_secret: returns 32 unpredictable bytes for each game with a fair draw.
        identity: the server's keys; without them nothing can be sealed for it, and its games have no log.
        held: whether no game begins by itself (SALVO-EVENING-2).
    """

    limits: Mapping[str, m.Limits]
    seed: int | str
    book: RuleBook = SALVO
    draw: m.Draw = m.Draw.SEED
    fresh_secret: Callable[[], bytes] = lambda: secrets.token_bytes(SECRET_BYTES)
    identity: ServerIdentity | None = None
    held: bool = False

    @property
    def first_table(self) -> str:
        """The table whose status stands for the server."""
        return next(iter(self.limits))

    def set_table(self, name: str, former: SavedGame | None, *, behind: bool = False) -> Referee:
        """Return the referee of a table's first game, which follows the last one of the journal.

        A game in which nothing has happened yet is opened, and committed to, as it was: with its secret, and with what
        a host has set for it (SALVO-HOST-7); not if the journal is behind, so that nobody knows what has happened.
        """
        number, seed, limits = 1, self._next_seed(), self._limits(name)
        if former is not None:
            number = former.opened.number + (behind or bool(former.steps))
        if former is not None and not former.steps and not behind:
            with suppress(WireError):
                header = read_header(former.opened.header)
                if self.draw is header.draw is m.Draw.FAIR:
                    seed = header.seed
                if header.limits.by_host:
                    limits = header.limits
        return Referee(seed, name, self.book, limits, number, self.draw)

    def configure(self, referee: Referee) -> None:
        """Set with what a table opens its next game."""
        referee.configure(self._next_seed(), self._limits(referee.table), self.draw, self.book)

    def log(self, header: Header) -> TableLog | None:
        """Return the log of a game, which begins with this header."""
        return None if self.identity is None else TableLog(header, self.identity)

    def _limits(self, table: str) -> m.Limits:
        return replace(self.limits[table], held=True) if self.held else self.limits[table]

    def _next_seed(self) -> int | str:
        return self.fresh_secret().hex() if self.draw is m.Draw.FAIR else self.seed
