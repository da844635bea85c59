"""A pause after each result: what is refused in it, whose time runs, and what an outage makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import click
import pytest

from kit.paced import PACED, set_by_a_host
from kit.referees import NOW, current, drawn
from salvo import messages as m
from salvo import topics
from salvo.codec.announcement_writer import write_announcement
from salvo.codec.recap_writer import write_recap
from salvo.events import Event, SalvoWanted
from salvo.messages import Limits
from salvo.rules import SMACKDOWN, XBS
from salvo.seal import Sealer, key_to_team, make_blob
from salvo.session import Session
from salvo_server.commands.control import read_arguments
from salvo_server.core.referee import Referee
from salvo_server.core.table import Table
from salvo_server.settings import load_settings


def salvo(referee: Referee, now: int) -> list[m.Announcement]:
    """The player whose turn it is fires all that it has, from the last row up."""
    assert referee.game is not None
    me = current(referee)
    rival = next(name for name in referee.players if name != me)
    said: list[m.Announcement] = []
    for _ in range(referee.game.shots_left):
        number = len(referee.match.players[me].shots)
        said += referee.receive(m.Fire(me, rival, number % 10 + 1, 10 - number // 10), now)
    return said


# --- the pause ------------------------------------------------------------------------------------------------------


def test_every_result_of_a_round_has_its_pause_and_none_is_between_its_turns() -> None:
    referee = drawn(PACED, SMACKDOWN)
    assert isinstance(salvo(referee, NOW)[-1], m.TurnBegan)
    results = [each for each in salvo(referee, NOW) if isinstance(each, m.SalvoResolved)]
    assert len(results) == 2
    assert referee.deadline() == NOW + 1_600


# --- what comes in it -----------------------------------------------------------------------------------------------


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


# --- kept and verified ----------------------------------------------------------------------------------------------


# --- who looks on ---------------------------------------------------------------------------------------------------


def test_a_client_that_comes_back_in_a_pause_fires_when_its_turn_begins_and_not_before() -> None:
    book, secret = XBS, "secret"
    table = Table(drawn(PACED, book), lambda _: m.ServerStatus(True, "1", 1, "open"))
    referee = table.referee
    table.open()
    me = current(referee)
    salvo_of(table, NOW)
    table.carry_out(m.TimePassed(), NOW + 800)
    rival = current(referee)
    salvo_of(table, NOW + 900)
    assert referee.current is None
    sealer = Sealer(secret, bytes(16))
    session = Session(me, secret, Random(1), sealer=sealer)
    session.connected()
    kept = table.retained | {
        "/game/rules": write_announcement(referee.rules, "")[0].payload,
        "/players/list": json.dumps(list(referee.players)).encode(),
        "/game/state": b"turn",
    }
    wanted: list[Event] = []
    for topic, payload in kept.items():
        wanted += session.receive(topic, payload, True, 0.0)
    recap = referee.recap(me)
    assert recap is not None
    blob = make_blob(write_recap(recap, book.grid), key_to_team(sealer.key), bytes(16), bytes(range(24)))
    wanted += session.receive(topics.RECAP.of(player=me), blob.encode(), False, 0.1)
    assert not any(isinstance(event, SalvoWanted) for event in wanted)
    assert session.view is not None
    assert session.view.shots == 0
    for topic, payload, retain in table.carry_out(m.TimePassed(), NOW + 1_700).publications:
        wanted += session.receive(topic, payload, retain, 1.0)
    [asked] = [event for event in wanted if isinstance(event, SalvoWanted)]
    assert (asked.view.turn, asked.view.shots, len(asked.view.results)) == (3, 1, 2)
    assert rival != me


def salvo_of(table: Table, now: int) -> None:
    """The player whose turn it is fires the one shot that it has."""
    me = current(table.referee)
    rival = next(name for name in table.referee.players if name != me)
    table.carry_out(m.Fire(me, rival, 1, 1), now)


# --- the setting ----------------------------------------------------------------------------------------------------


def _settings(seconds: str, tmp_path: Path) -> Limits:
    return load_settings({"pace_seconds": float(seconds)}).limits


def _control(seconds: str, tmp_path: Path) -> Limits:
    return set_by_a_host(read_arguments(m.HostAction.SET, (f"pace_seconds={seconds}",))["settings"])


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
    with pytest.raises(click.UsageError, match="is not a number of seconds"):
        read_arguments(m.HostAction.SET, (f"pace_seconds={seconds}",))
