"""Recorded games, whatever they are in: a transcript, or a journal with many of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from salvo import messages as m
from salvo.codec.header import Header
from salvo.errors import SalvoError
from salvo.join.fairness.proof import PROOF_LINES
from salvo.system import plugins
from salvo.system.text_files import lines_of
from salvo.table_state import TableState
from salvo_game.journal_interface import GameOpened, JournalError, JournalReader
from salvo_game.log_verification import verify_file
from salvo_game.table_step import Step
from salvo_game.transcript import (
    LINE_CHECK_BYTES,
    Transcript,
    check,
    execute,
    read_transcript,
    repeat_game,
    until_forgotten,
    write_transcript,
)

_SQLITE: Final = b"SQLite format 3\0"


class RecordingSummary(NamedTuple):
    """A game in a line of a list.

    Attributes:
        at: when its lobby opened, epoch ms.
        players: in play order; those at the table while the game has not begun.
        state: lobby, turn or over; ``corrupt`` for one that cannot be executed.
        trouble: why not.
    """

    table: str
    game: int
    at: int
    players: tuple[str, ...]
    state: str
    winner: str
    steps: int
    trouble: str = ""


class RecordedCourse(NamedTuple):
    """How a game went, by its announcements alone.

    Attributes:
        players: in play order; those at the table while the game has not begun.
        state: lobby, turn or over.
        winners: once it is over; several after a tie, none of an aborted game.
        places: by player, once it is over.
        turns: how many salvos there were.
        began: when the first turn began, epoch ms; 0 before.
        played_ms: from then to the last salvo, without a host's breaks.
        check: the game's checksum when it was won or aborted, shortened; the same wherever the game is recorded.
    """

    players: tuple[str, ...] = ()
    state: str = m.State.LOBBY
    winners: tuple[str, ...] = ()
    places: Mapping[str, int] = {}
    turns: int = 0
    began: int = 0
    played_ms: int = 0
    check: str = ""


def course_of(steps: Iterable[tuple[int, Iterable[m.Announcement], str]]) -> RecordedCourse:
    """Return how a game went.

    Args:
        steps: of each its time, epoch ms, what was announced, and the game's checksum after it.
    """
    table, began, played, check = TableState(), 0, 0, ""
    breaks, before = 0, 0
    for at, announcements, checksum in steps:
        breaks += at - before if table.paused else 0
        before = at
        for announcement in announcements:
            if isinstance(announcement, m.TableReset):
                break  # what follows belongs to the next lobby
            table.apply(announcement)
            match announcement:
                case m.StateChanged(m.State.TURN):
                    began, breaks = at, 0
                case m.SalvoResolved():
                    played = at - began - breaks
                case m.GameWon():
                    check = checksum
                case _:
                    pass
    game, state = table.game, table.state or m.State.LOBBY
    places = {} if game.won is None else {name: stats.place for name, stats in game.stats.items()}
    return RecordedCourse(table.names, state, game.winners, places, game.last_turn, began, played, check)


def open_recordings(where: str, table: str | None = None, game: int | None = None) -> Recording | JournalGames:
    """Return the games of a file, or of a journal on PostgreSQL.

    Args:
        table: which table of a journal, all by default.
        game: which game of a journal, by its number; all by default.

    Raises:
        JournalError: the journal cannot be read, or has no such game.
        SalvoError: ``not_a_journal``: there is nothing to choose from in a transcript.
        MissingExtra: what reads journals is not installed.
    """
    if "://" in where or _is_sqlite(Path(where)):
        reader = plugins.load(plugins.JOURNALS, "database", JournalReader)
        return JournalGames(reader(where), table, game)
    if table is not None or game is not None:
        raise SalvoError(
            "not_a_journal", f"{where} is not a journal; a transcript has one game, which needs no --table or --game"
        )
    path = Path(where)
    source = _proof if _begin(path).startswith(PROOF_LINES) else _transcript
    return Recording(str(path), lambda: source(path))


def _is_sqlite(path: Path) -> bool:
    return _begin(path) == _SQLITE


def _begin(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return next(lines_of(file, len(_SQLITE)), b"")
    except OSError:
        return b""  # its reader says why


class _ReadGame(NamedTuple):
    """A game that was read.

    Attributes:
        steps: how many it has.
        at: when its lobby opened, or its first step was taken, epoch ms.
        execute: returns its header and its steps, which are compared with the record as they are taken from it.
        transcript: where it is one; it has announcements of its own, and may be cut.
    """

    steps: int
    at: int
    execute: Callable[[], tuple[Header, Iterable[Step]]]
    transcript: Transcript | None = None


class Recording:
    """One game, wherever it is recorded.

    Attributes:
        name: where it comes from.
    """

    def __init__(
        self, name: str, read: Callable[[], _ReadGame], opened: GameOpened | None = None, steps: int = 0
    ) -> None:
        """Prepare; every question reads the record again, which may still be written to.

        Args:
            opened: what a journal says of the game, even if it cannot be executed.
            steps: the same.
        """
        self.name = name
        self._read = read
        self._opened = opened
        self._steps = steps

    def __len__(self) -> int:
        return 1

    def has_begun(self) -> bool:
        """Whether it had a turn; it is executed as far as that.

        Raises:
            JournalError: it cannot be executed as far.
        """
        _, steps = self._read().execute()
        return m.StateChanged(m.State.TURN) in (announcement for step in steps for announcement in step.announcements)

    def executed(self) -> tuple[str, Header, Iterable[Step]]:
        """Return the game's name, header and steps, which are compared with the record as they are taken."""
        return self.name, *self._read().execute()

    def course(self) -> tuple[Header, RecordedCourse]:
        """Return how the game went, as its record says; what a transcript says is compared only when it is shown."""
        source = self._read()
        header, steps = source.execute()
        if source.transcript is None:
            return header, _course(steps)
        return header, course_of((line.at, line.public_announcements, line.check) for line in source.transcript.steps)

    def check(self) -> Iterator[tuple[int, int]]:
        """Execute the game and compare every announcement; return how many steps and announcements it has."""
        source = self._read()
        if source.transcript is not None:
            yield check(source.transcript)
        else:
            yield source.steps, sum(len(step.announcements) for step in source.execute()[1])

    def export(self, path: Path) -> int:
        """Write the game to a transcript; return how many steps it has."""
        header, steps = self._read().execute()
        written = list(until_forgotten(steps))
        write_transcript(path, header, written)
        return len(written)

    def summaries(self) -> Iterator[RecordingSummary]:
        """Return the game in a line."""
        opened = self._opened
        try:
            source = self._read()
            header, steps = source.execute()
            course = _course(steps)
        except SalvoError as error:
            if opened is None:
                raise
            yield RecordingSummary(opened.table, opened.number, opened.at, (), "corrupt", "", self._steps, str(error))
            return
        table, game, count = header.rules.table, header.game, source.steps
        if opened is not None:
            table, game, count = opened.table, opened.number, self._steps
        winner = " and ".join(course.winners)
        yield RecordingSummary(table, game, source.at, course.players, course.state, winner, count)


def _course(steps: Iterable[Step]) -> RecordedCourse:
    return course_of((step.at, step.announcements, step.check[:LINE_CHECK_BYTES].hex()) for step in steps)


def _transcript(path: Path) -> _ReadGame:
    transcript = read_transcript(path)
    steps = transcript.steps
    return _ReadGame(
        len(steps), steps[0].at if steps else 0, lambda: (transcript.header, execute(transcript)), transcript
    )


def _proof(path: Path) -> _ReadGame:
    """Return the last whole game of a proof file; what is not fair is not shown."""
    report = verify_file(path)
    if report.finding is not None:
        raise SalvoError("not_fair", f"{report.finding}; see: salvo verify {path}")
    ended = [game for game in report.games if game.ended]
    if not ended:
        raise SalvoError("no_such_game", f"{path}: no game of it is over")
    header, steps = ended[-1].header, ended[-1].steps
    assert header is not None
    return _ReadGame(len(steps), steps[0].at, lambda: (header, steps))


class JournalGames:
    """The games of a journal, those that were chosen."""

    def __init__(self, reader: JournalReader, table: str | None, game: int | None) -> None:
        self.name = reader.name
        self._reader = reader
        self._games = [
            (opened, steps)
            for opened, steps in reader.games()
            if table in (None, opened.table) and game in (None, opened.number)
        ]
        if not self._games and (table, game) != (None, None):
            asked = "".join([f" game {game}" if game is not None else "", f" of table {table!r}" if table else ""])
            raise JournalError("no_such_game", f"{self.name} has no{asked}; see: salvo replay {self.name} --games")

    def __len__(self) -> int:
        return len(self._games)

    def evening(self) -> m.EveningShown:
        """Return what is on, as the journal has it."""
        return self._reader.evening()

    def games(self) -> list[tuple[GameOpened, int, Recording]]:
        """Return every game with the number of its steps, the oldest first."""
        return [(opened, steps, self._recording(opened, steps)) for opened, steps in self._games]

    def _recording(self, opened: GameOpened, steps: int) -> Recording:
        def read() -> _ReadGame:
            game = self._reader.saved(opened)
            file = None if game.steps else self._reader.files().get(opened.id)  # after: it may just have been filed
            if file is not None:
                return _transcript(file)._replace(at=opened.at)
            return _ReadGame(len(game.steps), opened.at, lambda: repeat_game(game))

        return Recording(f"{self.name}, game {opened.number}", read, opened, steps)

    def _latest(self) -> Recording:
        recordings = [self._recording(opened, steps) for opened, steps in self._games if steps]
        if not recordings:
            raise JournalError("no_such_game", f"{self.name} has no game in which anything happened")
        # A lobby that a team or a host came to has steps, too: after an evening it is the newest.
        return next((each for each in reversed(recordings) if each.has_begun()), recordings[-1])

    def executed(self) -> tuple[str, Header, Iterable[Step]]:
        """Return the latest game that has begun, as :meth:`Recording.executed` does."""
        return self._latest().executed()

    def export(self, path: Path) -> int:
        """Write the latest game that has begun to a transcript; return how many steps it has."""
        return self._latest().export(path)

    def check(self) -> Iterator[tuple[int, int]]:
        """Execute every game and compare every announcement; return how many steps and announcements each has."""
        for _, _, recording in self.games():
            yield from recording.check()

    def summaries(self) -> Iterator[RecordingSummary]:
        """Return a line for each game."""
        for _, _, recording in self.games():
            yield from recording.summaries()
