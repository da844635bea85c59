"""The SDK against a real server, with the bot or the broker killed in mid-game."""

from __future__ import annotations

import os
import signal
import subprocess
import sysconfig
from pathlib import Path

import pytest

from kit.brokers import Broker, StartServer
from kit.mosquitto import Mosquitto
from kit.players import SECONDS, Announced, Slower, join, over, salvos
from kit.processes import started
from kit.programs import needs
from salvo import messages as m
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")


@pytest.mark.long
def test_a_killed_bot_comes_back_and_plays_on(broker: Broker, start_server: StartServer) -> None:
    received = Announced()
    command = [SALVO, "join", "", "slow", "--team", "phoenix", "--games", "1"]
    environment = os.environ | {"SALVO_SLOW_SECONDS": "0.05", "SALVO_SECRET": "ashes"}
    with start_server(received, players=2):
        command[2] = broker.url
        with started(command, env=environment, stderr=subprocess.DEVNULL) as first:
            join(broker.url, "rival")
            received.until(salvos(6))
            first.send_signal(signal.SIGKILL)
        second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
        received.until(over)
    assert second.returncode == 0, second.stderr
    assert "game 1: " in second.stdout
    assert [refused.code for refused in received.of(m.CommandRefused)] == []  # no turn lost, no shot doubled
    resolved = received.of(m.SalvoResolved)
    assert [salvo.turn for salvo in resolved] == list(range(1, len(resolved) + 1))


@needs("mosquitto")
def test_the_broker_is_killed_in_mid_game_and_nothing_is_lost() -> None:
    """Commands sent while it is away arrive once; the state is said again when it is back."""
    received = Announced()
    broker = Mosquitto().start()
    try:
        contest = Contest(ServerSettings(broker=broker.url, seed="7", players=2, over_seconds=600), received)
        with contest.in_background():
            for name in ("a", "b"):
                join(broker.url, name, Slower())
            for done in (4, 10):
                received.until(salvos(done))
                broker.kill()
                broker.start()
            received.until(over)
    finally:
        broker.stop()
    resolved = received.of(m.SalvoResolved)
    assert [salvo.turn for salvo in resolved] == list(range(1, len(resolved) + 1))
    assert all(salvo.shots for salvo in resolved)
    # A shot that went down with the broker is missed by those after it, which are refused, and all are fired again.
    assert {refused.code for refused in received.of(m.CommandRefused)} <= {"stale_context"}
