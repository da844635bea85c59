"""The journal on SQLite: what a commit holds, and what becomes of damage."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import alembic.autogenerate
import alembic.config
import alembic.script
import pytest
import sqlalchemy as sql
from alembic.runtime.migration import MigrationContext

from kit.journals import connection_of
from kit.ports import Port
from salvo import messages as m
from salvo_game.journal_interface import (
    Batch,
    BurnedMessage,
    GameClosed,
    GameConcluded,
    GameOpened,
    JournalError,
    JournalProgress,
    JournalUnavailable,
    KeyLearned,
    Result,
    ResultAnnulled,
    StepTaken,
    TeamAdmitted,
)
from salvo_server.storage.journal import database, schema
from salvo_server.storage.journal.database import DatabaseJournal, DatabaseReader
from salvo_server.storage.journal.games_in_play import GamesInPlay
from salvo_server.storage.journal.losses import LogIndex

FIRE = '{"fire":{"player":"ann","target":"bob","x":3,"y":4}}'
PROOF = BurnedMessage(b"n" * 16, b"m" * 16)


def opened(number: int = 1, table: str = "") -> GameOpened:
    return GameOpened(number, table, number, 1000, "{}")


def step(number: int, game: int = 1, proof: BurnedMessage | None = None) -> StepTaken:
    return StepTaken(number, game, 1000 + number, FIRE, number.to_bytes(16, "big"), proof)


def ended(game: int = 1, number: int = 1, table: str = "", **given: Any) -> GameConcluded:
    players = (m.PlayerStats("ann", 20, 17, 5, 4, 1), m.PlayerStats("bob", 15, 3, 0, 3, 2))
    return GameConcluded(game, Result(table, number, 2000 + game, "salvo", players, False)._replace(**given))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.journal"


@pytest.fixture
def journal(path: Path) -> Iterator[DatabaseJournal]:
    journal = DatabaseJournal(str(path))
    yield journal
    journal.close()


def reopened(journal: DatabaseJournal) -> DatabaseJournal:
    journal.close()
    return DatabaseJournal(journal.name)


def code(path: Path) -> str:
    with pytest.raises(JournalError) as caught, contextlib.closing(DatabaseJournal(str(path))) as journal:
        journal.load()
    assert str(path) in caught.value.text
    return caught.value.code


def test_a_commit_is_there_after_a_restart(journal: DatabaseJournal) -> None:
    new = journal.load()
    assert (list(new.games), new.last_game, new.last_step, list(new.burned)) == ([], 0, 0, [])
    journal.commit([opened(), TeamAdmitted(1, "ann", "cocka"), JournalProgress(sent_through=0, ended=False)])
    journal.commit([step(1, proof=PROOF), step(2), KeyLearned(1, "ann", b"s" * 16, b"k" * 32)])
    journal.commit([step(3), JournalProgress(sent_through=2)])
    assert [taken.id for taken in DatabaseReader(journal.name).steps(opened())] == [1, 2, 3]  # while it is written
    again = reopened(journal)
    saved = again.load()
    [game] = saved.games
    assert (game.opened, list(game.steps)) == (opened(), [step(1, proof=PROOF), step(2), step(3)])
    assert [(t.name, t.secret, list(t.keys)) for t in game.teams] == [("ann", "cocka", [(b"s" * 16, b"k" * 32)])]
    assert (saved.last_game, saved.last_step, saved.sent_through, saved.ended) == (1, 3, 2, False)
    assert list(saved.burned) == [PROOF]
    again.close()


def test_only_the_latest_game_of_each_table_goes_on(journal: DatabaseJournal) -> None:
    journal.commit([opened(1), opened(2, "blue"), opened(3), step(1, 1), step(2, 2), step(3, 3)])
    assert {(g.opened.id, len(g.steps)) for g in journal.load().games} == {(2, 1), (3, 1)}


def test_a_game_that_ended_before_its_last_steps_were_sent_is_loaded_with_the_next(journal: DatabaseJournal) -> None:
    next_game = opened(3)._replace(number=2)
    journal.commit([opened(1), opened(2, "blue"), step(1, 1), step(2, 2), JournalProgress(sent_through=2)])
    journal.commit([next_game, step(3, 1), GameClosed(1)])
    [ended] = journal.load().former
    assert (ended.opened, [each.id for each in ended.steps], ended.next_game) == (opened(1), [1, 3], next_game)
    journal.commit([opened(4, "blue"), JournalProgress(sent_through=3)])
    assert journal.load().former == []


def test_the_record_at_hand_has_the_two_latest_games_of_each_table(journal: DatabaseJournal) -> None:
    at_hand = GamesInPlay(journal)
    at_hand.commit([opened(1), opened(2, "blue"), step(1), step(2, 2)])
    at_hand.commit([opened(3)._replace(number=2), step(3), step(4, 3)])
    [first, then, blue] = at_hand.games()
    assert [[each.id for each in game.steps] for game in (first, then, blue)] == [[1, 3], [4], [2]]
    assert [game.next_game for game in (first, then, blue)] == [then.opened, None, None]
    assert (at_hand.game("", 2), at_hand.game("blue", 2)) == (then, blue)
    at_hand.commit([opened(4)._replace(number=3), step(5), step(6, 4)])  # step 5 is of a game let go
    assert [game.opened.id for game in at_hand.games()] == [3, 4, 2]
    again = GamesInPlay(journal)
    again.load()
    assert [(game.opened.id, [each.id for each in game.steps]) for game in again.games()] == [(2, [2]), (4, [6])]
    again.commit([opened(7)._replace(number=9)])  # of another server, so that no game is before it
    assert [game.opened.id for game in again.games()] == [2, 7]


def test_the_next_game_closes_one_that_has_no_result(journal: DatabaseJournal) -> None:
    closed: list[int] = []
    at_hand = GamesInPlay(journal, closed=lambda game: closed.append(game.opened.id))
    at_hand.commit([opened(1), step(1), opened(2, "blue"), step(2, 2)])
    at_hand.commit([ended()])
    at_hand.commit([opened(3)._replace(number=2), opened(4, "blue")._replace(number=2)])
    assert closed == [2]


def test_a_secret_is_not_readable_in_the_journals_file(journal: DatabaseJournal, path: Path) -> None:
    journal.commit([opened(), TeamAdmitted(1, "ann", "cockadoodledoo")])
    reopened(journal).close()
    assert b"cockadoodledoo" not in path.read_bytes()
    assert [oct(p.stat().st_mode & 0o777) for p in (path, Path(f"{path}.key"))] == ["0o600", "0o600"]


def test_a_team_that_left_and_came_back_has_its_new_secret(journal: DatabaseJournal) -> None:
    journal.commit([opened(), TeamAdmitted(1, "ann", "one"), KeyLearned(1, "ann", b"", b"")])
    for later in (["two"], ["three", "four"]):
        journal.commit([TeamAdmitted(1, "ann", secret) for secret in later])
        [game] = journal.load().games
        assert [(t.name, t.secret, list(t.keys)) for t in game.teams] == [("ann", later[-1], [])]


@pytest.mark.parametrize("name", [None, os.symlink, os.link])
def test_a_second_server_is_refused_under_any_name_of_the_journal(
    name: Callable[[Path, Path], None] | None, journal: DatabaseJournal, path: Path
) -> None:
    """The story: one that came through a symbolic link took the journal over, had another key, and both ended."""
    other = path.with_name("other.journal")
    if name is not None:
        name(path, other)
    for _ in range(2):
        with pytest.raises(JournalError, match="journal_in_use"):
            DatabaseJournal(str(path if name is None else other))
    journal.commit([opened()])
    assert not Path(f"{other}.key").exists()


def _remove(path: Path) -> None:
    path.rename(path.with_name("away"))


def _replace(path: Path) -> None:
    _remove(path)
    path.write_bytes(path.with_name("away").read_bytes())


@pytest.mark.parametrize("ending", ["", "-wal"])
@pytest.mark.parametrize("change", [_remove, _replace])
def test_a_journal_that_was_removed_or_replaced_takes_nothing_until_it_is_back(
    change: Callable[[Path], None], ending: str, journal: DatabaseJournal, path: Path
) -> None:
    journal.commit([opened()])
    journal.check()
    changed = Path(f"{path}{ending}")
    change(changed)
    for attempt in (journal.check, lambda: journal.commit([step(1)])):
        with pytest.raises(JournalUnavailable, match=rf"^journal_gone: {changed} was removed or replaced"):
            attempt()
    path.with_name("away").rename(changed)
    journal.check()
    journal.commit([step(1)])
    again = reopened(journal)
    assert again.load().last_step == 1
    again.close()


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_journal_that_was_cut_is_found_out(journal: DatabaseJournal, path: Path, part: float) -> None:
    journal.commit([opened(), *(step(number) for number in range(1, 2000))])
    reopened(journal).close()
    os.truncate(path, int(path.stat().st_size * part))
    assert code(path) == "journal_corrupt"


#: SQLite's lock on the index of a log that is in use; who gets it empties the index (unixLockSharedMemory).
_TAKE_INDEX = """
import fcntl, sys
with open(sys.argv[1], "r+b") as index:
    fcntl.lockf(index, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 128)
"""


def test_nobody_takes_the_index_of_a_running_servers_log_for_abandoned(journal: DatabaseJournal, path: Path) -> None:
    """A server that read its index dropped SQLite's locks on it, and a reader of the journal could end it by SIGBUS."""
    journal.commit([opened(1)])
    command = [sys.executable, "-c", _TAKE_INDEX, f"{path}-shm"]
    taken = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "BlockingIOError" in taken.stderr


def test_a_log_that_began_again_or_is_shorter_than_its_index_has_lost_commits() -> None:
    one, none = LogIndex(frames=1, salts=b"first"), LogIndex(frames=0, salts=b"second")
    assert one.is_cut(none)
    assert one.is_cut(one._replace(frames=0))
    assert not one._replace(stored=1).is_cut(none)  # the database has it
    assert not one.is_cut(one._replace(frames=2))
    assert not none.is_cut(one)


def test_a_torn_last_write_is_as_if_it_had_not_been(journal: DatabaseJournal, path: Path, tmp_path: Path) -> None:
    """A loss of power in the middle of a commit: the end of the write-ahead log is garbage."""
    journal.commit([opened(), step(1)])
    log = Path(f"{path}-wal")
    whole = log.stat().st_size
    journal.commit([step(2)])
    torn = tmp_path / "torn"
    for suffix in ("", ".key"):
        shutil.copy(f"{path}{suffix}", f"{torn}{suffix}")
    for cut in range(whole, log.stat().st_size, 997):
        Path(f"{torn}-wal").write_bytes(log.read_bytes()[:cut] + b"\xff" * 100)
        again = DatabaseJournal(str(torn))
        assert again.load().last_step == 1
        again.close()
        for suffix in ("", "-shm"):
            Path(f"{torn}{suffix}").unlink(missing_ok=True)
        shutil.copy(path, torn)


def test_a_server_with_another_key_or_none_takes_no_journal_over(journal: DatabaseJournal, path: Path) -> None:
    journal.commit([opened(), TeamAdmitted(1, "ann", "s")])
    epoch, key = journal.epoch, Path(f"{path}.key")
    journal.close()
    own = key.read_bytes()
    for content, why in ((b"k" * 32, "does not open with the key"), (b"short", "has 5 bytes"), (None, "is gone")):
        key.unlink()
        if content is not None:
            key.write_bytes(content)
        with pytest.raises(JournalError, match=rf"^journal_key: .*{why}"):
            DatabaseJournal(str(path))
        assert key.exists() is (content is not None)
        key.write_bytes(own)
    with contextlib.closing(DatabaseJournal(str(path))) as again:
        assert again.epoch == epoch + 1


def test_a_key_is_made_in_a_folder_of_its_owner(path: Path, tmp_path: Path) -> None:
    key = tmp_path / "keys" / "contest" / "key"
    DatabaseJournal(str(path), key_file=key).close()
    assert [key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777] == [0o600, 0o700]


def test_a_journal_of_a_later_version_is_refused(journal: DatabaseJournal, path: Path) -> None:
    journal.close()
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE schema_version SET version_num = '9999'")
    raw.close()
    assert code(path) == "journal_version"


def test_the_migrations_come_to_todays_schema(journal: DatabaseJournal) -> None:
    """A journal made by the migrations has what the code asks for, and the code knows the latest of them."""
    config = alembic.config.Config()
    config.set_main_option("script_location", schema.MIGRATIONS)
    assert alembic.script.ScriptDirectory.from_config(config).get_heads() == [schema.HEAD]
    found = alembic.autogenerate.compare_metadata(
        MigrationContext.configure(connection_of(journal), opts={"version_table": schema.VERSION_TABLE}),
        schema.metadata,
    )
    assert found == []


def test_a_game_has_one_result_and_a_step_with_a_refused_result_is_not_stored(journal: DatabaseJournal) -> None:
    first: Batch = [opened(), step(1), ended()]
    journal.commit(first)
    journal.commit(first)  # the answer was lost
    with pytest.raises(JournalError, match="journal_in_use"):
        journal.commit([step(2), ended(number=2)])
    assert journal.results() == [ended().result]
    assert journal.load().last_step == 1


def test_an_annulment_is_of_the_result_that_is_meant_and_the_first_one_stands(journal: DatabaseJournal) -> None:
    games = [opened(1), opened(2, "blue")]
    journal.commit([*games, step(1), step(2, 2), ended(), ended(2, 2, "blue")])
    for meant in (("", 2, "desk", 3000), ("blue", 1, "desk", 3000), ("", 1, "desk", 2000)):  # the last one is too early
        journal.commit([ResultAnnulled(*meant)])
    assert [each.annulled_at for each in journal.results()] == [None, None]
    journal.commit([ResultAnnulled("", 1, "desk", 3000)])
    journal.commit([ResultAnnulled("", 1, "jury", 4000)])
    assert [(each.annulled_at, each.annulled_by) for each in journal.results()] == [(3000, "desk"), (None, None)]


#: A schema that a later version might have.
LATER = '''
"""When a game ended for its table."""

import sqlalchemy as sql
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("games", sql.Column("closed_at", sql.BigInteger, nullable=False, server_default="7"))
    op.create_table("remarks", sql.Column("id", sql.Integer, primary_key=True))
'''


def test_a_later_schema_is_migrated_to_with_all_games_intact_and_refused_by_this_version(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.closing(DatabaseJournal(str(path))) as journal:
        games = [opened(1), opened(2)]
        journal.commit([*games, step(1), step(2, 2, PROOF), ended(), JournalProgress(ended=False)])
    later = tmp_path / "later"
    shutil.copytree(Path(database.__file__).with_name("migrations"), later)
    (later / "versions" / "0002_later.py").write_text(LATER)
    with monkeypatch.context() as patch:
        patch.setattr(database, "MIGRATIONS", str(later))
        patch.setattr(database, "HEAD", "0002")
        with contextlib.closing(DatabaseJournal(str(path))) as journal:
            assert connection_of(journal).scalar(sql.text("SELECT closed_at FROM games WHERE id = 2")) == 7
            assert connection_of(journal).scalar(sql.text("SELECT count(*) FROM remarks")) == 0
            assert journal.results() == [ended().result]
            [game] = [saved for saved in journal.load().games if saved.opened.id == 2]
            assert (game.opened, list(game.steps)) == (opened(2), [step(2, 2, PROOF)])
            journal.commit([step(3, 2), ended(2, 2)])
            assert len(journal.results()) == 2
    assert code(path) == "journal_version"


def test_a_full_disk_loses_nothing_and_goes_on_when_there_is_room(journal: DatabaseJournal) -> None:
    journal.commit([opened(), step(1)])
    pages = connection_of(journal).scalar(sql.text("PRAGMA page_count"))
    connection_of(journal).execute(sql.text(f"PRAGMA max_page_count = {pages}"))
    connection_of(journal).commit()
    batch = [step(number) for number in range(2, 2000)]
    for _ in range(3):
        with pytest.raises(JournalUnavailable, match="full"):
            journal.commit(batch)
    assert journal.load().last_step == 1
    connection_of(journal).execute(sql.text(f"PRAGMA max_page_count = {pages + 10_000}"))
    connection_of(journal).commit()
    journal.commit(batch)
    assert journal.load().last_step == 1999


def test_a_commit_whose_answer_was_lost_can_be_repeated(journal: DatabaseJournal) -> None:
    batches: tuple[Batch, ...] = ([opened()], [step(1), step(2)])
    for batch in batches:
        journal.commit(batch)
        journal.commit(batch)
    assert journal.load().last_step == 2
    with pytest.raises(JournalError, match="journal_in_use"):
        journal.commit([opened()._replace(header='{"another": 1}')])
    with pytest.raises(JournalError, match="journal_in_use"):
        journal.commit([step(2)._replace(check=b"another".ljust(16))])


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://u:PASSWORD@h:bad/db",
        "postgresql:/u:PASSWORD@h/db",
        "postgresql:u:PASSWORD@h",
        "postgresql+psycopg:/u:PASSWORD@h/db",
        "a b://u:PASSWORD@h",
        "mysql://u:PASSWORD@h/db",
        "postgresql+nonsense://u:PASSWORD@h/db",
        "postgresql://u:PASSWORD@a..b/db",
        "postgresql://u:PASSWORD@h:0/db",
        "postgresql://u:PASSWORD@h:99999/db",
    ],
)
@pytest.mark.parametrize("opened_by", [DatabaseJournal, DatabaseReader])
def test_an_address_that_cannot_be_read_is_refused_and_its_password_is_nowhere(
    where: str, opened_by: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A port that is no number ended in a ValueError; a slash too few made files with the password in their names."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(JournalError, match="bad_journal") as caught:
        opened_by(where)
    assert "PASSWORD" not in "".join(traceback.format_exception(caught.value))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("opened_by", [DatabaseJournal, DatabaseReader])
def test_a_database_that_is_away_is_named_without_its_password(opened_by: Callable[[str], object], port: Port) -> None:
    with pytest.raises(JournalUnavailable, match="journal_away") as caught:
        opened_by(f"postgresql://ann:PASSWORD@{port.address}/db")
    assert caught.value.text.startswith(f"postgresql+psycopg://ann:***@{port.address}/db: ")
    assert "PASSWORD" not in caught.value.text


def test_a_journal_at_a_place_that_cannot_be_is_refused(tmp_path: Path) -> None:
    for where, expected in (
        ("mysql://host/db", "bad_journal"),
        ("nonsense://", "bad_journal"),
        ("/proc/nowhere/j", "journal_unreachable"),
        (os.devnull, "journal_unreachable"),
        (str(tmp_path), "journal_unreachable"),
    ):
        with pytest.raises(JournalError) as caught:
            DatabaseJournal(where)
        assert caught.value.code == expected, where
    with pytest.raises(JournalError, match="journal_missing"):
        DatabaseReader(str(tmp_path / "none"))
