"""The journal: what was accepted is durable before it is announced.

The service fills a :class:`Batch` while it works through what arrived and commits it in one go, however much that was
(group commit). Only then do the announcements leave, and only then does the broker get its acknowledgements. A server
that is killed at any point finds in its journal all that it may have announced, and at the broker what it did not get
to.

This module says what a journal is; :mod:`salvo_server.storage.journal.database` is the one on SQLite and PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from salvo.errors import SalvoError
from salvo_server.core.authenticator import Proof


class JournalError(SalvoError):
    """A journal that cannot be used as it is: the text names the place and says what to do."""


class JournalUnavailable(JournalError):
    """It cannot take more for now: the disk is full, the database is away. Worth trying again."""


class GameOpened(NamedTuple):
    """A table's next game: its header line as :func:`salvo.codec.transcript.write_header` makes it."""

    id: int
    table: str
    number: int
    at: int
    header: str


class StepTaken(NamedTuple):
    """One input of a game.

    Attributes:
        id: running number over all games of the journal.
        game: the game's ``id``.
        at: epoch ms.
        text: the input as JSON.
        check: the chain's value after it (:mod:`salvo_server.core.table`).
        proof: what was burned with it.
    """

    id: int
    game: int
    at: int
    text: str
    check: bytes
    proof: Proof | None = None


class TeamAdmitted(NamedTuple):
    """A team's secret, kept sealed until its game is over."""

    game: int
    name: str
    secret: str


class KeyLearned(NamedTuple):
    """A proven salt and its key, kept sealed until the game is over: after a restart no team waits for derivations."""

    game: int
    name: str
    salt: bytes
    key: bytes


@dataclass(slots=True)
class Batch:
    """What is committed in one go.

    Attributes:
        closed: games that are over and forgotten, whose secrets go.
        sent_through: the last step all of whose announcements the broker has acknowledged; None when that is unchanged.
        ended: whether the server shuts down in order with this batch; None when that is unchanged.
    """

    games: list[GameOpened] = field(default_factory=list)
    steps: list[StepTaken] = field(default_factory=list)
    teams: list[TeamAdmitted] = field(default_factory=list)
    keys: list[KeyLearned] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    sent_through: int | None = None
    ended: bool | None = None

    def __bool__(self) -> bool:
        """Whether the batch must be committed now; the two marks alone can wait."""
        return bool(self.games or self.steps or self.teams or self.keys or self.closed)


class SavedTeam(NamedTuple):
    """A team at a table, with the keys that were proven."""

    name: str
    secret: str
    keys: Sequence[tuple[bytes, bytes]]


class SavedGame(NamedTuple):
    """A game as the journal has it.

    Attributes:
        next_game: the table's game after it, whose header has the settings that the last step of this one has opened
            the next lobby with; None while there is none.
    """

    opened: GameOpened
    steps: Sequence[StepTaken]
    teams: Sequence[SavedTeam]
    next_game: GameOpened | None = None


class Saved(NamedTuple):
    """All that a restart needs.

    Attributes:
        games: the latest game of each table.
        last_game: the highest id of a game, 0 when there is none.
        last_step: the same for steps.
        ended: whether the last server shut down in order.
        burned: what was burned, over all games, the oldest first.
    """

    games: Sequence[SavedGame]
    last_game: int
    last_step: int
    sent_through: int
    ended: bool
    burned: Iterator[Proof]


class Journal(Protocol):
    """What the service needs of a journal."""

    name: str
    pepper: bytes | None

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, all of it or nothing.

        Raises:
            JournalUnavailable: nothing was written; it may be tried again.
            JournalError: it cannot be written at all.
        """

    def load(self) -> Saved:
        """Return what a restart needs.

        Raises:
            JournalError: a record cannot be read; the text names it.
        """

    def close(self) -> None:
        """Let go of it."""


class NoJournal:
    """Keeps nothing: for a demo, where a game ends with its process."""

    name = "none"
    pepper: bytes | None = None

    def commit(self, batch: Batch) -> None:
        """Take it as done."""

    def load(self) -> Saved:
        """Return an empty past."""
        return Saved((), 0, 0, 0, True, iter(()))

    def close(self) -> None:
        """There is nothing to let go of."""
