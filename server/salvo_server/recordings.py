"""Recorded games, whatever they are in: a transcript, or a journal with many of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from salvo import messages as m
from salvo.codec.header import Header
from salvo.errors import SalvoError
from salvo.fairness.proof import PROOF_LINES
from salvo.step import Step
from salvo.text_files import lines_of
from salvo_display.replay import Replay
from salvo_server.core.journal import GameOpened, JournalError
from salvo_server.storage.transcript import (
    LINE_CHECK_BYTES,
    check,
    execute,
    export,
    read_transcript,
    repeat_game,
    write_transcript,
)
from salvo_server.verify import verify_file

if TYPE_CHECKING:
    from salvo_server.storage.journal.database import JournalReader

_SQLITE: Final = b"SQLite format 3\0"


class Summary(NamedTuple):
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


class Course(NamedTuple):
    """How a game went, by its announcements alone.

    Attributes:
        players: in play order; those at the table while the game has not begun.
        state: lobby, turn or over.
        winners: once it is over; several after a tie, none of an aborted game.
        places: by player, once it is over.
        turns: how many salvos there were.
        began, ended: when the first turn began and when the last salvo was resolved, epoch ms; 0 before.
        check: the game's checksum when it was won or aborted, shortened; the same wherever the game is recorded.
    """

    players: tuple[str, ...] = ()
    state: str = m.State.LOBBY
    winners: tuple[str, ...] = ()
    places: Mapping[str, int] = {}
    turns: int = 0
    began: int = 0
    ended: int = 0
    check: str = ""


def course_of(steps: Iterable[tuple[int, Iterable[m.Announcement], str]]) -> Course:
    """Return how a game went.

    Args:
        steps: of each its time, epoch ms, what was announced, and the game's checksum after it.
    """
    course, places = Course(), dict[str, int]()
    for at, announcements, checksum in steps:
        for announcement in announcements:
            match announcement:
                case m.PlayersListed(names):
                    course = course._replace(players=names)
                case m.TableReset():
                    break  # what follows belongs to the next lobby
                case m.StateChanged(changed):
                    began = at if changed == m.State.TURN else course.began
                    course = course._replace(state=changed, began=began)
                case m.SalvoResolved():
                    course = course._replace(turns=announcement.turn, ended=at)
                case m.PlayerStats():
                    places[announcement.player] = announcement.place
                case m.GameWon():
                    course = course._replace(winners=announcement.winners, places=places, check=checksum)
    return course


class Recordings(Protocol):
    """Where games come from."""

    name: str

    def __len__(self) -> int: ...

    def replay(self) -> Replay:
        """Return the game, or of several the latest with any record."""

    def check(self) -> Iterator[tuple[int, int]]:
        """Execute every game and compare every announcement; return how many steps and announcements each has."""

    def export(self, path: Path) -> int:
        """Write the same game as :meth:`replay` shows to a transcript; return how many steps it has."""

    def summaries(self) -> Iterator[Summary]:
        """Return a line for each game."""


class OneRecording(Recordings, Protocol):
    """Where one game comes from."""

    def course(self) -> tuple[Header, Course]:
        """Return how the game went, as its record says; what a transcript says is compared only when it is shown."""


def open_recordings(where: str, table: str | None = None, game: int | None = None) -> OneRecording | JournalGames:
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
        from salvo_server.storage.journal.database import JournalReader

        return JournalGames(JournalReader(where), table, game)
    if table is not None or game is not None:
        raise SalvoError(
            "not_a_journal", f"{where} is no journal; a transcript has one game, which needs no --table or --game"
        )
    path = Path(where)
    return OneProof(path) if _begin(path).startswith(PROOF_LINES) else OneTranscript(path)


def _is_sqlite(path: Path) -> bool:
    return _begin(path) == _SQLITE


def _begin(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return next(lines_of(file, len(_SQLITE)), b"")
    except OSError:
        return b""  # its reader says why


class OneTranscript:
    """One game in a file."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path

    def __len__(self) -> int:
        return 1

    def replay(self) -> Replay:
        transcript = read_transcript(self._path)
        return Replay(transcript.name, transcript.header, execute(transcript))

    def course(self) -> tuple[Header, Course]:
        transcript = read_transcript(self._path)
        return transcript.header, course_of((line.at, line.said, line.check) for line in transcript.steps)

    def check(self) -> Iterator[tuple[int, int]]:
        yield check(read_transcript(self._path))

    def export(self, path: Path) -> int:
        transcript = read_transcript(self._path)
        write_transcript(path, transcript.header, execute(transcript))
        return len(transcript.steps)

    def summaries(self) -> Iterator[Summary]:
        transcript = read_transcript(self._path)
        header = transcript.header
        first = transcript.steps[0].at if transcript.steps else 0
        opened = GameOpened(0, header.rules.table, header.game, first, "")
        yield _summary(opened, execute(transcript), len(transcript.steps))


class OneProof:
    """The last whole game of a proof file; what is not fair is not shown."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._path = path

    def __len__(self) -> int:
        return 1

    def _game(self) -> tuple[Header, list[Step]]:
        report = verify_file(self._path)
        if report.finding is not None:
            raise SalvoError("not_fair", f"{report.finding}; see: salvo verify {self._path}")
        ended = [game for game in report.games if game.ended]
        if not ended:
            raise SalvoError("no_such_game", f"{self._path}: no game of it is over")
        game = ended[-1]
        assert game.header is not None
        return game.header, game.steps

    def replay(self) -> Replay:
        header, steps = self._game()
        return Replay(self.name, header, steps)

    def course(self) -> tuple[Header, Course]:
        header, steps = self._game()
        return header, _executed(steps)

    def check(self) -> Iterator[tuple[int, int]]:
        _, steps = self._game()
        yield len(steps), sum(len(step.announcements) for step in steps)

    def export(self, path: Path) -> int:
        header, steps = self._game()
        write_transcript(path, header, steps)
        return len(steps)

    def summaries(self) -> Iterator[Summary]:
        header, steps = self._game()
        yield _summary(GameOpened(0, header.rules.table, header.game, steps[0].at, ""), steps, len(steps))


class OneOfJournal:
    """One game of a journal."""

    def __init__(self, reader: JournalReader, opened: GameOpened) -> None:
        self.name = f"{reader.name}, game {opened.number}"
        self._reader = reader
        self._opened = opened

    def __len__(self) -> int:
        return 1

    def replay(self) -> Replay:
        return Replay(self.name, *repeat_game(self._reader.saved(self._opened)))

    def course(self) -> tuple[Header, Course]:
        header, steps = repeat_game(self._reader.saved(self._opened))
        return header, _executed(steps)

    def check(self) -> Iterator[tuple[int, int]]:
        game = self._reader.saved(self._opened)
        _, steps = repeat_game(game)
        yield len(game.steps), sum(len(step.announcements) for step in steps)

    def export(self, path: Path) -> int:
        return export(self._reader.saved(self._opened), path)

    def summaries(self) -> Iterator[Summary]:
        game, opened = self._reader.saved(self._opened), self._opened
        try:
            yield _summary(opened, repeat_game(game)[1], len(game.steps))
        except JournalError as error:
            yield Summary(opened.table, opened.number, opened.at, (), "corrupt", "", len(game.steps), str(error))


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

    def each(self) -> list[tuple[GameOpened, int, OneOfJournal]]:
        """Return every game with the number of its steps, the oldest first."""
        return [(opened, steps, OneOfJournal(self._reader, opened)) for opened, steps in self._games]

    def _one(self) -> OneOfJournal:
        played = [opened for opened, steps in self._games if steps]
        if not played:
            raise JournalError("no_such_game", f"{self.name} has no game in which anything happened")
        return OneOfJournal(self._reader, played[-1])

    def replay(self) -> Replay:
        return self._one().replay()

    def check(self) -> Iterator[tuple[int, int]]:
        for _, _, game in self.each():
            yield from game.check()

    def export(self, path: Path) -> int:
        return self._one().export(path)

    def summaries(self) -> Iterator[Summary]:
        for _, _, game in self.each():
            yield from game.summaries()


def _executed(steps: Iterable[Step]) -> Course:
    return course_of((step.at, step.announcements, step.check[:LINE_CHECK_BYTES].hex()) for step in steps)


def _summary(opened: GameOpened, steps: Iterable[Step], count: int) -> Summary:
    course = _executed(steps)
    winner = " and ".join(course.winners)
    return Summary(opened.table, opened.number, opened.at, course.players, course.state, winner, count)
