"""The journal on databases of the real kind: PostgreSQL, and SQLite on a disk that is really full."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sql

from kit.filed_journals import FILED, LOBBY_FILED, check_kills, fill
from kit.journals import connection_of, freeze, lose_connection
from kit.patches import Patch
from kit.postgresql import PostgreSQL
from kit.programs import ROOT, needs
from kit.waiting import until
from salvo import messages as m
from salvo_game.journal_interface import (
    Batch,
    BurnedMessage,
    GameClosed,
    GameConcluded,
    GameFiled,
    GameOpened,
    Holding,
    JournalError,
    JournalProgress,
    JournalUnavailable,
    KeyLearned,
    Result,
    ResultAnnulled,
    StepTaken,
    TeamAdmitted,
)
from salvo_server.storage.journal import bounded_connection
from salvo_server.storage.journal.database import DatabaseJournal, DatabaseReader
from salvo_server.storage.journal.locks import BEAT_SECONDS, LEASE_SECONDS

OPENED = GameOpened(1, "", 1, 1_795_000_000_000, "{}")


def step(number: int) -> StepTaken:
    return StepTaken(
        number, 1, 1_795_000_000_000 + number, "{}" * 100, bytes(16), BurnedMessage(os.urandom(16), bytes(16))
    )


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgreSQL]:
    with PostgreSQL() as running:
        yield running


@needs("postgresql")
def test_a_journal_on_postgresql_is_read_locked_and_recovered(postgresql: PostgreSQL, tmp_path: Path) -> None:
    """Written, read beside it, locked against a second server; the server crashes and comes back."""
    key = tmp_path / "key"
    journal = DatabaseJournal(postgresql.url, key_file=key)
    steps = [step(1), step(2)]
    journal.commit([OPENED, TeamAdmitted(1, "ann", "s"), JournalProgress(ended=False)])
    journal.commit([*steps, KeyLearned(1, "ann", bytes(16), bytes(32)), JournalProgress(sent_through=1)])
    with pytest.raises(JournalError, match="journal_in_use"):
        DatabaseJournal(postgresql.url, key_file=key)
    assert DatabaseReader(postgresql.url).games() == [(OPENED, 2)]

    postgresql.kill()
    lost = [step(3)]
    for _ in range(2):
        with pytest.raises(JournalUnavailable, match="journal_away"):
            journal.commit(lost)
    postgresql.start()
    journal.commit(lost)
    journal.commit([step(4), JournalProgress(sent_through=3)])
    journal.close()

    again = DatabaseJournal(postgresql.url, key_file=key)
    saved = again.load()
    [game] = saved.games
    assert [taken.id for taken in game.steps] == [1, 2, 3, 4]
    assert list(game.steps[:2]) == steps
    assert [(t.name, t.secret, list(t.keys)) for t in game.teams] == [("ann", "s", [(bytes(16), bytes(32))])]
    assert (saved.last_game, saved.last_step, saved.sent_through, saved.ended) == (1, 4, 3, False)
    then = OPENED._replace(id=2, number=2)
    result = Result("", 1, OPENED.at + 9, "salvo", (m.PlayerStats("ann", 20, 17, 5, 4, 1),), False)
    again.commit([GameConcluded(1, result), ResultAnnulled("", 1, "desk", OPENED.at + 10), GameClosed(1), then])
    again.commit([TeamAdmitted(2, "bob", secret) for secret in ("one", "two")])
    assert again.results() == [result._replace(annulled_at=OPENED.at + 10, annulled_by="desk")]
    assert DatabaseReader(postgresql.url).saved(OPENED).next_game == then
    assert DatabaseReader(postgresql.url).results() == again.results()
    assert [(team.name, team.secret) for team in again.load().games[0].teams] == [("bob", "two")]
    again.commit([GameClosed(2)])
    assert again.load().games[0].teams == []
    again.commit([step(5)])
    before = again.load()
    again.commit([GameFiled(1, "/games/game-1.jsonl.gz"), JournalProgress(sent_through=5)])
    reader, saved = DatabaseReader(postgresql.url), again.load()
    assert (reader.games()[0], reader.files()) == ((OPENED, 5), {1: Path("/games/game-1.jsonl.gz")})
    assert reader.saved(OPENED).steps == []
    assert b"".join(saved.burned_before) == b"".join(before.burned_before)
    assert (len(b"".join(saved.burned_before)), saved.last_step) == (16 * 5, 5)
    start_again(postgresql, again, postgresql.url)
    again.commit([JournalProgress(ended=False)])  # its last step is deleted, and not lost
    again.close()


@needs("postgresql")
@pytest.mark.parametrize("filing", [FILED, LOBBY_FILED])
def test_a_server_that_is_killed_while_it_files_a_game_on_postgresql_has_all_of_it(
    filing: GameFiled, postgresql: PostgreSQL, tmp_path: Path
) -> None:
    name = "over" if filing is FILED else "lobby"
    with another_database(postgresql, name) as (_, url):
        fill(DatabaseJournal(url, key_file=tmp_path / "key"), over=filing is FILED).close()
        check_kills(url, tmp_path / "key", filing)


@contextlib.contextmanager
def another_database(postgresql: PostgreSQL, name: str) -> Iterator[tuple[psycopg.Connection[Any], str]]:
    """A database of a test's own: a connection that administers it, and its URL."""
    with psycopg.connect(postgresql.url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        yield admin, postgresql.url.removesuffix("postgres") + name


@needs("postgresql")
def test_a_database_that_loses_confirmed_commits_ends_its_server_and_the_games(
    postgresql: PostgreSQL, tmp_path: Path
) -> None:
    """Commits that do not wait for the disk (synchronous_commit = off) can be lost when the database ends."""
    with another_database(postgresql, "unsafe") as (_, url):
        pass  # its connection would be lost
    journal = DatabaseJournal(url, key_file=tmp_path / "key", power_safe=False)
    assert connection_of(journal).scalar(sql.text("SHOW synchronous_commit")) == "off"
    connection_of(journal).commit()
    journal.commit([OPENED, step(1), JournalProgress(ended=False)])
    start_again(postgresql, journal, url, "CHECKPOINT")
    journal.commit([step(2)])  # nothing was lost
    assert not journal.load().behind
    start_again(postgresql, journal, url, "DELETE FROM steps WHERE id = 2", "CHECKPOINT")
    with pytest.raises(JournalError, match=r"journal_corrupt.* has lost its last 1 steps; start the server again"):
        journal.commit([step(3)])
    journal.close()
    with contextlib.closing(DatabaseJournal(url, key_file=tmp_path / "key")) as again:
        assert "the database has started again" in again.load().behind
        again.commit([step(2)])
        assert not again.load().behind


def start_again(postgresql: PostgreSQL, journal: DatabaseJournal, url: str, *statements: str) -> None:
    """Kill the database as it is after these statements, let the journal notice, and start it."""
    freeze(journal)
    with psycopg.connect(url, autocommit=True) as other:
        for statement in statements:
            other.execute(statement)
    postgresql.kill()
    with pytest.raises(JournalUnavailable):
        journal.commit([step(9)])
    postgresql.start()


@needs("postgresql")
def test_an_owner_whose_lock_another_took_commits_nothing(postgresql: PostgreSQL, tmp_path: Path) -> None:
    """Its session ends, the standby is quicker than it, and what it held back is not written."""
    with another_database(postgresql, "taken") as (admin, url):
        first = DatabaseJournal(url, key_file=tmp_path / "key")
        freeze(first)  # so that the standby is the quicker one
        first.commit([OPENED, step(1)])
        waited: list[None] = []

        def stand_by() -> bool:
            waited.append(None)
            if len(waited) == 3:
                assert first.confirm(fresh=True) == Holding(sure=True, standby=True)
                held = admin.execute("SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND granted").fetchall()
                assert sorted(held) == [(0x73616C76,), (0x73616C77,)]  # which servers of other versions take, too
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
                    " AND mode = 'ExclusiveLock'"
                )
            return len(waited) > 1

        second = DatabaseJournal(url, key_file=tmp_path / "key", standby=stand_by)
        assert len(waited) >= 3
        lost = [step(2)]
        with pytest.raises(JournalUnavailable, match="journal_away"):
            first.commit(lost)
        for _ in range(2):
            with pytest.raises(JournalError, match="taken_over"):
                first.commit(lost)
        with pytest.raises(JournalError, match="taken_over"):
            first.confirm(fresh=True)
        assert second.load().last_step == 1
        second.commit([step(2)])
        second.close()
        with pytest.raises(JournalError, match="taken_over"):  # also when the lock is free again
            first.commit([step(3)])
        first.close()
        assert DatabaseReader(url).games() == [(OPENED, 2)]


@needs("postgresql")
def test_a_frozen_journal_owner_loses_its_lock_and_an_idle_one_does_not(postgresql: PostgreSQL, tmp_path: Path) -> None:
    with another_database(postgresql, "frozen") as (admin, url):
        first = DatabaseJournal(url, key_file=tmp_path / "key")
        first.load()
        owner = "SELECT pid FROM pg_stat_activity WHERE datname = 'frozen'"
        received = "SELECT state_change FROM pg_stat_activity WHERE datname = 'frozen'"
        [[pid]] = admin.execute(owner).fetchall()
        moments: set[object] = set()
        while len(moments) < 3 * LEASE_SECONDS / BEAT_SECONDS:  # it has nothing to write, and lets itself be heard
            moments.update(admin.execute(received).fetchall())
        assert admin.execute(owner).fetchall() == [(pid,)]
        freeze(first)
        DatabaseJournal(url, key_file=tmp_path / "key", standby=lambda: not threading.Event().wait(0.05)).close()
        assert first.confirm(fresh=False) == Holding()
        with pytest.raises(JournalError, match="taken_over"):
            first.confirm(fresh=True)
        first.close()


@needs("postgresql")
def test_a_journal_owner_frozen_in_the_middle_of_a_commit_loses_its_lock(
    postgresql: PostgreSQL, tmp_path: Path
) -> None:
    with another_database(postgresql, "midway") as (admin, url):
        first = DatabaseJournal(url, key_file=tmp_path / "key")
        first.load()
        freeze(first)
        first._connection.begin()
        first._write([OPENED, *(TeamAdmitted(1, name, "s") for name in "abcdefgh")])
        until(lambda: admin.execute("SELECT FROM pg_stat_activity WHERE datname = 'midway'").fetchall() == [])
        first._connection.invalidate()
        first.close()


@needs("postgresql")
def test_an_idle_journal_owner_notices_that_another_has_taken_over(postgresql: PostgreSQL, tmp_path: Path) -> None:
    with another_database(postgresql, "silent") as (_, url):
        owner = DatabaseJournal(url, key_file=tmp_path / "key")
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("UPDATE progress SET epoch = epoch + 1")

        def lost() -> str:
            try:
                owner.confirm(fresh=False)
            except JournalError as error:
                return error.code
            return ""

        assert until(lost) == "taken_over"
        owner.close()


@needs("postgresql")
def test_the_lock_of_a_connection_that_is_gone_is_waited_for(postgresql: PostgreSQL, tmp_path: Path) -> None:
    """The client has given up a connection of which the database knows nothing bad yet."""
    journal = DatabaseJournal(postgresql.url, key_file=tmp_path / "key")
    half_open = lose_connection(journal)
    with pytest.raises(JournalUnavailable, match=r"journal_away.*its lock is not free yet"):
        journal.commit([JournalProgress(ended=False)])
    assert journal.confirm(fresh=True) == Holding(sure=False)
    half_open.invalidate()
    while not journal.confirm(fresh=True).sure:
        pass  # the database's side of it ends in a moment
    journal.commit([JournalProgress(ended=False)])
    assert journal.confirm(fresh=True) == Holding()
    journal.close()


@contextlib.contextmanager
def _locked_table(postgresql: PostgreSQL, url: str) -> Iterator[None]:
    """Somebody looks for something in the steps, and leaves them locked."""
    with psycopg.connect(url) as other:
        other.execute("LOCK TABLE steps IN EXCLUSIVE MODE")
        yield


@contextlib.contextmanager
def _read_only(postgresql: PostgreSQL, url: str) -> Iterator[None]:
    """Somebody, or what guards the disk, lets nobody write to the database."""
    _set_read_only(url, "on")
    yield
    _set_read_only(url, "off")


def _set_read_only(url: str, value: str) -> None:
    name = url.rpartition("/")[2]
    with psycopg.connect(url, autocommit=True, options="-c default_transaction_read_only=off") as admin:
        admin.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {value}")
        others = "datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        admin.execute(f"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE {others}")


@contextlib.contextmanager
def _standing_still(postgresql: PostgreSQL, url: str) -> Iterator[None]:
    """Its machine, or the disk below it, stands still; for TCP, nothing is wrong."""
    with postgresql.standing_still():
        yield


@needs("postgresql")
@pytest.mark.parametrize("fault", [_standing_still, _locked_table, _read_only])
def test_a_database_that_takes_nothing_for_a_time_ends_no_server_and_holds_none_up(
    fault: Callable[[PostgreSQL, str], contextlib.AbstractContextManager[None]],
    postgresql: PostgreSQL,
    tmp_path: Path,
    monkeypatch: Patch,
) -> None:
    """Each try says that the journal is away; then the batch is written, once."""
    monkeypatch.setattr(bounded_connection, "ANSWER_SECONDS", 0.5)
    with another_database(postgresql, fault.__name__) as (_, url):
        journal = DatabaseJournal(f"{url}?connect_timeout=2", key_file=tmp_path / "key")
        journal.load()
        journal.commit([OPENED, step(1)])
        held: Batch = [step(2), JournalProgress(sent_through=1)]
        with fault(postgresql, url):
            for _ in range(2):
                with pytest.raises(JournalUnavailable, match="journal_away"):
                    journal.commit(held)

        def is_written() -> bool:
            with contextlib.suppress(JournalUnavailable):  # the lock of the former connection is free in a moment
                journal.commit(held)
                return True
            return False

        until(is_written)
        journal.commit([step(3)])
        assert DatabaseReader(url).games() == [(OPENED, 3)]
        journal.close()


@needs("postgresql")
@needs(ROOT)
def test_a_database_on_a_full_disk_is_waited_for(postgresql: PostgreSQL, tmp_path: Path) -> None:
    with postgresql.on_a_small_disk() as (url, disk):
        journal = DatabaseJournal(url, key_file=tmp_path / "key")
        journal.commit([OPENED, step(1)])
        filler = os.open(disk / "filler", os.O_CREAT | os.O_WRONLY)
        with contextlib.suppress(OSError):
            while os.write(filler, bytes(4096)):
                pass
        os.close(filler)
        written = 1

        def fill() -> None:
            nonlocal written
            while written < 10_000:
                journal.commit([step(written + 1)])
                written += 1

        with pytest.raises(JournalUnavailable, match="journal_full"):
            fill()
        (disk / "filler").unlink()
        journal.commit([step(written + 1)])
        assert DatabaseReader(url).games() == [(OPENED, written + 1)]
        journal.close()


#: Makes journals 1, 2, ... in a folder, each in a process that is killed behind the n-th change of its database, until
#: one lives. Forked, so that the libraries are loaded once.
_DIE_AT_EACH = """
import itertools, os, signal, sys
import sqlalchemy
from salvo_server.storage.journal import bounded_connection
from salvo_server.storage.journal.database import DatabaseJournal

for number in itertools.count(1):
    if not os.fork():
        left = number
        break
    if os.wait()[1] == 0:
        sys.exit()

@sqlalchemy.event.listens_for(sqlalchemy.engine.Engine, "after_cursor_execute")
def executed(connection, cursor, statement, *more):
    global left
    if statement.lstrip().upper().startswith(("CREATE", "INSERT", "UPDATE")):
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

DatabaseJournal(f"{sys.argv[1]}/{number}.journal").close()
"""


@pytest.mark.slow
def test_a_server_that_is_killed_while_it_makes_its_journal_makes_it_the_next_time(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _DIE_AT_EACH, str(tmp_path)], check=True, timeout=300)
    files = list(tmp_path.glob("*.journal"))
    assert len(files) >= 8  # killed behind a table and the version at the least, and one that lived
    for file in files:
        journal = DatabaseJournal(str(file))
        journal.commit([OPENED])
        assert [game.opened for game in journal.load().games] == [OPENED]
        journal.close()
