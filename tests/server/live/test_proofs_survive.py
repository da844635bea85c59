"""Servers and bots that are killed in mid-game: the proofs that the teams write have no gap."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sysconfig
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit import players
from kit.command_line import run
from kit.mosquitto import Mosquitto
from kit.ports import Port
from kit.programs import BROKERS
from salvo.player import Bot
from salvo_lab.bots.random_bot import RandomBot

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")
_SECONDS = 60.0
#: A bot that leaves time to kill somebody.
_BOT = """
import time
import salvo

@salvo.bot
def fire(view):
    time.sleep(0.05)
    return view.untouched.sample(view.shots)
"""

#: Games of some fifty turns, and of eleven at least: nobody wins before the tests have counted to nine.
_RULES = """
name = "pond"
like = "salvo"
shots = "one"
width = 6
height = 5

[fleet]
cruiser = 3
boat = 2
raft = 1
"""


class Stage:
    """A server, two teams, a spectator, and their files."""

    def __init__(self, folder: Path, broker: str | None) -> None:
        self.folder = folder
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}
        self.environment = clean | {"XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config")}
        self.bot = folder / "bot.py"
        self.bot.write_text(_BOT)
        self.rules = folder / "pond.toml"
        self.rules.write_text(_RULES)
        self._port = Port()
        self.url = broker or f"mqtt://{self._port.address}"
        self._broker = ["--broker", broker] if broker else ["--listen", self._port.address]
        self._running: list[subprocess.Popen[str]] = []

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        env = self.environment | environment
        process = subprocess.Popen([SALVO, *words], stdout=pipe, stderr=pipe, text=True, env=env)
        self._running.append(process)
        return process

    def serve(self, *settings: str) -> subprocess.Popen[str]:
        """Start the server, with these settings before any others; return when its table is open, or again on."""
        words = [
            "--profile",
            "open",
            "--json",
            "--players",
            "2",
            "--over-seconds",
            "600",
            "--rules",
            str(self.rules),
        ]
        server = self.start("serve", *self._broker, *words, *settings)
        assert server.stdout is not None
        read = server.stdout.readline()
        assert read, server.communicate()[1]
        return server

    def join(self, team: str) -> subprocess.Popen[str]:
        words = ["join", self.url, str(self.bot), "--team", team, "--games", "1", "--proof", str(self.proof(team))]
        return self.start(*words, SALVO_SECRET=f"secret of {team}")

    def proof(self, name: str) -> Path:
        return self.folder / f"{name}.proof.jsonl"

    def until_salvos(self, name: str, count: int) -> None:
        """Wait until so many salvos are in a file."""
        end = time.monotonic() + _SECONDS
        while not self.proof(name).exists() or self.proof(name).read_bytes().count(b'"result"') < count:
            assert time.monotonic() < end, self._ask_why()
            time.sleep(0.01)

    def _ask_why(self) -> str:
        """Kill everything, and return what each process said and how each proof ends."""
        for process in self._running:
            process.kill()
        said = [f"{process.args!r} {process.returncode}: {process.communicate()}" for process in self._running]
        ends = [f"{path}: {path.read_text()[-1000:]}" for path in self.folder.glob("*.proof.jsonl")]
        return "\n".join(said + ends)

    def seat(self, team: str, bot: Bot) -> threading.Thread:
        """Let a team that nobody kills play in this process."""
        return players.join(self.url, team, bot, games=1, proof=self.proof(team))

    def run(self, *words: str) -> str:
        """Run a command that has to succeed; return what it prints."""
        done = run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def verify(self, *names: str) -> str:
        return self.run("verify", *(str(self.proof(name)) for name in names))

    def entries(self, name: str) -> list[int]:
        lines = [json.loads(line) for line in self.proof(name).read_text().splitlines()]
        return [line["entry"]["n"] for line in lines if "entry" in line]

    def end(self) -> None:
        players.send_all_home()
        for process in self._running:
            process.kill()
            process.communicate()
        self._port.close()


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait(60)


def ends(team: subprocess.Popen[str]) -> str:
    """Wait until a team has ended, and return what it said of its proof."""
    _, said = team.communicate(timeout=_SECONDS)
    assert team.returncode == 0, said
    return said


@pytest.fixture
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """On the embedded broker, which dies with its server, or on a mosquitto, which stays."""
    with contextlib.ExitStack() as stack:
        broker = stack.enter_context(Mosquitto()).url if getattr(request, "param", "") == "mosquitto" else None
        stage = Stage(tmp_path, broker)
        stack.callback(stage.end)
        yield stage


def _whole(stage: Stage, *names: str) -> None:
    said = stage.verify(*names)
    for name in names:
        assert f"{stage.proof(name)}: fair: game 1: " in said
        assert stage.entries(name) == list(range(len(stage.entries(name))))
        if name in ("a", "b"):
            assert re.search(rf"{name} in game 1: its notes of \d+ shots fit the log", said), said
    if len(names) > 1:
        assert f"{len(names)} files: the same story of game 1, {len(stage.entries(names[0]))} entries compared" in said


@pytest.mark.parametrize("stage", BROKERS, indirect=True)
def test_the_server_is_killed_and_every_proof_is_whole(stage: Stage) -> None:
    server = stage.serve()
    teams = [stage.join(name) for name in ("a", "b")]
    for count in (4, 9):
        stage.until_salvos("a", count)
        kill(server)
        server = stage.serve()
    for team, name in zip(teams, ("a", "b"), strict=True):
        assert f"{stage.proof(name)}: game 1 is whole" in ends(team)
    _whole(stage, "a", "b")


@pytest.mark.long
def test_settings_that_change_in_mid_game_leave_every_record_as_it_is(tmp_path: Path) -> None:
    journal, games = str(tmp_path / "a.journal"), tmp_path / "games"
    kept = ("--journal", journal, "--transcripts", str(games), "--resume", "always")
    with contextlib.ExitStack() as stack:
        stage = Stage(tmp_path, None)
        stack.callback(stage.end)
        server = stage.serve(*kept, "--turn-seconds", "20", "--over-seconds", "1")
        teams = [stage.join(name) for name in ("a", "b")]
        stage.until_salvos("a", 4)
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=_SECONDS)
        server = stage.serve(*kept, "--turn-seconds", "7", "--over-seconds", "2", "--rules", "streak")
        assert event(server, "resumed")["new_settings_from"] == 2
        assert event(server, "lobby")["game"] == 2
        for team in teams:
            ends(team)
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=_SECONDS)
        listed = [json.loads(line) for line in stage.run("replay", journal, "--games", "--json").splitlines()]
        assert [(game["game"], game["state"], game["trouble"]) for game in listed] == [
            (1, "over", ""),
            (2, "lobby", ""),
        ]
        exported, proof = str(tmp_path / "game.jsonl"), str(games / "game-1.proof.jsonl")
        stage.run("replay", journal, "--game", "1", "--export", exported)
        stage.run("replay", exported, "--check")
        assert json.loads(stage.run("explain", journal, "--fleets", "100", "--json").splitlines()[-1])["why"]
        assert "3 files: the same story of game 1" in stage.run("verify", proof, *map(str, map(stage.proof, "ab")))


def event(server: subprocess.Popen[str], name: str) -> dict[str, Any]:
    """Return the next event of this name that a server tells."""
    assert server.stdout is not None
    told = (json.loads(line) for line in server.stdout)
    return next(each for each in told if each["event"] == name)


@pytest.mark.long
def test_a_bot_is_killed_and_goes_on_with_its_proof(stage: Stage) -> None:
    stage.serve()
    first, other = stage.join("a"), stage.seat("b", players.Slower())
    stage.until_salvos("a", 4)
    kill(first)
    noted = stage.proof("a").read_bytes()
    again = stage.join("a")
    assert f"{stage.proof('a')}: game 1 is whole" in ends(again)
    other.join(_SECONDS)
    assert stage.proof("a").read_bytes().startswith(noted[: noted.rindex(b"\n") + 1])
    _whole(stage, "a", "b")


@pytest.mark.long
def test_server_and_bot_are_killed_at_a_time(stage: Stage) -> None:
    server = stage.serve()
    first, other = stage.join("a"), stage.seat("b", players.Slower())
    stage.until_salvos("b", 5)
    for process in (server, first):
        kill(process)
    stage.serve()
    ends(stage.join("a"))
    other.join(_SECONDS)
    _whole(stage, "a", "b")


@pytest.mark.long
def test_a_spectator_is_told_whether_his_file_is_whole(stage: Stage) -> None:
    stage.serve()
    watcher = stage.start("watch", stage.url, "--json", "--games", "1", "--proof", str(stage.proof("hall")))
    assert watcher.stdout is not None
    assert watcher.stdout.readline()  # it is there
    for name in ("a", "b"):
        stage.seat(name, RandomBot())
    _, told = watcher.communicate(timeout=_SECONDS)
    assert f"{stage.proof('hall')}: game 1 is whole" in told
    _whole(stage, "hall")
