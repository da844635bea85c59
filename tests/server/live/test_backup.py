"""The server's machine is lost in mid-game: another one, with nothing but a backup, takes its place and its address.

Both teams' programs run all the time, and remember the server's key. What they have heard after the backup, the new
server does not know.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sysconfig
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kit import command_line
from kit.ports import Port
from salvo import client
from salvo.errors import SalvoError, UnfairGame
from salvo.player import Answer, Bot
from salvo.view import View

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")
_SECONDS = 120.0
_TEAMS = ("red", "blue")
#: A game's number, and a turn's in it.
_Moment = tuple[int, int]
_NEVER = (10**6, 0)


class Halted(Bot):
    """Fires at random, until it is halted in a turn."""

    def __init__(self, machines: Machines) -> None:
        self._machines = machines

    def choose_salvo(self, view: View) -> Answer:
        self._machines.take_turn((view.game, view.turn))
        return view.untouched.sample(view.shots)


class Machines:
    """The machine that is lost, then the one that takes its place; and two teams.

    Attributes:
        over_seconds: how long results are shown, and teams can ask for what they miss of the log.
        ends: how each team's program has ended, by name: the number of its games, or an error.
    """

    def __init__(self, folder: Path, port: Port) -> None:
        self.folder, self.port = folder, port
        self.archive = folder / "evening.tar.gz"
        self.state = folder / "first"
        self.over_seconds = 600
        self.ends: dict[str, int | SalvoError] = {}
        self.server: subprocess.Popen[str] | None = None
        self._stop = threading.Event()
        self._turns = threading.Condition()
        self._now, self._halt = (0, 0), (0, 0)
        lines = [json.loads(line) for line in self.run("teams", "add", *_TEAMS, "--json").splitlines()]
        self._secrets = {line["name"]: line["secret"] for line in lines}

    def run(self, *words: str, **settings: str) -> str:
        done = command_line.run(*words, environment={"XDG_STATE_HOME": str(self.state), **settings})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def serve(self, words: list[str]) -> dict[str, dict[str, Any]]:
        """Start a server; return what it says until it is at a game, by event."""
        more = ["--players", "2", "--turn-seconds", "600", "--over-seconds", str(self.over_seconds), "--json"]
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}
        log = self.state.with_suffix(".log")
        with log.open("w") as file:
            environment = clean | {"XDG_STATE_HOME": str(self.state)}
            self.server = subprocess.Popen([SALVO, *words, *more], env=environment, stdout=file, text=True)
        end = time.monotonic() + _SECONDS
        told: dict[str, dict[str, Any]] = {}
        while not told.keys() & {"lobby", "resumed"}:
            assert self.server.poll() is None
            assert time.monotonic() < end
            time.sleep(0.02)
            told = {line["event"]: line for line in map(json.loads, log.read_text().rpartition("\n")[0].splitlines())}
        return told

    def seat(self, name: str, games: int, proof: str) -> threading.Thread:
        def play() -> None:
            url, path = f"mqtt://{self.port.address}", self.proof(name, proof)
            given: dict[str, Any] = {"games": games, "stop": self._stop, "proof": path}
            try:
                self.ends[name] = len(client.play(Halted(self), url, name, self._secrets[name], **given))
            except SalvoError as error:
                self.ends[name] = error

        thread = threading.Thread(target=play, daemon=True)
        thread.start()
        return thread

    def proof(self, name: str, which: str) -> Path:
        return self.folder / f"{name}.{which}.proof.jsonl"

    def take_turn(self, when: _Moment) -> None:
        """Called by the team whose turn it is; from the moment on at which all is halted, it waits."""
        with self._turns:
            self._now = when
            self._turns.notify_all()
            assert self._turns.wait_for(lambda: when < self._halt, _SECONDS)

    def go_on(self, halt: _Moment = _NEVER) -> None:
        """Let the teams play; return when they are halted, or at once if they never are."""
        with self._turns:
            self._now, self._halt = (0, 0), halt
            self._turns.notify_all()
            assert halt == _NEVER or self._turns.wait_for(lambda: self._now >= halt, _SECONDS)

    def end_server(self, number: signal.Signals) -> None:
        assert self.server is not None
        self.server.send_signal(number)
        self.server.wait(_SECONDS)

    def restored(self, *more: str) -> dict[str, dict[str, Any]]:
        """Restore the backup on an empty machine, and start the server as told there; see :meth:`serve`."""
        self.state = self.folder / "second"
        said = self.run("restore", str(self.archive))
        [line] = [line for line in said.splitlines() if line.startswith("start:")]
        return self.serve([*shlex.split(line)[2:], *more])

    def verify(self, which: str) -> str:
        """Return what is said of both teams' proofs, one file a line."""
        proofs = [str(self.proof(name, which)) for name in _TEAMS]
        return command_line.run("verify", *proofs).stdout

    def end(self) -> None:
        self._stop.set()
        self.go_on()
        if self.server is not None:
            self.server.kill()
            self.server.wait(_SECONDS)


@pytest.fixture
def machines(tmp_path: Path, port: Port) -> Iterator[Machines]:
    machines = Machines(tmp_path, port)
    yield machines
    machines.end()


def _begin(machines: Machines, games: int = 1) -> list[threading.Thread]:
    """Let the first machine's server and the teams play until turn 9."""
    machines.serve(["serve", "--listen", machines.port.address])
    seated = [machines.seat(name, games, "first") for name in _TEAMS]
    machines.go_on((1, 9))
    return seated


def _finish(machines: Machines, seated: list[threading.Thread]) -> dict[str, int | SalvoError]:
    """Let the teams play to the end; return how each has ended."""
    machines.go_on()
    for each in seated:
        each.join(_SECONDS)
    return machines.ends


@pytest.mark.long
@pytest.mark.parametrize(
    "running",
    [pytest.param(True, id="while it runs"), pytest.param(False, id="when it has ended", marks=pytest.mark.slow)],
)
def test_a_game_of_which_all_is_in_the_backup_goes_on(running: bool, machines: Machines) -> None:
    seated = _begin(machines)
    if running:
        machines.run("backup", str(machines.archive))
        machines.end_server(signal.SIGKILL)
        told = machines.restored("--resume", "always")
    else:
        machines.end_server(signal.SIGINT)
        machines.run("backup", str(machines.archive), SALVO_LISTEN=machines.port.address)
        told = machines.restored()
    assert (told["resumed"]["game"], told["resumed"]["turn"]) == (1, 9)
    assert _finish(machines, seated) == {"red": 1, "blue": 1}
    said = machines.verify("first")
    assert said.count(": fair: game 1") == 2, said
    assert "2 files: the same story of game 1" in said


@pytest.mark.long
def test_a_game_that_is_taken_back_is_unfair_to_who_heard_it_and_goes_on_without_them(machines: Machines) -> None:
    seated = _begin(machines)
    machines.run("backup", str(machines.archive))
    machines.go_on((1, 14))
    machines.end_server(signal.SIGKILL)
    told = machines.restored("--resume", "always")
    assert (told["resumed"]["game"], told["resumed"]["turn"]) == (1, 9)
    ends = _finish(machines, seated)
    assert {name: end.code for name, end in ends.items() if isinstance(end, UnfairGame)} == dict.fromkeys(
        _TEAMS, "unfair"
    )
    assert machines.verify("first").count("NOT FAIR: the server cheated: the server signed two entries") == 2
    again = [machines.seat(name, 1, "second") for name in _TEAMS]
    assert _finish(machines, again) == {"red": 1, "blue": 1}
