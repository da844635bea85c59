"""Our bots as clients, by the real command line, on servers that were written from the older systems' texts alone."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kit.ports import Port
from kit.processes import started
from kit.waiting import until

pytestmark = pytest.mark.long

_STANDINS = Path(__file__).parents[1] / "standins"
_SALVO = [sys.executable, "-m", "salvo"]
_SECONDS = 60.0


class Program:
    """A program whose lines on standard output are read beside the test.

    Attributes:
        lines: those so far.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(iter(self.process.stdout.readline, ""))

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in list(self.lines)]

    def count(self, event: str) -> int:
        return sum(each["event"] == event for each in self.events)

    def has_said(self, event: str, times: int = 1) -> None:
        """Wait until it has reported an event so often."""
        until(lambda: self.count(event) >= times, lambda: self.lines[-10:], _SECONDS)

    def ends(self) -> int:
        """Wait for its end, and return its exit code."""
        code = self.process.wait(_SECONDS)
        self._reader.join(_SECONDS)
        return code

    def ends_without_fault(self) -> None:
        code = self.ends()
        assert (code, [event for event in self.events if event["event"] == "fault"]) == (0, [])


class Hall:
    """Starts programs, and ends them with the test."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __call__(self, *command: str, **given: Any) -> Program:
        return Program(self._stack.enter_context(started(command, stdout=subprocess.PIPE, **given)))

    def server(self, name: str, port: Port, *options: str) -> Program:
        """Start a stand-in; return it when it listens."""
        program = self(sys.executable, str(_STANDINS / name), str(port.number), *options)
        program.has_said("listening")
        return program

    def bot(self, scheme: str, port: Port, team: str, games: int = 1) -> Program:
        options = ["--team", team, "--games", str(games), "--seed", team]
        return self(*_SALVO, "join", f"{scheme}://{port.address}", "hunter", *options)


@pytest.fixture
def start() -> Iterator[Hall]:
    with ExitStack() as stack:
        yield Hall(stack)


# --- Xterm Boat Sinker ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dialect",
    [("--order", "older"), ("--order", "newer", "--after", "open", "--width", "12", "--height", "8")],
    ids=["older", "newer"],
)
def test_bots_play_on_an_xbs_server(start: Hall, port: Port, dialect: tuple[str, ...]) -> None:
    server = start.server("xbs_server.py", port, "--games", "2", *dialect)
    bots = [start.bot("xbs", port, name, 2) for name in ("ann", "bob")]
    server.ends_without_fault()
    assert [bot.ends() for bot in bots] == [0, 0]
    assert [len(bot.lines) for bot in bots] == [2, 2]
    assert [event["state"] for event in server.events if event["event"] == "result"] == ["finished"] * 2


def test_a_bot_comes_back_to_an_xbs_game_cut_off_killed_or_refused(start: Hall, port: Port) -> None:
    options = ["--seed", "one", "--cut", "4", "9", "--hold", "12", "--refuse-first", "1"]
    server = start.server("xbs_server.py", port, *options)
    bots = {name: start.bot("xbs", port, name) for name in ("ann", "bob")}
    server.has_said("held")
    back = server.count("back")
    bots["ann"].process.kill()
    bots["ann"].process.wait()
    server.has_said("gone", back + 1)
    bots["ann"] = start.bot("xbs", port, "ann")
    server.ends_without_fault()
    assert server.count("back") == 3
    assert [bot.ends() for bot in bots.values()] == [0, 0]


def test_a_bot_waits_for_an_xbs_server_that_plays_without_it_and_for_one_that_died(start: Hall, port: Port) -> None:
    first = start.server("xbs_server.py", port, "--hold", "10")
    early = [start.bot("xbs", port, name) for name in ("ann", "bob")]
    first.has_said("held")
    late = start.bot("xbs", port, "cy")
    first.has_said("turned away")
    early[1].process.kill()
    early[1].process.wait()
    first.process.kill()
    first.process.wait()
    second = start.server("xbs_server.py", port)
    second.ends_without_fault()
    assert [early[0].ends(), late.ends()] == [0, 0]
    [result] = [event for event in second.events if event["event"] == "result"]
    assert {player["name"] for player in result["players"]} == {"ann", "cy"}


# --- JSON lines -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dialect",
    [
        ("--end", "none", "--split"),
        ("--cells", "zero", "--status", "name", "--turns", "alternate", "--board", "list", "--reveal"),
    ],
    ids=["text", "zero"],
)
def test_a_bot_plays_on_a_json_lines_server_and_finds_its_dialect_once(
    start: Hall, port: Port, dialect: tuple[str, ...]
) -> None:
    server = start.server("jsonline_server.py", port, "--games", "2", "--probing", *dialect)
    bot = start.bot("jsonline", port, "ann", 2)
    server.ends_without_fault()
    assert server.count("probed") == 1
    assert bot.ends() == 0
    assert len(bot.lines) == 2


def test_a_bot_waits_for_a_busy_json_lines_server_and_begins_again_after_a_cut(start: Hall, port: Port) -> None:
    server = start.server("jsonline_server.py", port, "--turns", "alternate", "--busy", "1", "--cut", "5")
    bot = start.bot("jsonline", port, "ann")
    server.ends_without_fault()
    assert bot.ends() == 0
    assert [event["event"] for event in server.events][1:] == [
        "busy",
        "started",
        "cut",
        "abandoned",
        "started",
        "result",
    ]


# --- Code Smackdown ---------------------------------------------------------------------------------------------------

_BOT = " ".join([*_SALVO, "join", "smackdown:", "hunter"])
_CHILD = f"{sys.executable} {Path(__file__).parents[1] / 'smackdown_client.py'}"


def referee(start: Hall, *options: str) -> Program:
    return start(sys.executable, str(_STANDINS / "smackdown_referee.py"), *options, "--answer-seconds", "60")


def test_bots_are_children_of_a_smackdown_referee(start: Hall) -> None:
    program = referee(start, f"ann={_BOT}", f"bob={_CHILD}", "--opponent-first")
    program.ends_without_fault()
    assert program.count("result") == 1


def test_bots_that_sink_each_other_at_smackdown_end_with_a_tie(start: Hall) -> None:
    # The ship fills the board: both are sunk in the second round.
    program = referee(start, f"ann={_BOT}", f"bob={_CHILD}", "--size", "2", "1", "--ships", "2")
    program.ends_without_fault()
    assert program.events == [{"event": "result", "winner": None, "rounds": 2, "reason": "sunk"}]


def test_a_bot_whose_opponent_forfeits_at_smackdown_has_won(start: Hall) -> None:
    program = referee(start, f"bob={_CHILD} --mistake too_many", f"ann={_BOT}", "--faulty", "bob")
    program.ends_without_fault()
    [result] = [event for event in program.events if event["event"] == "result"]
    assert (result["winner"], result["rounds"]) == ("ann", 2)
