"""The interface of the journal, a write-ahead log: what was accepted is durable before it is announced.

The service collects records while it handles what has arrived, and commits them at once (group commit). Only
then do the announcements leave, and only then does the broker get its acknowledgements. A server that is killed at any
point finds everything that it may have announced in its journal, and everything that it had not handled at the broker,
if that is a process of its own; the embedded broker ends with its server, and clients send again.

The server implements it on SQLite and PostgreSQL, and adds its reader as a plugin (:mod:`salvo.system.plugins`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from salvo import messages as m
from salvo.errors import SalvoError

#: Messages remembered to tell a re-delivery from a replay; MQTT re-delivers within seconds.
MAX_RECENT: Final = 4096


class JournalError(SalvoError):
    """The journal cannot be used as it is; the text names the place and the fix."""


class JournalUnavailable(JournalError):
    """The journal cannot be written for now: its disk is full, its file or database away. Worth retrying."""


class BurnedMessage(NamedTuple):
    """What is burned with a message, 16 bytes each (SALVO-FRESH-1, SALVO-FRESH-2).

    Attributes:
        nonce: stands for the team, by name and secret, and its nonce.
        message: stands for the whole message, to tell a re-delivery from a replay.
    """

    nonce: bytes
    message: bytes


class Result(NamedTuple):
    """How a game ended (SALVO-STAND-1).

    Attributes:
        table: empty for the default one.
        number: the game's, counted by table.
        at: when it ended, epoch ms.
        rules: the name of the ruleset.
        players: the figures and place of each, as they were announced.
        aborted: whether it ended without a winner.
        annulled_at: when a host annulled it, epoch ms; None while it stands.
        annulled_by: that host's name.
    """

    table: str
    number: int
    at: int
    rules: str
    players: tuple[m.PlayerStats, ...]
    aborted: bool
    annulled_at: int | None = None
    annulled_by: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the standings count it (SALVO-STAND-4)."""
        return not self.aborted and self.annulled_at is None


class GameOpened(NamedTuple):
    """A table's next game.

    Attributes:
        id: running number over all games of the journal.
        table: ``""`` for the default table.
        number: the game's, counted by table.
        at: epoch ms.
        header: its header line (:func:`salvo.codec.header.write_header`).
    """

    id: int
    table: str
    number: int
    at: int
    header: str


class StepTaken(NamedTuple):
    """One input of a game.

    Attributes:
        id: running number over all steps of the journal.
        game: the game's ``id``.
        at: epoch ms.
        text: the input as JSON.
        check: the hash chain's value after it (:mod:`salvo_game.table`).
        proof: the digests burned with it, which are never accepted again.
    """

    id: int
    game: int
    at: int
    text: str
    check: bytes
    proof: BurnedMessage | None = None


class TeamAdmitted(NamedTuple):
    """A team's secret, stored encrypted until its game is over; a later one replaces it, with the keys made from it."""

    game: int
    name: str
    secret: str


class KeyLearned(NamedTuple):
    """A proven salt and its key, stored encrypted until the game is over, so that a restart derives no key again."""

    game: int
    name: str
    salt: bytes
    key: bytes


class GameClosed(NamedTuple):
    """A game is over, and its secrets are deleted."""

    game: int


class GameFiled(NamedTuple):
    """A game's transcript and proof are written, or none began: its steps are deleted, but not what they have burned.

    Nothing happens while the result of a game with a file is not stored, nor to one without a file that has a result,
    nor while the broker may not have received the last step.

    Attributes:
        game: its ``id``; that of no table's latest game.
        file: the path of the transcript; None if the lobby closed before a game began.
    """

    game: int
    file: str | None


class GameConcluded(NamedTuple):
    """A game came to its result, with the step that is committed beside it (SALVO-STAND-1)."""

    id: int
    result: Result


class ResultAnnulled(NamedTuple):
    """A result that stands no longer counts (SALVO-STAND-4); nothing happens where there is none, or not any more.

    Attributes:
        number: the game's, counted by table.
        by: the host's name.
        at: epoch ms.
    """

    table: str
    number: int
    by: str
    at: int


class EveningChanged(NamedTuple):
    """What is on has changed (SALVO-EVENING-1).

    Attributes:
        text: all of it, as JSON.
    """

    text: str


class JournalProgress(NamedTuple):
    """How far the server has come since its last commit; this alone needs no commit.

    Attributes:
        sent_through: the last step all of whose announcements the broker has acknowledged; None when that is unchanged.
        ended: whether the server shuts down cleanly; None when that is unchanged.
    """

    sent_through: int | None = None
    ended: bool | None = None


#: One thing that the journal stores.
Record: TypeAlias = (
    GameOpened
    | StepTaken
    | TeamAdmitted
    | KeyLearned
    | GameClosed
    | GameFiled
    | GameConcluded
    | ResultAnnulled
    | EveningChanged
    | JournalProgress
)

#: What is committed at once, in the order in which it happened; one :class:`JournalProgress` at most.
Batch: TypeAlias = Sequence[Record]


class SavedTeam(NamedTuple):
    """A team at a table, with its proven salts and their keys."""

    name: str
    secret: str
    keys: Sequence[tuple[bytes, bytes]]


class SavedGame(NamedTuple):
    """A game as stored in the journal.

    Attributes:
        next_game: the table's next game, whose header has the settings with which the last step of this one opened the
            next lobby; None while there is none.
    """

    opened: GameOpened
    steps: Sequence[StepTaken]
    teams: Sequence[SavedTeam]
    next_game: GameOpened | None = None


class Saved(NamedTuple):
    """What a restart needs.

    Attributes:
        games: the latest game of each table.
        last_game: the highest id of a game; 0 if there is none.
        last_step: the highest id of a step; 0 if there is none.
        sent_through: the last step all of whose announcements the broker has acknowledged.
        ended: whether the last server shut down cleanly.
        burned: the digests burned with the latest stored steps, ``MAX_RECENT`` at most, the oldest first.
        former: games before those, of which the broker may not have received the last steps, the oldest first.
        behind: why more may have been announced than the journal has; empty where it has everything.
        evening: what is on, as JSON; empty where no server has run yet.
        burned_before: the digests of the nonces burned in all games, any number in one piece.
    """

    games: Sequence[SavedGame]
    last_game: int
    last_step: int
    sent_through: int
    ended: bool
    burned: Iterator[BurnedMessage]
    former: Sequence[SavedGame] = ()
    behind: str = ""
    evening: str = ""
    burned_before: Sequence[bytes] = ()


class Holding(NamedTuple):
    """How a server holds its journal.

    Attributes:
        sure: whether no other server can have taken it over by now.
        standby: whether another server waits that could take over; as it was seen last where ``sure`` is not so.
    """

    sure: bool = True
    standby: bool = False


class Journal:
    """What the service needs of a journal; this one stores nothing: for a demo, where a game ends with its process.

    Attributes:
        name: where it is, without any password.
        pepper: keys the teams' credentials, the same one after a restart; None for a random one.
    """

    name: str = "none"
    pepper: bytes | None = None

    def commit(self, batch: Batch) -> None:
        """Make a batch durable, atomically.

        Raises:
            JournalUnavailable: nothing was written; try again later.
            JournalError: it cannot be written at all; ``taken_over``: by this server.
        """

    def load(self) -> Saved:
        """Return what a restart needs; here an empty history, after a clean shutdown.

        Raises:
            JournalError: a record cannot be read; the text names it.
        """
        return Saved((), 0, 0, 0, True, iter(()))

    def results(self) -> list[Result]:
        """Return all results, in the order of :func:`when`.

        Raises:
            JournalError: a record cannot be read; the text names it.
        """
        return []

    def check(self) -> None:
        """Make sure that what is committed next will be found where this journal is.

        Raises:
            JournalUnavailable: ``journal_gone``: it has been removed or replaced.
        """

    def confirm(self, *, fresh: bool) -> Holding:
        """Return whether the journal is still this server's; this one always is.

        Args:
            fresh: whether to ask now; else this returns at once what is known.

        Raises:
            JournalError: ``taken_over``: it is another server's.
        """
        return Holding()

    def close(self) -> None:
        """Release the journal's files or connections."""


class JournalWrapper(Journal):
    """A journal around another one; a subclass does something more beside each commit."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.name, self.pepper = journal.name, journal.pepper

    def commit(self, batch: Batch) -> None:
        """Make a batch durable."""
        self._journal.commit(batch)

    def load(self) -> Saved:
        """Return what a restart needs."""
        return self._journal.load()

    def results(self) -> list[Result]:
        """Return all results."""
        return self._journal.results()

    def check(self) -> None:
        """Make sure that the other journal is where it was."""
        self._journal.check()

    def confirm(self, *, fresh: bool) -> Holding:
        """Return whether the journal is still this server's."""
        return self._journal.confirm(fresh=fresh)

    def close(self) -> None:
        """Close the other journal."""
        self._journal.close()


class JournalReader(ABC):
    """The games of a journal, read while a server may be writing it.

    Of a game that is filed (:class:`GameFiled`), it has the opening, the number of steps, and the transcript's path; of
    a lobby that is, nothing.

    Attributes:
        name: where it is, without any password.
    """

    name: str

    @abstractmethod
    def __init__(self, where: str) -> None:
        """Open a journal for reading.

        Args:
            where: a file's path or a database's URL.

        Raises:
            JournalError: it cannot be read.
        """

    @abstractmethod
    def games(self) -> list[tuple[GameOpened, int]]:
        """Return every game with the number of its steps, the oldest first."""

    @abstractmethod
    def saved(self, game: GameOpened) -> SavedGame:
        """Return a game as it can be executed again, without steps if it is filed.

        The teams' secrets are not part of it.
        """

    @abstractmethod
    def files(self) -> Mapping[int, Path]:
        """Return the transcripts of the games that are filed, by the game's ``id``."""

    @abstractmethod
    def evening(self) -> m.EveningShown:
        """Return what is on, and the badges of the teams that were listed (SALVO-EVENING-1)."""


def when(result: Result) -> tuple[int, str, int]:
    """Return what results are put in order by, wherever they come from."""
    return result.at, result.table, result.number


def result_of(table: str, number: int, at: int, rules: str, announcements: Sequence[m.Announcement]) -> Result | None:
    """Return the result that a step announces; None if its game goes on."""
    won = next((announcement for announcement in announcements if isinstance(announcement, m.GameWon)), None)
    if won is None:
        return None
    players = tuple(announcement for announcement in announcements if isinstance(announcement, m.PlayerStats))
    return Result(table, number, at, rules, players, aborted=not (won.winner or won.tied))
