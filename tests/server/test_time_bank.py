"""A bank of time for each player: what counts, what is credited, and that a game comes out the same again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.recovery import LoggedWorld
from kit.referees import NOW, drawn
from salvo import messages as m
from salvo.messages import Limits
from salvo_server.core.referee import Referee
from salvo_server.service import Service

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
