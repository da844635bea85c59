"""What a server says of its tables, for people and for programs."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from random import Random
from types import SimpleNamespace

import pytest

from salvo import messages as m
from salvo.messages import Limits
from salvo.rules import SALVO
from salvo_server.brokers.embedded import addresses
from salvo_server.brokers.embedded.addresses import lan_addresses
from salvo_server.commands.serve_report import ServeReport
from salvo_server.core.referee import Referee

LATE = m.CommandRefused("ann", "turn_timeout", "turn 3 ended after 30 s with 5 shots not fired")
FALL = m.SalvoResolved(1, 3, "ann", 0, 0, (), ("ann",), None, None)
SINK = m.SalvoResolved(1, 4, "bob", 5, 2, (), ("ann", "cat"), None, None)


def said(capsys: pytest.CaptureFixture[str], *announcements: m.Announcement, table: str = "") -> Sequence[str]:
    ServeReport(False, None)(table, 0, m.TimePassed(), announcements)
    lines = capsys.readouterr().out.splitlines()
    assert all(re.fullmatch(r"\d\d:\d\d:\d\d .*", line) for line in lines)
    return [line[9:] for line in lines]


def test_missed_turns_and_defeats_are_told_as_they_happen(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, LATE, FALL) == [
        "ann: turn 3 ended after 30 s with 5 shots not fired",
        "turn 3: ann is out, after turns without a shot",
    ]
    assert said(capsys, SINK, table="blue") == [
        "table blue: turn 4: ann is defeated by bob",
        "table blue: turn 4: cat is defeated by bob",
    ]


# --- where teams come to ------------------------------------------------------------------------------------------


def test_the_likeliest_address_is_first_and_those_of_no_use_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "_outgoing", lambda family: "192.0.2.7" if family is socket.AF_INET else "")
    monkeypatch.setattr(addresses, "_of_interfaces", lambda: ["127.0.0.1", "169.254.1.1", "10.0.0.2", "192.0.2.7"])
    assert lan_addresses("0.0.0.0") == ["192.0.2.7", "10.0.0.2"]
    assert lan_addresses("::") == ["192.0.2.7", "10.0.0.2"]


# --- who is not there ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "at_this_pace"),
    [(Limits(pace_ms=800), ", 8 minutes at this pace"), (Limits(), ""), (Limits(pace_ms=800, by_host=True), None)],
    ids=["paced", "at once", "seated by a league"],
)
def test_how_long_a_game_of_many_will_take_is_told_before_it_begins_and_as_it_does(
    limits: Limits, at_this_pace: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    referee = Referee(7, limits=limits)
    report = ServeReport(False, None)
    report.contest = SimpleNamespace(service=SimpleNamespace(tables={"": SimpleNamespace(referee=referee)}))  # type: ignore[assignment]
    names = [f"bot{number}" for number in range(7)]
    commands: list[m.Input] = [
        *(m.Participate(name, name.encode()) for name in names),
        m.Leave(names[6]),
        m.Participate(names[6], b"again"),
        *(m.PlaceShip(name, place.ship, place) for name in names for place in SALVO.random_fleet(Random(1)).placements),
        m.TimePassed(),
    ]
    for command in commands:
        now = referee.deadline() or 0 if isinstance(command, m.TimePassed) else 0
        report("", now, command, referee.receive(command, now))
    lines = [line[9:] for line in capsys.readouterr().out.splitlines() if "turns" in line]
    luck = "places of such a game are mostly luck; a league plays at small tables: salvo league league.toml"
    if at_this_pace is None:
        assert lines == ["the game begins: 7 teams, about 583 turns, 8 minutes at this pace"]
    else:
        assert lines == [
            f"7 teams, about 583 turns{at_this_pace}; {luck} --new TEAMS HOURS",
            f"the game begins: 7 teams, about 583 turns{at_this_pace}",
        ]
