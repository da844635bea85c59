"""The terminal's views and the pages of the hall, against the table of what every follower shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kit.followed_tables import CASES, Case, Outside
from salvo.net.inbound import Inbound
from salvo.table_state import NewConnection
from salvo_watch.live_views import Watcher
from salvo_watch.web.tables import Arrived, ShownTable
from watch.receiving import tell
from watch.watchers import connected


class Terminal(Outside):
    def __init__(self) -> None:
        self.held, self.watcher = connected(Watcher, "")
        self.records: list[dict[str, Any]] = []

    def receive(self, topic: str, payload: bytes, *, retained: bool) -> None:
        self.held.arriving.append(Inbound(topic, payload, retained, 1, 1))
        self.records += [news.record for news in self.watcher.poll(0)]

    def connect(self) -> None:
        self.held.connect()

    def known(self) -> Mapping[str, Any]:
        boards = self.watcher.figures
        ends = [record for record in self.records if record["event"] == "won"]
        winners = tuple(ends[-1].get("tied") or filter(None, [ends[-1]["winner"]])) if ends else ()
        assert len(ends) == self.watcher.games_ended
        known = {
            "state": self.watcher.heading().split("   ")[1],
            "players": tuple(boards),
            "current": self.watcher.current,
            "shots": {name: board.shots for name, board in boards.items()},
            "whole": not any(board.partial for board in boards.values()),
            "out": {name for name, board in boards.items() if board.out},
        }
        over = {"winners": winners, "ends": len(ends), "aborted": bool(ends) and not winners}
        return known | over if known["state"] == "over" else known


class Page(Outside):
    def __init__(self) -> None:
        self.table, self.now = ShownTable(""), 0.0

    def receive(self, topic: str, payload: bytes, *, retained: bool) -> None:
        self.now += 1.0
        tell(self.table, topic, payload, retained=retained, now=self.now)

    def connect(self) -> None:
        self.table.receive(Arrived(NewConnection()), self.now)

    def known(self) -> Mapping[str, Any]:
        picture = self.table.picture(self.now)
        players, turn = picture["players"], picture["turn"]
        known = {
            "state": picture["state"],
            "players": tuple(player["name"] for player in players),
            "turn": self.table.screen.turn,
            "current": turn["player"] if turn is not None else "",
            "whole": all(player["shots"] is not None for player in players),
            "out": {player["name"] for player in players if player["out"]},
            "winners": tuple(picture["winners"]),
            "aborted": picture["aborted"],
            "shots": {player["name"]: player["shots"] for player in players},
        }
        ends = sum(item["kind"] == "won" for item in picture["feed"])
        return known | {"players": tuple(sorted(known["players"])), "ends": ends}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_terminal_shows_of_a_table_what_every_follower_shows(case: Case) -> None:
    case.check(Terminal())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_page_shows_of_a_table_what_every_follower_shows(case: Case) -> None:
    case.check(Page())
