"""Somebody sets the clock, summer ends, a laptop sleeps, and the machine stands still, in the middle of a league."""

from __future__ import annotations

import contextlib
import http.client
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from chaos.league import SALVO, LeagueStage
from kit import moved_clock
from salvo import messages as m
from salvo_game.log_verification import verify_file
from salvo_game.recordings import open_recordings

_HOUR = 3600.0
_STOP_SECONDS = 30.0
_SLEEP_SECONDS = 3.0
#: Of a second, and of the seconds that the head has.
_MANY_PICTURES, _MANY_SECONDS = 50, 200
_TABLES = ("t1", "t2")
_TEAMS = tuple(f"bot{number}" for number in range(4))
#: Open for an hour and a half by the clock, unless that is set; turns of 20 s, less than the machine stands still.
_LADDER = """
name = "clocks"
format = "ladder"
hours = 1.5
table_size = 2
tables = ["t1", "t2"]
wait_seconds = 2
result_seconds = 0
placement_seconds = 60
turn_seconds = 20
pace_seconds = 0.05
patience_seconds = 1
seed = 7
"""


class ClockStage(LeagueStage):
    """A league whose processes see a wall clock that is moved."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, _LADDER, _TEAMS, _TABLES, web=True)
        self.clock = folder / "clock"
        self._moved = 0.0
        self.move(0.0)
        assert self.web is not None
        for process in (self.server, self.league, self.web):
            process.command[: len(SALVO)] = [sys.executable, moved_clock.__file__]
            process.environment |= {moved_clock.VARIABLE: str(self.clock), "TZ": moved_clock.summer_ends_in(60.0)}

    def move(self, seconds: float) -> None:
        """Set the clock of all processes."""
        self._moved += seconds
        moved_clock.move(self.clock, wall=self._moved)

    def until_games(self, more: int) -> None:
        """Wait until so many games more are over."""
        wanted = len(self.results()) + more
        self.until(lambda: len(self.results()) >= wanted or self.league.ended(), f"{wanted} games are over")

    def shows(self, event: str) -> None:
        """Assert that pages have the league as it is, and that the files for a cache go on."""
        picture = next(json.loads(line[6:]) for line in self._ask("/events?table=") if line.startswith(b"data: "))
        assert (picture["league"]["name"], picture["evening"]["silent"]) == ("clocks", False), (event, picture)
        before = self._chunks()
        self.until(lambda: max(self._chunks(), default=0) > max(before, default=0), f"chunks go on after: {event}")
        newest = max(self._chunks())
        assert all(newest - name < _MANY_SECONDS for name in self._chunks()), event
        [pictures] = self._ask(f"/live/{newest}.json")
        assert len(json.loads(pictures)) < _MANY_PICTURES, event

    def _chunks(self) -> list[int]:
        [head] = self._ask("/live/head.json")
        return list(json.loads(head)["chunks"])

    def _ask(self, path: str) -> Iterator[bytes]:
        connection = http.client.HTTPConnection(self.page, timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", path)
            yield from connection.getresponse()

    @contextmanager
    def stopped(self, *processes: psutil.Process) -> Iterator[None]:
        """Let processes stand still for the length of a ``with`` block."""
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()

    def processes(self) -> dict[str, psutil.Process]:
        """Return all processes of the contest, the teams' too."""
        assert self.web is not None
        own = {"server": self.server, "league": self.league, "web": self.web}
        numbers = {name: process.child.pid for name, process in own.items() if process.child is not None}
        numbers |= {f"bots {bots.pid}": bots.pid for bots in self._bots}
        return {name: psutil.Process(number) for name, number in numbers.items()}


def _back(stage: ClockStage) -> None:
    stage.move(-_HOUR)


def _forth(stage: ClockStage) -> None:
    stage.move(2 * _HOUR)


def _asleep(stage: ClockStage) -> None:
    """All stand still together, and the clock goes on for an hour."""
    with stage.stopped(*stage.processes().values()):
        time.sleep(_SLEEP_SECONDS)
        stage.move(_HOUR)


def _still(name: str) -> Callable[[ClockStage], None]:
    def stand_still(stage: ClockStage) -> None:
        with stage.stopped(stage.processes()[name]):
            time.sleep(_STOP_SECONDS)

    return stand_still


EVENTS: Mapping[str, Callable[[ClockStage], None]] = {
    "an hour back": _back,
    "two hours forth": _forth,
    "asleep for an hour": _asleep,
    "the server stands still": _still("server"),
    "the league stands still": _still("league"),
    "the web front stands still": _still("web"),
}


@pytest.mark.slow
def test_a_league_goes_on_whatever_becomes_of_the_clock(tmp_path: Path) -> None:
    with ClockStage(tmp_path) as stage:
        stage.until_games(2)
        for name, event in EVENTS.items():
            event(stage)
            stage.until_games(3)
            assert not stage.league.ended(), f"the league ended after: {name}"
            stage.shows(name)
        assert stage.control("finish")
        stage.until(stage.league.ended, "the league is over", 300)
        games = len(stage.results())
        stage.end()
        stage.agrees()
    assert games >= 3 * len(EVENTS)
    missed: Counter[str] = Counter()
    for file in sorted(stage.transcripts.glob("*.jsonl.gz")):
        _, _, steps = open_recordings(str(file)).executed()
        times = []
        for step in steps:
            times.append(step.at)
            missed.update(each.code for each in step.announcements if isinstance(each, m.CommandRefused))
        assert times == sorted(times)
        assert times[-1] - times[0] < _HOUR * 1000
        [game] = verify_file(file.with_name(file.name.replace(".jsonl.gz", ".proof.jsonl"))).games
        assert game.finding is None
    assert missed["turn_timeout"] == 0, missed
