"""The signed log at the server: entries that a team has missed, and a server that ends anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.proofs import IDENTITY, verify
from kit.recovery import LoggedWorld
from salvo.codec.command_writer import write_resend
from salvo.messages import Draw
from salvo_game.journal_interface import Batch, JournalUnavailable
from salvo_game.log import MAX_ENTRIES, PAUSE_MS, Resends, TableLog
from salvo_server.service import JOURNAL_RETRY_MS


class AskedWorld(LoggedWorld):
    def ask(self, first: int, name: str = "ann") -> None:
        self.wire.give(f"/players/{name}/resend", write_resend(first))

    def announced(self, rounds: int = 1) -> list[bytes]:
        """What is said in the log in these rounds, each with everything before it confirmed, and some time passed."""
        before = len(self.received)
        for _ in range(rounds):
            self.now += PAUSE_MS
            self.wire.delivered = self.wire.published
            self.service.step()
            self.received += [payload for topic, payload in self.wire.announced if topic == "/game/log"]
            self.wire.announced = [each for each in self.wire.announced if each[0] != "/game/log"]
        return self.received[before:]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[AskedWorld]:
    world = AskedWorld(tmp_path / "a.journal")
    world.join()
    yield world
    world.journal.close()


def test_the_whole_log_can_be_had_in_portions_after_the_end_and_after_a_crash(world: AskedWorld) -> None:
    world.play()
    everything = world.first_received()
    assert len(everything) > 2 * MAX_ENTRIES
    world.restart()
    world.announced()
    world.ask(0)
    rounds = [world.announced() for _ in range(len(everything) // MAX_ENTRIES + 2)]
    assert [payload for announced in rounds for payload in announced] == everything
    assert max(map(len, rounds)) == MAX_ENTRIES


def test_a_team_that_does_not_play_gets_no_resend(world: AskedWorld) -> None:
    world.announced()
    for name in ("carl", "Ann", "players"):
        world.ask(0, name)
    world.wire.give("/nowhere/players/ann/resend", write_resend(0))
    assert world.announced(2) == []


def test_a_portion_of_the_log_is_sent_after_the_previous_one_is_delivered(world: AskedWorld) -> None:
    world.play()
    world.announced()
    world.ask(0)
    assert len(world.announced()) == MAX_ENTRIES
    world.wire.delivered = world.wire.published - 1
    world.now += 60_000
    received = len(world.received)
    LoggedWorld.run(world)
    assert len(world.received) == received
    assert world.service.wait_seconds(1.0) > 0  # and it does not turn in circles meanwhile
    assert len(world.announced()) == MAX_ENTRIES


def _refuse(batch: Batch) -> None:
    raise JournalUnavailable("journal_full", "no room")


def test_a_resend_waits_while_the_broker_is_away_or_the_journal_takes_nothing(world: AskedWorld) -> None:
    world.announced()
    world.ask(0)
    world.wire.connected = False
    assert world.announced(2) == []
    world.wire.connected = True
    commit = world.journal.commit
    world.journal.commit = _refuse
    world.wire.give(*world.shot(1, 1))
    assert world.announced(2) == []
    world.journal.commit = commit
    world.now += JOURNAL_RETRY_MS
    assert world.announced(3) == world.first_received()  # again, and that the turn begins anew


def test_resends_of_many_tables_share_one_portion(world: AskedWorld) -> None:
    logs = {str(number): TableLog(world.table.header, IDENTITY) for number in range(MAX_ENTRIES + 8)}
    resends = Resends(logs)
    for table in logs:
        resends.ask(table, "ann", 0, 0)
    assert len(resends.take_due(0, 0, 0)) == MAX_ENTRIES
    assert resends.take_due(PAUSE_MS, MAX_ENTRIES - 1, MAX_ENTRIES) == []
    assert resends.take_due(PAUSE_MS - 1, MAX_ENTRIES, MAX_ENTRIES) == []
    assert len(resends.take_due(PAUSE_MS, MAX_ENTRIES, MAX_ENTRIES)) == 8
    assert resends.deadline(2 * MAX_ENTRIES) is None


# --- a server that ends anywhere ----------------------------------------------------------------------------------


@pytest.fixture
def logged(tmp_path: Path) -> Iterator[LoggedWorld]:
    world = LoggedWorld(tmp_path / "a.journal")
    yield world
    world.journal.close()


def test_a_lobby_in_which_nothing_happened_is_the_same_game_after_a_crash(logged: LoggedWorld) -> None:
    before = logged.first_received()
    logged.restart()
    assert logged.first_received() == before


def test_a_change_of_the_draw_takes_effect_with_the_next_game(tmp_path: Path) -> None:
    """A journal that a server without an identity has begun, with the draw by seed."""
    world = LoggedWorld(tmp_path / "a.journal", identity=None, draw="seed")
    world.join()
    world.fire(2)
    assert '"draw":"seed"' in world.journal.load().games[0].opened.header
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
    logged: LoggedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged.join()
    before = logged.first_received()
    monkeypatch.setattr("salvo_game.table.__version__", "9.9")
    logged.restart()
    assert logged.first_received()[: len(before)] == before
    assert b'"version":"9.9"' not in b"".join(logged.received)
