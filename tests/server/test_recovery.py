"""A server that ends anywhere, and the next one on the same journal."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from kit.recovery import World, state
from kit.waiting import until
from salvo import messages as m
from salvo.codec.command_writer import write_shot
from salvo.codec.steps import read_input, write_input
from salvo.errors import SalvoError
from salvo.messages import State
from salvo.rules import Orientation, Placement
from salvo.wire.seal import Sealer
from salvo_game.journal_interface import Batch, Journal, JournalError, JournalUnavailable, JournalWrapper
from salvo_server.service import JOURNAL_RETRY_MS

INPUTS: tuple[m.Input, ...] = (
    m.Participate("ann", b""),
    m.PlaceShip("ann", "Carrier", Placement("carrier", 1, 1, Orientation.VERTICAL)),
    m.Fire("ann", "bob", 1, 1, m.ShotContext(1, 1, 1, "bob")),
    m.Skip("ann", m.TurnContext(1, 1)),
    m.Unreadable("ann", "", "not_json", "text"),
    m.Leave("ann", 1),
    m.HostCommand("desk", m.HostAction.SET, settings=m.NextGame(players=3, teams=("ann", "bob")), context=1),
    m.StruckOff("ann"),
    m.TimePassed(),
    m.Resumed(),
    m.TurnDelivered(1),
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path / "a.journal")
    yield world
    world.journal.close()


def test_a_restart_in_mid_salvo_finds_the_table_bit_by_bit(world: World) -> None:
    world.join()
    world.fire(7)
    before, retained = state(world.table), dict(world.table.retained)
    world.service = None  # type: ignore[assignment]
    world.restart()
    after = state(world.table)
    assert after[:-1] == before[:-1]  # type: ignore[index]
    assert world.table.retained.keys() == retained.keys()
    world.fire(3)
    assert world.table.referee.current is not None


def _shooter(world: World) -> str:
    current = world.table.referee.current
    assert current is not None
    return current.name


def test_a_message_is_answered_and_acknowledged_once_it_is_durable(world: World) -> None:
    """A full disk: the shot waits, the team is not told, the broker keeps it; with room again all goes on."""
    world.join()
    full = _Full(world.journal)
    world.service.journal = full
    before, acknowledged = len(world.wire.announced), len(world.wire.acknowledged)
    world.wire.give(*world.shot(3, 3))
    world.run()
    announced = world.wire.announced[before:]
    assert [(topic, json.loads(payload)["status"]) for topic, payload in announced] == [("/game/server", "paused")]
    world.wire.give(*world.shot(4, 4))
    world.run()
    assert len(world.wire.announced) == before + 1
    assert len(world.wire.acknowledged) == acknowledged
    assert len(world.table.referee.match.players[_shooter(world)].shots) == 1  # the second one waits unread
    full.full = False
    world.now += JOURNAL_RETRY_MS
    world.run()
    shots = [topic for topic, _ in world.wire.announced[before:] if topic.endswith("/hit")]
    assert len(shots) == 2
    fired = [m.topic for m in world.wire.acknowledged[acknowledged:] if m.topic.endswith("/fire")]
    assert fired == [f"/players/{_rival(world)}/fire"] * 2
    status = [json.loads(payload)["status"] for topic, payload in world.wire.announced if topic == "/game/server"]
    assert status[-1] == "online"


def test_a_message_that_waits_for_its_key_is_acknowledged_when_it_was_read(world: World) -> None:
    world.join()
    before, shooter = len(world.wire.acknowledged), _shooter(world)
    fresh = Sealer(f"secret {shooter}", bytes(range(16)))
    world.wire.give(f"/players/{_rival(world)}/fire", write_shot(3, 3, None, fresh))

    def acknowledged() -> list[str]:
        world.run()
        return [message.topic for message in world.wire.acknowledged[before:]]

    assert until(acknowledged) == [f"/players/{_rival(world)}/fire"]
    assert len(world.table.referee.match.players[shooter].shots) == 1


def _rival(world: World) -> str:
    return "bob" if _shooter(world) == "ann" else "ann"


class _Full(JournalWrapper):
    """The real journal behind a disk that is full for now."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self.full = True

    def commit(self, batch: Batch) -> None:
        if self.full:
            raise JournalUnavailable("journal_full", "no room")
        super().commit(batch)


def test_a_cleanly_ended_server_starts_a_new_game_unless_set_to_resume(world: World) -> None:
    world.join()
    world.fire(2)
    world.service.go_offline()
    world.restart()
    assert (world.table.referee.state, world.table.referee.number) == (State.LOBBY, 2)
    assert world.wire.retained["/game/state"] == b"lobby"
    stored = {topic: payload for topic, payload in world.wire.retained.items() if payload and "/players/" in topic}
    assert stored == {"/players/count": b"0", "/players/list": b"[]"}
    world.join()
    world.fire(2)
    world.service.go_offline()
    world.restart("always")
    assert (world.table.referee.state, world.table.referee.number) == (State.TURN, 2)
    world.restart("never")
    assert (world.table.referee.state, world.table.referee.number) == (State.LOBBY, 3)


@pytest.mark.parametrize(
    ("change", "code", "named"),
    [
        ("UPDATE steps SET input = replace(input, '\"x\":2', '\"x\":4') WHERE id = 14", "journal_diverged", "step 14"),
        ("UPDATE steps SET at = at + 1 WHERE id = 5", "journal_diverged", "step 5"),
        ("UPDATE steps SET input = 'x' WHERE id = 9", "journal_corrupt", "step 9"),
        ("UPDATE steps SET input = replace(input, 'carrier', 'raft') WHERE id = 2", "journal_corrupt", "step 2"),
        ("DELETE FROM steps WHERE id = 8", "journal_diverged", "step 8 (record 9)"),
        ("UPDATE games SET header = substr(header, 1, 50)", "journal_corrupt", "its header"),
        ('UPDATE games SET header = replace(header, \'"seed":"7"\', \'"seed":"8"\')', "journal_diverged", "step 1 "),
    ],
)
def test_a_journal_that_was_tampered_with_starts_no_game(world: World, change: str, code: str, named: str) -> None:
    world.join()
    world.fire(4)
    world.journal.close()
    with contextlib.closing(sqlite3.connect(world.path)) as raw, raw:
        assert raw.execute(change).rowcount > 0
    with pytest.raises(SalvoError) as caught:
        world.restart()
    assert isinstance(caught.value, JournalError)
    assert (caught.value.code, named in caught.value.text) == (code, True), caught.value
    assert "--journal" in caught.value.text


def test_every_input_of_a_table_can_be_stored_in_the_journal() -> None:
    assert {type(read_input(write_input(each))) for each in INPUTS} == set(get_args(m.Input))


# --- the referee's view -------------------------------------------------------------------------------------------


def referee_announced(world: World) -> list[bytes]:
    return [payload for topic, payload in world.wire.announced if topic == "/game/referee"]


def test_the_referees_view_stands_again_as_it_stood_before_a_crash(world: World) -> None:
    world.restart(referee=True)
    world.join()
    world.fire(7)
    stored = world.wire.retained["/game/referee"]
    del world.wire.retained["/game/referee"]  # the broker was killed, too
    world.restart(referee=True)
    assert referee_announced(world) == [stored]
    world.fire(3)
    assert json.loads(referee_announced(world)[-1])["turn"] == 2


def test_a_game_that_was_given_up_is_not_published_again(world: World) -> None:
    world.join()
    world.restart("never")
    retained = dict(world.wire.retained)
    world.restart()
    assert world.wire.retained == retained
    assert retained["/game/state"] == b"lobby"


def test_a_former_game_that_cannot_be_executed_again_keeps_no_server_from_its_start(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    world.join()
    world.restart("never")
    with contextlib.closing(sqlite3.connect(world.path)) as journal:
        journal.execute('UPDATE steps SET "check" = zeroblob(16)')
        journal.commit()
    world.restart()
    assert world.table.referee.state is State.LOBBY
    assert "journal_diverged: game 1, step 1 (record 1)" in caplog.text
