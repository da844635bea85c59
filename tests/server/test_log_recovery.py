"""The log of a server that ends anywhere: the next one goes on with it, bit by bit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.proofs import IDENTITY, entries_of, verify
from kit.recovery import LoggedWorld
from salvo.messages import Draw


@pytest.fixture
def world(tmp_path: Path) -> Iterator[LoggedWorld]:
    world = LoggedWorld(tmp_path / "a.journal")
    yield world
    world.journal.close()


def test_the_log_over_many_kills_is_the_one_of_the_journal_and_fair(world: LoggedWorld) -> None:
    world.restart()
    world.join()
    for fired in range(7):
        world.restart(away=100)
        world.fire(fired)
    world.play()
    lines = [payload + b"\n" for payload in world.first_heard()]
    assert lines == world.from_journal()
    report = verify(lines)
    assert report.finding is None
    assert sum("resume" in entry.get("step", {}).get("input", {}) for entry in entries_of(lines)) == 7


def test_a_game_of_before_goes_on_and_only_the_next_one_is_drawn_otherwise(tmp_path: Path) -> None:
    """A journal that a server without an identity has begun, with headers that name no draw."""
    world = LoggedWorld(tmp_path / "a.journal", identity=None, draw="seed")
    world.join()
    world.fire(2)
    assert '"draw"' not in world.journal.load().games[0].opened.header
    world.given = {"identity": IDENTITY, "draw": "fair"}
    world.restart()
    assert world.table.header.draw is Draw.SEED
    assert world.table.referee.current is not None
    world.play()
    assert verify(world.from_journal()).finding is None
    world.now += 300_000
    world.run()
    assert world.table.header.draw.value == "fair"
    world.journal.close()


def test_a_game_that_one_version_began_is_logged_alike_by_the_next_one(
    world: LoggedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.join()
    before = world.first_heard()
    monkeypatch.setattr("salvo_server.core.table.__version__", "9.9")
    world.restart()
    assert world.first_heard()[: len(before)] == before
    assert b'"version":"9.9"' not in b"".join(world.heard)
