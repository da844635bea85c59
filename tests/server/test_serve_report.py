"""What a server says of its tables, for people and for programs."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from salvo import messages as m
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


def test_a_server_ends_after_its_own_games_however_many_earlier_runs_had() -> None:
    """One for two games, with the journal of a contest of four, ended after its first."""
    ended: list[bool] = []
    report, referee = ServeReport(False, 2), Referee(7)
    report.contest = SimpleNamespace(  # type: ignore[assignment]
        service=SimpleNamespace(tables={"": SimpleNamespace(referee=referee)}), seed="7", end=lambda: ended.append(True)
    )
    report("", 0, None, [m.TableOpened(5), m.GameWon("ann")])
    assert not ended
    report("", 0, None, [m.TableOpened(6), m.GameWon("ann")])
    assert ended


# --- where teams come to ------------------------------------------------------------------------------------------


def test_the_likeliest_address_is_first_and_those_of_no_use_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "_outgoing", lambda family: "192.0.2.7" if family is socket.AF_INET else "")
    monkeypatch.setattr(addresses, "_of_interfaces", lambda: ["127.0.0.1", "169.254.1.1", "10.0.0.2", "192.0.2.7"])
    assert lan_addresses("0.0.0.0") == ["192.0.2.7", "10.0.0.2"]
    assert lan_addresses("::") == ["192.0.2.7", "10.0.0.2"]
