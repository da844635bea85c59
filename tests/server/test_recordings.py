"""Where games come from and go to: journals, folders, and what is kept in memory."""

from __future__ import annotations

import logging
import os
import sqlite3
from pathlib import Path

import pytest

from salvo import Bot
from salvo import messages as m
from salvo.codec.header import write_header
from salvo.join.fairness.proof import PROOF
from salvo_display.replay import Replay
from salvo_game.journal_interface import (
    BurnedMessage,
    GameConcluded,
    GameOpened,
    JournalError,
    Result,
    SavedGame,
    StepTaken,
)
from salvo_game.recordings import open_recordings
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.recording import play_at_table
from salvo_server.storage.identity import Identity
from salvo_server.storage.journal.database import DatabaseJournal
from salvo_server.storage.transcript_folder import TranscriptFolder


def _bots() -> dict[str, Bot]:
    return {"a": Hunter(), "b": RandomBot()}


def _saved(id_: int, table: str = "", game: int = 1) -> SavedGame:
    """A whole game; tables other than the default one are for names only."""
    _, header, steps = play_at_table(_bots(), seed=id_, game=game)
    opened = GameOpened(id_, table, game, 1_790_000_000_000 + id_, write_header(header))
    taken = [
        StepTaken(id_ * 1000 + n, id_, step.at, step.text, step.check, BurnedMessage(b"n%d" % n, b"m%d" % n))
        for n, step in enumerate(steps)
    ]
    return SavedGame(opened, taken, ())


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "contest.journal"
    with_games = DatabaseJournal(str(path))
    for game in (_saved(1), _saved(2, "blue"), _saved(3, game=2)):
        with_games.commit([game.opened, *game.steps])
    _, header, _ = play_at_table(_bots(), seed=9, game=3)
    with_games.commit([GameOpened(4, "", 3, 1_790_000_000_009, write_header(header))])
    with_games.close()
    return path


def test_a_game_is_chosen_by_table_and_number_and_else_the_latest_that_has_any_record(journal: Path) -> None:
    assert Replay(*open_recordings(str(journal)).executed()).header.game == 2
    assert len(open_recordings(str(journal), table="")) == 3
    assert Replay(*open_recordings(str(journal), table="", game=1).executed()).header.seed == "1"
    assert Replay(*open_recordings(str(journal), table="blue").executed()).header.seed == "2"
    with pytest.raises(JournalError, match=r"no_such_game: .* has no game 7 of table 'blue'; see: salvo replay "):
        open_recordings(str(journal), table="blue", game=7)
    with pytest.raises(JournalError, match=r"no_such_game: .* has no game in which anything happened"):
        Replay(*open_recordings(str(journal), game=3).executed())


def test_a_lobby_to_which_teams_have_come_is_replayed_only_if_it_is_asked_for(journal: Path) -> None:
    lobby = _saved(9, game=4)
    with_games = DatabaseJournal(str(journal))
    with_games.commit([lobby.opened, *lobby.steps[:2]])
    with_games.close()
    assert Replay(*open_recordings(str(journal)).executed()).header.game == 2
    assert Replay(*open_recordings(str(journal), game=4).executed()).header.game == 4


def test_a_game_that_was_changed_in_a_journal_is_named_and_the_others_are_still_listed(journal: Path) -> None:
    with sqlite3.connect(journal) as database:
        database.execute("UPDATE steps SET at = at + 1 WHERE id = 1030")
    database.close()
    with pytest.raises(JournalError, match=r"journal_diverged: game 1, step 31 \(record 1030\): other announcements"):
        list(open_recordings(str(journal)).check())
    states = [summary.state for summary in open_recordings(str(journal)).summaries()]
    assert states == ["corrupt", "over", "over", "lobby"]


# --- what a server keeps of its games -----------------------------------------------------------------------------


def _save(folder: Path, *games: SavedGame, identity: Identity | None = None) -> list[str]:
    """Write games as a server does; return the names of what was written."""
    written: list[str] = []
    transcripts = TranscriptFolder(folder, lambda game, file: written.append(file.name), identity)
    for game in games:
        transcripts.write(game, m.EveningShown())
    transcripts.close()
    return written


def test_all_users_of_the_machine_may_read_the_files_of_games(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        names = _save(tmp_path, _saved(1))
    finally:
        os.umask(before)
    assert {(tmp_path / name).stat().st_mode & 0o777 for name in names} == {0o644}


#: What a crash has left out of a folder, and how many games are written then.
CRASHES = (("", 0), ("*", 3), (f"*{PROOF}", 3), ("*.gz", 3))


@pytest.mark.long
def test_a_start_writes_what_the_journal_has_and_the_folder_lacks(tmp_path: Path) -> None:
    """The story: of a server that was killed in an empty lobby, the next opened it again, and both openings became
    files.
    """
    identity, folder = Identity(bytes(32)), tmp_path / "games"
    _save(folder, _saved(7, "blue"), identity=identity)  # another journal's, under a name that is taken now
    journal = DatabaseJournal(str(tmp_path / "a.journal"))
    in_play = _saved(0, "red")
    journal.commit([in_play.opened, *in_play.steps[:9]])
    for game in (_saved(1), _saved(2, "blue"), _saved(4, game=2)):
        if game.opened.id == 4:
            journal.commit([_saved(3, game=2).opened])  # an empty lobby
        ended = GameConcluded(game.opened.id, _result(game.opened))
        journal.commit([game.opened, *game.steps, ended])
    unfinished = _saved(5, game=3)
    journal.commit([unfinished.opened, *unfinished.steps[:9]])
    journal.close()
    others = {path: path.read_bytes() for path in folder.iterdir()}

    def complete() -> list[str]:
        written: list[str] = []
        transcripts = TranscriptFolder(folder, lambda game, file: written.append(file.name), identity)
        transcripts.complete(str(tmp_path / "a.journal")).result()
        transcripts.close()
        return written

    assert sorted(complete()) == ["blue-1.2.jsonl.gz", "game-1.jsonl.gz", "game-2.jsonl.gz"]
    whole = {path: path.read_bytes() for path in folder.iterdir()}
    assert len(whole) == len(others) + 6
    for lost, again in CRASHES:
        for path in {*folder.glob(lost)} - others.keys() if lost else ():
            path.unlink()
        (folder / ".game-1.proof.jsonl.0123abcd").write_bytes(b"half")
        assert len(complete()) == again, lost
        assert {path: path.read_bytes() for path in folder.iterdir()} == whole, lost


def _result(opened: GameOpened) -> Result:
    return Result(opened.table, opened.number, opened.at, "salvo", (), aborted=False)


def test_a_game_that_cannot_be_written_is_an_error_in_the_log_and_leaves_no_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    game = _saved(1)
    damaged = game._replace(steps=[*game.steps[:5], *game.steps[6:]])
    folder = TranscriptFolder(tmp_path, lambda game, file: None)
    with caplog.at_level(logging.ERROR):
        folder.write(damaged, m.EveningShown())
        folder.close()
    assert "game 1 was not written: journal_diverged: game 1, step 6" in caplog.text
    assert list(tmp_path.iterdir()) == []
