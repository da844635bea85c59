"""A server whose loop stands still is offline for everybody, though its broker answers."""

from __future__ import annotations

import threading

import pytest

from kit.command_line import run
from kit.waiting import until
from salvo_server.brokers.embedded import attached
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings


def test_health_reports_a_server_that_stands_still_and_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attached, "MOST_SILENT_LOOKS", 2)
    contest = Contest(ServerSettings(listen="127.0.0.1:0", profile="open", journal="none"))
    stands, goes_on = threading.Event(), threading.Event()
    serves = contest.service.on_round

    def stand_still(late_ms: int) -> None:
        serves(late_ms)
        if stands.is_set():
            goes_on.wait(60)

    contest.service.on_round = stand_still
    with contest.in_background():
        until(lambda: run("health", contest.url).stdout.startswith("online"))
        stands.set()
        until(lambda: "is offline" in run("health", contest.url).stderr)
        stands.clear()
        goes_on.set()
        until(lambda: run("health", contest.url).stdout.startswith("online"))
