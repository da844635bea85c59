"""A pause after each result, and a bank of time for each player: whose time runs, and what it counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kit.recovery import LoggedWorld
from kit.referees import NOW, current, drawn
from salvo import messages as m
from salvo.codec.commands import HOST, check_host
from salvo.messages import Limits
from salvo.rules import SMACKDOWN
from salvo_game.referee import Referee
from salvo_server.host.hosting import read_argument
from salvo_server.service import Service
from salvo_server.settings import load_settings

PACED = Limits(players=2, pace_ms=800)


def salvo(referee: Referee, now: int) -> list[m.Announcement]:
    """The player whose turn it is fires all that it has, from the last row up."""
    assert referee.game is not None
    me = current(referee)
    rival = next(name for name in referee.players if name != me)
    announced: list[m.Announcement] = []
    for _ in range(referee.game.shots_left):
        number = len(referee.match.players[me].shots)
        announced += referee.receive(m.Fire(me, rival, number % 10 + 1, 10 - number // 10), now)
    return announced


# --- the pause ------------------------------------------------------------------------------------------------------


def test_every_result_of_a_round_has_its_pause_and_none_is_between_its_turns() -> None:
    referee = drawn(PACED, SMACKDOWN)
    assert isinstance(salvo(referee, NOW)[-1], m.TurnBegan)
    results = [each for each in salvo(referee, NOW) if isinstance(each, m.SalvoResolved)]
    assert len(results) == 2
    assert referee.deadline() == NOW + 1_600


# --- whose time runs ------------------------------------------------------------------------------------------------


def test_no_time_of_a_pause_is_taken_off_a_turn_or_a_bank() -> None:
    referee = drawn(replace(PACED, bank_ms=10_000, increment_ms=1_000))
    me = current(referee)
    rival = "bob" if me == "ann" else "ann"
    referee.receive(m.TurnDelivered(1), NOW)
    salvo(referee, NOW + 2_000)
    assert referee.awaits_delivery() is None
    for turn in (1, 2):  # the broker confirms the turn that has ended; none has begun
        assert referee.receive(m.TurnDelivered(turn), NOW + 2_100) == []
    assert [referee.match.players[name].bank_ms for name in (me, rival)] == [9_000, 10_000]
    [began] = referee.receive(m.TimePassed(), NOW + 2_950)  # the server was a little late
    assert isinstance(began, m.TurnBegan)
    assert (began.now, began.deadline) == (NOW + 2_950, NOW + 13_950)
    assert referee.awaits_delivery() == 2
    referee.receive(m.TurnDelivered(2), NOW + 3_000)
    salvo(referee, NOW + 3_500)
    assert [referee.match.players[name].bank_ms for name in (me, rival)] == [9_000, 10_500]


# --- the setting ----------------------------------------------------------------------------------------------------


def _settings(seconds: str, tmp_path: Path) -> Limits:
    return load_settings({"pace_seconds": float(seconds)}).limits


def _control(seconds: str, tmp_path: Path) -> Limits:
    settings: m.NextGame = read_argument(m.HostAction.SET, f"pace_seconds={seconds}")["settings"]
    sent = HOST.write(m.HostCommand("desk", m.HostAction.SET, settings=settings))
    received = check_host(HOST.validate(sent)).settings
    assert received == settings
    return settings.limits(PACED)


@pytest.mark.parametrize("place", [_settings, _control])
@pytest.mark.parametrize(
    ("seconds", "pace_ms"), [("0.8", 800), ("0", None), ("1", 1_000), ("1.0", 1_000), ("0.0004", None), ("60", 60_000)]
)
def test_a_pace_may_have_decimals_wherever_it_is_set(
    place: Callable[[str, Path], Limits], seconds: str, pace_ms: int | None, tmp_path: Path
) -> None:
    assert (place(seconds, tmp_path).pace_ms or None) == pace_ms


@pytest.mark.parametrize("seconds", ["", ".4", "0,4", "-1", "1e9", "inf", "nan", "9" * 400, "\u0663"])
def test_a_pace_that_is_no_number_is_refused_before_it_is_sent(seconds: str) -> None:
    with pytest.raises(ValueError, match="is not a number of seconds"):
        read_argument(m.HostAction.SET, f"pace_seconds={seconds}")


# --- a bank of time ------------------------------------------------------------------------------------------------

BANK = Limits(players=2, bank_ms=10_000, increment_ms=1_000)


def whole_turn(referee: Referee, now: int) -> m.TurnBegan:
    """The player fires all that it has; return the turn that follows."""
    assert referee.current is not None
    assert referee.game is not None
    me = referee.current.name
    announced: list[m.Announcement] = []
    for column in range(1, referee.game.shots_left + 1):
        announced += referee.receive(m.Fire(me, "bob" if me == "ann" else "ann", column, 10), now)
    [turn] = [each for each in announced if isinstance(each, m.TurnBegan)]
    return turn


def test_the_bank_counts_from_the_broker_s_confirmation_to_the_last_shot() -> None:
    referee = drawn(BANK)
    first = referee.current
    assert first is not None
    assert first.bank_ms == 11_000  # with the increment of this turn
    referee.receive(m.TurnDelivered(1), NOW + 400)
    whole_turn(referee, NOW + 3_400)
    assert first.bank_ms == 8_000
    whole_turn(referee, NOW + 9_000)  # of a turn that was not confirmed before its end nothing is taken
    assert [player.bank_ms for player in referee.match.players.values() if player is not first] == [11_000]
    assert first.bank_ms == 9_000
    assert referee.awaits_delivery() == 3


@pytest.mark.parametrize(
    ("bank_ms", "code", "reason"),
    [
        (4_999, "bank_empty", "turn 1 ended when your 4 s for this game were used up, with "),
        (5_000, "turn_timeout", "turn 1 ended after 5 s with "),
    ],
)
def test_a_deadline_counts_before_a_bank_that_ends_in_the_same_millisecond(
    bank_ms: int, code: str, reason: str
) -> None:
    referee = drawn(Limits(turn_ms=5_000, bank_ms=bank_ms))
    first = referee.current
    assert first is not None
    referee.receive(m.TurnDelivered(1), NOW)
    assert referee.deadline() == NOW + bank_ms
    assert referee.receive(m.TimePassed(), NOW + bank_ms - 1) == []
    [refused, *_] = referee.receive(m.TimePassed(), NOW + bank_ms)
    assert isinstance(refused, m.CommandRefused)
    assert (refused.code, first.bank_ms) == (code, 0)
    assert refused.text.startswith(reason)


def test_a_second_confirmation_of_a_turn_takes_no_time_back() -> None:
    referee = drawn(BANK)
    first = referee.current
    assert first is not None
    referee.receive(m.TurnDelivered(1), NOW)
    assert referee.receive(m.TurnDelivered(1), NOW + 5_000) == []
    assert referee.deadline() == NOW + 11_000
    whole_turn(referee, NOW + 6_001)
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


def test_the_brokers_delay_is_not_charged_to_a_teams_time_bank(world: BankWorld) -> None:
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
