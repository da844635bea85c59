"""What the server itself reports of its tables, against the table of what every follower shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from kit.followed_tables import CASES, Case, Inside
from salvo import messages as m
from salvo_game.recordings import course_of
from salvo_server.commands.serve_report import ServeReport


class Recorded(Inside):
    def __init__(self) -> None:
        self.announced: list[m.Announcement] = []

    def announce(self, announcement: m.Announcement) -> None:
        self.announced.append(announcement)

    def known(self) -> Mapping[str, Any]:
        course = course_of([(0, self.announced, "")])
        known = {"players": course.players, "state": course.state, "turn": course.turns, "winners": course.winners}
        return {name: value for name, value in known.items() if m.TableReset() not in self.announced}


class Report(Inside):
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.report = ServeReport(True, None)
        self.report.contest = SimpleNamespace(seed=None, service=SimpleNamespace(tables={}))  # type: ignore[assignment]
        self._capsys = capsys

    def announce(self, announcement: m.Announcement) -> None:
        if announcement == m.StateChanged(m.State.LOBBY):
            self._capsys.readouterr()
        if not isinstance(announcement, (m.PlayersListed, m.StateChanged)):  # they ask for the referee
            self.report("", 0, m.TimePassed(), [announcement])

    def known(self) -> Mapping[str, Any]:
        records = [json.loads(line) for line in self._capsys.readouterr().out.splitlines()]
        out = {record["player"] for record in records if record["event"] == "defeated"}
        places = [record["places"] for record in records if record["event"] == "won"]
        return {"aborted": bool(places) and not places[-1]} | ({"out": out} if places or not records else {})


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_recorded_game_shows_of_a_table_what_every_follower_shows(case: Case) -> None:
    case.check(Recorded())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_server_report_shows_of_a_table_what_every_follower_shows(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    case.check(Report(capsys))
