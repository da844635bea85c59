"""Two servers on a real mosquitto, each a process of its own, and a mosquitto that forgets everything."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kit.command_line import run
from kit.mosquitto import Mosquitto
from kit.players import Announced, Slower, join, over, retained_of, salvos
from kit.processes import started, without_settings
from kit.programs import needs
from salvo import messages as m
from salvo.bots.player import Answer
from salvo.view import View
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

SALVO = [sys.executable, "-m", "salvo"]


@pytest.fixture
def mosquitto() -> Iterator[Mosquitto]:
    with Mosquitto() as running:
        yield running


class Servers:
    """Servers of one contest on this machine."""

    def __init__(self, folder: Path, broker: str, stack: ExitStack) -> None:
        self._broker = broker
        self._stack = stack
        self._environment = without_settings(XDG_STATE_HOME=str(folder))

    def start(self) -> subprocess.Popen[str]:
        words = ["serve", "--standby", "--broker", self._broker, "--profile", "open", "--json"]
        given: dict[str, Any] = {"env": self._environment, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return self._stack.enter_context(started([*SALVO, *words], **given))

    def health(self) -> int:
        return run("health", "--standby", self._broker, environment=self._environment).returncode


def until(server: subprocess.Popen[str], event: str) -> dict[str, Any]:
    assert server.stdout is not None
    return next(payload_of for payload_of in map(json.loads, server.stdout) if payload_of["event"] == event)


@pytest.mark.long
@needs("mosquitto")
def test_a_standby_waits_ends_on_ctrl_c_and_takes_over(mosquitto: Mosquitto, tmp_path: Path) -> None:
    with ExitStack() as stack:
        servers = Servers(tmp_path, mosquitto.url, stack)
        first = servers.start()
        assert until(first, "active")["waited"] is False
        until(first, "lobby")
        assert servers.health() == 1
        second = servers.start()
        assert until(second, "standby")["waits_for"] == "journal"
        assert servers.health() == 0
        second.send_signal(signal.SIGINT)
        assert until(second, "ended")
        assert (second.wait(60), second.stderr.read() if second.stderr else None) == (0, "")
        third = servers.start()
        until(third, "standby")
        first.kill()
        assert until(third, "active")["waited"] is True
        until(third, "listening")
        third.send_signal(signal.SIGTERM)
        assert until(third, "ended")
        assert third.wait(60) == 0


class Pausing(Slower):
    """Falls silent in its second game, in the middle, until it is told to go on."""

    def __init__(self, waits: threading.Event, goes_on: threading.Event) -> None:
        self._waits, self._goes_on = waits, goes_on

    def choose_salvo(self, view: View) -> Answer:
        if view.game == 2 and len(view.salvos) == 5:
            self._waits.set()
            self._goes_on.wait(60)
        return super().choose_salvo(view)


@pytest.mark.long
@needs("mosquitto")
def test_a_mosquitto_that_lost_its_data_in_mid_game_is_sent_everything_again(
    mosquitto: Mosquitto, tmp_path: Path
) -> None:
    """The game goes on, and an explorer that comes then sees what it would have seen before."""
    received, waits, goes_on = Announced(), threading.Event(), threading.Event()
    journal = str(tmp_path / "a.journal")
    settings = ServerSettings(broker=mosquitto.url, profile="open", players=2, over_seconds=1, journal=journal)
    with Contest(settings, received).in_background():
        for name in ("ann", "bob"):
            join(mosquitto.url, name, Pausing(waits, goes_on), games=2)
        assert waits.wait(60)
        before = retained_of(mosquitto.url, {"/game/state": b"turn"})
        mosquitto.kill()
        mosquitto.forget()
        mosquitto.start()
        same = {topic: payload_of for topic, payload_of in before.items() if topic != "/game/turn"}
        after = retained_of(mosquitto.url, same, "/game/turn")
        goes_on.set()
        received.until(lambda payload_of: len([each for each in payload_of if over([each])]) == 2)
    turns = [json.loads(each.pop("/game/turn")) for each in (before, after)]
    assert after == before
    assert turns[1] == turns[0] | {name: turns[1][name] for name in ("now", "deadline")}  # its time begins again
    assert {"/game/state", "/players/list", "/game/server", "/game/rules", "/game/standings"} <= before.keys()
    assert [refused.code for refused in received.of(m.CommandRefused)] == []
    assert salvos(10)(received.all)
