"""A bank of time for each player: what counts, what is credited, and that a game comes out the same again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.journals import export
from kit.proofs import entries_of, verify
from kit.recovery import LoggedWorld
from kit.referees import NOW, drawn
from salvo import messages as m
from salvo.codec.header import read_header
from salvo.messages import Limits
from salvo_server.core.referee import Referee
from salvo_server.service import Service
from salvo_server.settings import SettingsError, load_settings
from salvo_server.storage.transcript import check, read_transcript, repeat_game

BANK = Limits(players=2, bank_ms=10_000, increment_ms=1_000)


def salvo(referee: Referee, now: int) -> m.TurnBegan:
    """The player fires all that it has; return the turn that follows."""
    assert referee.current is not None
    assert referee.game is not None
    me = referee.current.name
    said: list[m.Announcement] = []
    for column in range(1, referee.game.shots_left + 1):
        said += referee.receive(m.Fire(me, "bob" if me == "ann" else "ann", column, 10), now)
    [turn] = [each for each in said if isinstance(each, m.TurnBegan)]
    return turn


def test_the_bank_counts_from_the_broker_s_confirmation_to_the_last_shot() -> None:
    referee = drawn(BANK)
    first = referee.current
    assert first is not None
    assert first.bank_ms == 11_000  # with the increment of this turn
    referee.receive(m.TurnDelivered(1), NOW + 400)
    salvo(referee, NOW + 3_400)
    assert first.bank_ms == 8_000
    salvo(referee, NOW + 9_000)  # of a turn that was not confirmed before its end nothing is taken
    assert [player.bank_ms for player in referee.match.players.values() if player is not first] == [11_000]
    assert first.bank_ms == 9_000
    assert referee.awaits_delivery() == 3


def test_the_end_that_is_announced_is_never_later_than_the_real_one() -> None:
    referee = drawn(BANK)
    turn = salvo(referee, NOW + 1_000)
    assert turn.deadline - turn.now == 11_000
    referee.receive(m.TurnDelivered(2), NOW + 1_300)
    assert referee.deadline() == turn.deadline + 300
    assert referee.receive(m.TimePassed(), turn.deadline) == []


def test_who_has_used_up_the_bank_loses_the_turn_and_is_told_why() -> None:
    referee = drawn(BANK)
    first = referee.current
    assert first is not None
    referee.receive(m.TurnDelivered(1), NOW)
    [refused, *_] = referee.receive(m.TimePassed(), NOW + 11_000)
    assert refused == m.CommandRefused(
        first.name, "bank_empty", "turn 1 ended when your 10 s for this game were used up, with 5 shots not fired"
    )
    assert first.bank_ms == 0
    turn = salvo(referee, NOW + 12_000)
    assert turn.deadline - turn.now == 1_000  # the increment


@pytest.mark.parametrize(("bank_ms", "code"), [(4_999, "bank_empty"), (5_000, "turn_timeout")])
def test_of_two_ends_in_the_same_millisecond_the_deadline_is_the_one_that_counts(bank_ms: int, code: str) -> None:
    referee = drawn(Limits(turn_ms=5_000, bank_ms=bank_ms))
    first = referee.current
    assert first is not None
    referee.receive(m.TurnDelivered(1), NOW)
    assert referee.deadline() == NOW + bank_ms
    assert referee.receive(m.TimePassed(), NOW + bank_ms - 1) == []
    [refused, *_] = referee.receive(m.TimePassed(), NOW + bank_ms)
    assert isinstance(refused, m.CommandRefused)
    assert (refused.code, first.bank_ms) == (code, 0)


def test_a_second_confirmation_of_a_turn_takes_no_time_back() -> None:
    referee = drawn(BANK)
    first = referee.current
    assert first is not None
    referee.receive(m.TurnDelivered(1), NOW)
    assert referee.receive(m.TurnDelivered(1), NOW + 5_000) == []
    assert referee.deadline() == NOW + 11_000
    salvo(referee, NOW + 6_001)
    assert first.bank_ms == 4_999


def test_an_outage_takes_nothing_off_the_bank() -> None:
    referee = drawn(BANK)
    first = referee.current
    assert first is not None
    referee.receive(m.TurnDelivered(1), NOW)
    [resumed] = referee.receive(m.Resumed(), NOW + 9_000)
    assert isinstance(resumed, m.TurnResumed)
    assert resumed.deadline - resumed.now == 11_000
    assert first.bank_ms == 11_000
    referee.receive(m.TurnDelivered(1), NOW + 9_500)
    salvo(referee, NOW + 10_500)
    assert first.bank_ms == 10_000


class BankWorld(LoggedWorld):
    """A server with a bank on a journal that outlives it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, limits=BANK)

    def confirm(self) -> None:
        """The broker acknowledges all that was published."""
        self.wire.delivered = self.wire.published
        self.run()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[BankWorld]:
    world = BankWorld(tmp_path / "a.journal")
    yield world
    world.journal.close()


def banks(service: Service) -> dict[str, int]:
    return {player.name: player.bank_ms for player in service.tables[""].referee.match.players.values()}


def test_the_way_to_the_broker_and_back_is_credited(world: BankWorld) -> None:
    world.join()
    assert json.loads(world.table.retained["/game/rules"])["bank_seconds"] == 10
    assert world.table.referee.current is not None
    first = world.table.referee.current.name
    world.now += 700  # the broker takes its time
    world.confirm()
    world.now += 2_000
    world.fire(5)
    assert banks(world.service)[first] == 9_000
    world.now += 2_500  # shots that come with the confirmation of their turn cost nothing
    world.wire.give(*world.shot(1, 1))
    world.confirm()
    world.fire(4)
    assert set(banks(world.service).values()) == {10_000, 11_000}


def test_a_game_with_a_bank_is_recovered_executed_and_verified(world: BankWorld, tmp_path: Path) -> None:
    world.join()
    for milliseconds in (300, 40, 1_500, 0):
        world.confirm()
        world.now += milliseconds
        world.fire(5)
    world.confirm()
    world.now += 100
    world.fire(2)
    before = banks(world.service)
    world.restart(away=3_600_000)
    assert banks(world.service) == before
    world.confirm()
    world.now += 12_000
    world.run()  # a turn that the bank has ended
    world.play()
    world.run()
    saved = world.journal.game("", 1)
    file = tmp_path / "game.jsonl"
    export(saved, file)
    steps, _ = check(read_transcript(file))
    inputs = [json.loads(line) for line in file.read_text().splitlines()]
    assert steps > sum("delivered" in each for each in inputs) >= 6
    assert any("bank_empty" in line for line in file.read_text().splitlines())
    assert read_header(saved.opened.header).limits == BANK
    assert repeat_game(saved)[1]
    lines = [payload + b"\n" for payload in world.first_heard()]
    assert lines == world.from_journal()
    assert verify(lines).finding is None
    assert sum("delivered" in entry.get("step", {}).get("input", {}) for entry in entries_of(lines)) >= 6


def test_an_increment_without_a_bank_is_a_mistake() -> None:
    with pytest.raises(SettingsError, match=r"^bad_setting: --increment-seconds adds to a bank; "):
        load_settings({"increment_seconds": 1})
    assert load_settings({"bank_seconds": 20, "increment_seconds": 1}).limits.bank_ms == 20_000
