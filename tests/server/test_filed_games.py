"""A journal lets go of a game whose transcript and proof are written, and of nothing else that it has."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.evening import Evening
from kit.journals import connection_of
from kit.proofs import IDENTITY
from salvo import messages as m
from salvo.messages import State
from salvo_display.replay import Replay
from salvo_game.journal_interface import (
    BurnedMessage,
    GameConcluded,
    GameFiled,
    GameOpened,
    JournalProgress,
    JournalUnavailable,
    Result,
    StepTaken,
)
from salvo_game.recordings import open_recordings
from salvo_game.transcript import check, read_transcript
from salvo_server.storage.journal.database import DatabaseJournal, DatabaseReader
from salvo_server.storage.transcript_folder import TranscriptFolder


class FiledEvening(Evening):
    """Games on a small board, whose files are written as a server does it.

    Attributes:
        shots: the first one of each game, as it was sent.
    """

    def __init__(self, path: Path) -> None:
        self.shots: list[tuple[str, bytes]] = []
        super().__init__(path)
        self.folder = self.open_folder()

    def open_folder(self) -> TranscriptFolder:
        games = self.path.with_name("games")
        return TranscriptFolder(games, lambda *_: None, IDENTITY, lambda *game: self.journal.file(*game))

    def begin_again(self) -> None:
        """End server and folder, start both, and wait until the folder has what the journal has."""
        self.folder.close()
        self.change()
        self.folder = self.open_folder()
        self.folder.complete(str(self.path)).result()

    def play_games(self, count: int) -> None:
        for _ in range(count):
            self.join()
            self.shots.append(self.shot(1, 1))
            self.wire.give(*self.shots[-1])
            self.run()
            self.play()
            number = self.table.referee.number
            self.folder.write(self.journal.game("", number), m.EveningShown())
            self.folder._thread.submit(lambda: None).result()
            self.forget()
            self.wire.delivered = self.wire.published
            self.run()

    @property
    def filed(self) -> list[int]:
        """The games that are filed, in their order."""
        files = DatabaseReader(str(self.path)).files()
        return sorted(int(file.name.removeprefix("game-").removesuffix(".jsonl.gz")) for file in files.values())

    def counts(self) -> list[tuple[int, int]]:
        """Number and steps of each game of the journal."""
        return [(game.number, steps) for game, steps in DatabaseReader(str(self.path)).games()]


@pytest.fixture
def evening(tmp_path: Path) -> Iterator[FiledEvening]:
    evening = FiledEvening(tmp_path / "a.journal")
    yield evening
    evening.folder.close()
    evening.journal.close()


def test_all_but_the_two_latest_games_of_a_table_are_filed_and_are_read_from_their_files(evening: FiledEvening) -> None:
    evening.play_games(2)
    assert evening.filed == []
    [first, *_], exports = open_recordings(str(evening.path)).summaries(), []
    exports.append(_exported(evening))
    evening.play_games(3)
    assert evening.filed == [1, 2, 3]
    games = open_recordings(str(evening.path))
    summaries = [*games.summaries()]
    assert summaries[0] == first
    assert [each.state for each in summaries] == [*[State.OVER] * 5, State.LOBBY]
    assert len([*games.check()]) == 6
    assert Replay(*open_recordings(str(evening.path), game=1).executed()).turns > 0
    exports.append(_exported(evening))
    assert exports[0] == exports[1]


def _exported(evening: FiledEvening) -> bytes:
    """Return the first game as it is exported from the journal."""
    path = evening.path.with_name("1.jsonl")
    steps = open_recordings(str(evening.path), game=1).export(path)
    assert check(read_transcript(path))[0] == steps
    return path.read_bytes()


def test_a_filed_game_whose_file_is_gone_is_named_and_the_others_are_still_listed(evening: FiledEvening) -> None:
    evening.play_games(4)
    file = evening.path.with_name("games") / "game-1.jsonl.gz"
    file.unlink()
    first, *others = open_recordings(str(evening.path)).summaries()
    assert first.state == "corrupt"
    assert first.trouble.startswith("transcript_missing: ")
    assert str(file) in first.trouble
    assert [(each.state, each.steps) for each in others][-1] == (State.LOBBY, 0)
    assert {each.trouble for each in others} == {""}


def test_a_restart_after_games_were_filed_knows_their_numbers_results_and_nonces(evening: FiledEvening) -> None:
    evening.play_games(4)
    last_step, results = evening.service.last_step, evening.journal.results()
    evening.begin_again()
    assert (evening.service.last_step, evening.journal.results()) == (last_step, results)
    assert [result.number for result in results] == [1, 2, 3, 4]
    assert evening.table.referee.number == 5
    evening.join()
    assert evening.filed == [1, 2, 3, 4]  # to begin again, no game before the lobby is needed
    game = evening.table.referee.game
    assert game is not None
    before = game.turn, game.shots_left
    for used in evening.shots:
        evening.wire.give(*used)
    evening.run()
    assert (game.turn, game.shots_left) == before
    counts = evening.service.gate.counts
    assert (counts["nonce_reused"], counts["duplicate"]) == (3, 1)  # the last one's message is still known, too


def test_of_a_filed_games_steps_the_journal_has_16_bytes_for_each_nonce(evening: FiledEvening) -> None:
    evening.play_games(3)
    connection = connection_of(evening.journal._journal)
    [(steps, nonces)] = connection.exec_driver_sql("SELECT steps, length(nonces) FROM filed").all()
    stored = connection.exec_driver_sql("SELECT count(*) FROM steps WHERE game = 1").scalar()
    connection.commit()
    assert (stored, evening.counts()[0]) == (0, (1, steps))
    assert 0 < nonces <= 16 * steps


def test_a_game_is_filed_later_if_the_journal_cannot_be_written(evening: FiledEvening) -> None:
    evening.play_games(2)
    evening.path.rename(away := evening.path.with_name("away"))
    with pytest.raises(JournalUnavailable):
        evening.journal.commit([])
    away.rename(evening.path)
    assert evening.filed == []
    evening.journal.commit([])
    assert evening.filed == [1]


# --- the database -------------------------------------------------------------------------------------------------

PROOFS = [BurnedMessage(bytes([number]) * 16, bytes(16)) for number in range(1, 9)]
STEPS = [StepTaken(n, 1, 1000 + n, "{}", bytes([n] * 16), proof) for n, proof in enumerate(PROOFS, start=1)]
OVER = GameConcluded(1, Result("", 1, 2000, "salvo", (), aborted=False))
FILED = GameFiled(1, "/games/game-1.jsonl.gz")


def _journal(path: Path, *, over: bool = True, sent_through: int = 8) -> DatabaseJournal:
    journal = DatabaseJournal(str(path))
    games = [GameOpened(1, "", 1, 1000, "{}"), GameOpened(2, "", 2, 2000, "{}")]
    journal.commit([*games, *STEPS, *([OVER] if over else []), JournalProgress(sent_through=sent_through)])
    return journal


@pytest.mark.parametrize(("given", "steps"), [({}, 0), ({"over": False}, 8), ({"sent_through": 7}, 8)])
def test_only_a_game_that_is_over_and_sent_is_filed(given: dict[str, int], steps: int, tmp_path: Path) -> None:
    journal = _journal(tmp_path / "a.journal", **given)  # type: ignore[arg-type]
    for _ in range(2):
        journal.commit([FILED])
        reader, [game, _] = DatabaseReader(journal.name), DatabaseReader(journal.name).games()
        assert len(reader.saved(game[0]).steps) == steps
        assert game[1] == 8
        assert reader.files() == ({} if steps else {1: Path(FILED.file)})
        saved = journal.load()
        assert saved.last_step == 8
        assert b"".join(saved.burned_before) == b"".join(proof.nonce for proof in PROOFS)
    journal.close()


#: Files a game in journals 1, 2, ..., each in a process that is killed behind the n-th statement of that, until one
#: lives. Forked, so that the libraries are loaded once.
_DIE_AT_EACH = """
import itertools, os, shutil, signal, sys
import sqlalchemy
from salvo_game.journal_interface import GameFiled
from salvo_server.storage.journal.database import DatabaseJournal

left = 0

@sqlalchemy.event.listens_for(sqlalchemy.engine.Engine, "after_cursor_execute")
def executed(*given):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)

for number in itertools.count(1):
    path = f"{sys.argv[1]}/{number}.journal"
    for suffix in ("", ".key"):
        shutil.copy(f"{sys.argv[1]}/a.journal{suffix}", path + suffix)
    if not os.fork():
        journal = DatabaseJournal(path)
        left = number
        journal.commit([GameFiled(1, "/games/game-1.jsonl.gz")])
        os._exit(0)
    if os.wait()[1] == 0:
        sys.exit()
"""


@pytest.mark.long
def test_a_server_that_is_killed_while_it_files_a_game_has_all_of_it(tmp_path: Path) -> None:
    _journal(tmp_path / "a.journal").close()
    subprocess.run([sys.executable, "-c", _DIE_AT_EACH, str(tmp_path)], check=True, timeout=300)
    copies = sorted(tmp_path.glob("[0-9].journal"))
    filed = []
    for path in copies:
        journal, reader = DatabaseJournal(str(path)), DatabaseReader(str(path))
        saved = journal.load()
        assert (saved.last_step, saved.last_game, journal.results()) == (8, 2, [OVER.result])
        assert b"".join(saved.burned_before) == b"".join(proof.nonce for proof in PROOFS)
        [(game, steps), _] = reader.games()
        filed.append(bool(reader.files()))
        assert (steps, len(reader.saved(game).steps)) == (8, 0 if filed[-1] else 8)
        journal.close()
    assert filed == [False] * 4 + [True]  # the progress, the steps, their file, their end; and one that lived
