"""The power fails under a real server whose journal is not safe against that, and takes the last commits with it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kit.killed import SECONDS, Stage, kill

_NOT_SAFE = ("--journal-safe", "process", "--placement-seconds", "30")


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    stage.end()


def lose_power(journal: Path, early: int) -> None:
    """Leave of the log what the disk had, and nothing of its index; the machine starts again."""
    log = Path(f"{journal}-wal")
    log.write_bytes(log.read_bytes()[:early])
    Path(f"{journal}-shm").unlink()
    with contextlib.closing(sqlite3.connect(journal)) as database, database:
        database.execute("UPDATE progress SET relied_on = 'the boot before'")


def garble(journal: Path, early: int) -> None:
    log = Path(f"{journal}-wal")
    content = bytearray(log.read_bytes())
    content[early + 100] ^= 0xFF
    log.write_bytes(content)


@pytest.mark.long
@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lose_power, "the machine or the database has started again, and its journal was not safe"),
        (garble, "the end of its journal is lost"),
    ],
)
def test_a_server_that_has_lost_commits_gives_the_game_up_and_convicts_nobody(
    stage: Stage, damage: Callable[[Path, int], None], why: str
) -> None:
    journal = stage.folder / "evening.journal"
    settings = ("--journal", str(journal), *_NOT_SAFE)
    server = stage.serve(*settings)
    teams = {name: stage.join(name) for name in ("a", "b")}
    stage.until_salvos("a", 3)
    early = Path(f"{journal}-wal").stat().st_size
    stage.until_salvos("a", 8)
    kill(server)
    damage(journal, early)
    server = stage.serve(*settings)
    for team in teams.values():
        printed, logged = team.communicate(timeout=SECONDS)
        assert team.returncode == 0, logged
        assert "game 2: " in printed
        assert f"the host announces: game 1 does not resume: {why}" in logged
    server.terminate()
    assert f"game 1 does not resume: {why}" in stage.output(server)
    verified = stage.verify_all(*teams)
    for name in teams:
        assert f"{stage.proof(name)}: fair: game 2: " in verified
    assert "NOT FAIR" not in verified
    assert "2 files: the same story of game 1" in verified
