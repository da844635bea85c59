"""Who comes in the wrong way or at the wrong time is told in one line, within seconds, what is the matter."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from kit.brokers import Broker, StartServer
from kit.guarded import guarded, wait_for_users
from kit.players import Heard, Slower, join, salvos
from kit.waiting import until
from salvo import messages as m
from salvo.events import Refused, Waits

_SECONDS = 60.0


class Program:
    """A command line program, and what it says on both of its outputs."""

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}
        own = clean | {"XDG_CONFIG_HOME": str(folder), "PYTHONUNBUFFERED": "1"} | environment
        self._file = folder / f"said-{time.monotonic_ns()}"
        with self._file.open("w") as out:
            self._process = subprocess.Popen(
                [sys.executable, *arguments], stdout=out, stderr=subprocess.STDOUT, text=True, env=own
            )

    @property
    def said(self) -> str:
        return self._file.read_text()

    def says(self, text: str) -> None:
        """Return when it has said something."""
        until(lambda: text in self.said, shown=lambda: self.said)

    def ends(self) -> str:
        """Return what it has said, when it has ended with an error."""
        assert self._process.wait(_SECONDS) == 1, self.said
        return self.said.strip()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait(60)


def salvo(folder: Path, *arguments: str, **environment: str) -> Program:
    return Program(folder, "-m", "salvo", *arguments, **environment)


@pytest.mark.slow
def test_a_team_that_joins_during_a_game_places_one_fleet_in_the_next(
    broker: Broker, start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The story: it asked twice in the next lobby, placed twice, and got five times ``fleet_final``."""
    monkeypatch.setattr("salvo.session.placing.PATIENCE_SECONDS", 60.0)  # nor is a fleet sent again on a slow machine
    heard, told = Heard(), list[Any]()
    with start_server(heard, placement_seconds=6, over_seconds=1):
        for name in ("a", "b"):
            join(broker.url, name, Slower(), games=2)
        heard.until(salvos(2))
        join(broker.url, "late", listener=told.append)
        heard.until(lambda said: sum(isinstance(a, m.GameWon) for a in said) == 2)
    assert "late" in [stats.player for stats in heard.of(m.PlayerStats)]
    assert [event for event in told if isinstance(event, Refused)] == []
    assert [refused for refused in heard.of(m.PlacementRefused) if refused.to == "late"] == []
    assert [event.text for event in told if isinstance(event, Waits)] == [
        "game 1 is on; late plays the next one; waiting"
    ]


def test_a_contest_gets_no_secret_that_was_drawn(tmp_path: Path) -> None:
    with guarded("embedded", tmp_path) as contest:
        url = contest.account("red")
        wait_for_users(contest.url, "red", contest.roster.members()[0].secret)
        with salvo(tmp_path, "join", contest.url, "random", "--team", "red") as stranger:
            said = stranger.ends()
            assert said.startswith("error: not_authorised: ")
            assert "SALVO_SECRET" in said
        with salvo(tmp_path, "join", url, "random", "--team", "red") as known:  # the broker knows it by its URL
            said = known.ends().splitlines()[-1]
            assert said.startswith("error: secret_wanted: the server's profile is contest, and no secret was given: ")
            assert "SALVO_SECRET" in said


def test_of_two_programs_of_one_team_the_older_ends(tmp_path: Path) -> None:
    with guarded("embedded", tmp_path) as contest:
        secret = contest.roster.add("red")
        wait_for_users(contest.url, "red", secret)
        given = {"SALVO_TEAM": "red", "SALVO_SECRET": secret}
        with salvo(tmp_path, "join", contest.url, "random", **given) as older:
            older.says("listed for game 1")
            with salvo(tmp_path, "join", contest.url, "random", **given) as newer:
                assert "error: account_in_use: " in older.ends()
                newer.says("the server is ")  # and stays: the older one has ended
                assert "account_in_use" not in newer.said
