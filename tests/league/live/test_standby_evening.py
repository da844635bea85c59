"""An evening with a league and two servers: the one that serves is killed in mid-round, and the other goes on."""

from __future__ import annotations

import signal
from pathlib import Path
from random import Random

import pytest

from chaos.league import SALVO, LeagueStage, places_of_logs
from chaos.run import Process
from kit.programs import needs

TEAMS = [f"bot{number:02}" for number in range(6)]
TABLES = ["t1", "t2"]
#: The league's part of the file of settings; one kill in each round.
LEAGUE = """\
[league]
name = "cup"
format = "swiss"
rounds = 3
table_size = 3
tables = ["t1", "t2"]
wait_seconds = 90
result_seconds = 0
pace_seconds = 0.05
placement_seconds = 60
seed = 7
"""
KILLS = 3


class Evening(LeagueStage):
    """An evening of one file of settings, which two servers play; the league is a program of the one that serves."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, LEAGUE, TEAMS, TABLES, mosquitto=True)
        command = [*self.server.command, "--standby", "--config", str(self.file), "--json"]
        logs = [folder / f"server-{number}.log" for number in range(2)]
        self.server, self.other = (Process(command, log, **self._own) for log in logs)
        self.league = Process([*SALVO, "--version"], folder / "none.log")  # the servers have it

    def __enter__(self) -> Evening:
        super().__enter__()
        self.other.start()
        return self

    def __exit__(self, *given: object) -> None:
        if self.other.child is not None and not self.other.ended():
            self.other.end(signal.SIGKILL)
        super().__exit__(*given)

    def kill_the_one_that_serves(self) -> None:
        """Kill it while the other one waits; that one serves now, and the first is started again, to wait."""
        self.until(lambda: self._last_event(self.other) == "standby", "the other one waits")
        self.server.end(signal.SIGKILL)
        self.until(lambda: self._last_event(self.other) not in ("", "standby"), "the other one serves")
        self.server, self.other = self.other, self.server
        self.other.log.unlink()
        self.other.start()

    def _last_event(self, server: Process) -> str:
        text = server.log.read_text() if server.log.exists() else ""
        return "active" if '"active"' in text else "standby" if '"standby"' in text else ""


@pytest.mark.slow
@needs("mosquitto")
def test_a_standby_goes_on_with_the_league_in_mid_round_and_nothing_is_lost(tmp_path: Path) -> None:
    """Each game has one result, executes again, and is the table's; the league's programs are one at a time."""
    random = Random(1)
    with Evening(tmp_path) as evening:
        for number in range(KILLS):
            evening.until(lambda: evening.rounds() > number, "a round begins", 500)  # noqa: B023
            evening.until(lambda: random.random() < 0.1, "some moment of its games")
            evening.kill_the_one_that_serves()
        evening.until(lambda: len(evening.results()) == 6, "all rounds are played", 900)
        evening.other.end(signal.SIGTERM)
        evening.end()
        evening.counts_each_match_once()
        logged = places_of_logs([evening.folder, evening.transcripts])
        assert {(line["table"], line["game"]) for line in evening.results()} == logged.keys()
        for line in evening.results():
            assert dict(zip(line["teams"], line["places"], strict=True)) == logged[line["table"], line["game"]]
