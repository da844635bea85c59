"""The SDK against a real server: lost processes, lost brokers, slow bots and rivals without manners."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sysconfig
import threading
from pathlib import Path

import pytest

from kit.brokers import Broker, StartServer
from kit.mosquitto import Mosquitto
from kit.players import SECONDS, Heard, Slower, join, over, salvos
from kit.processes import started
from kit.programs import needs, on_both_brokers
from salvo import client
from salvo import messages as m
from salvo.errors import SalvoError
from salvo.net.mqtt import Connection
from salvo_lab.bots.random_bot import RandomBot
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

#: So much that a turn is lost by who means to, and not by a slow machine.
SALVO = str(Path(sysconfig.get_path("scripts")) / "salvo")


@pytest.mark.long
@on_both_brokers
def test_a_killed_bot_comes_back_and_plays_on(broker: Broker, start_server: StartServer) -> None:
    heard = Heard()
    command = [SALVO, "join", "", "slow", "--team", "phoenix", "--games", "1"]
    environment = os.environ | {"SALVO_SLOW_SECONDS": "0.05", "SALVO_SECRET": "ashes"}
    with start_server(heard, players=2):
        command[2] = broker.url
        with started(command, env=environment, stderr=subprocess.DEVNULL) as first:
            join(broker.url, "rival")
            heard.until(salvos(6))
            first.send_signal(signal.SIGKILL)
        second = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
        heard.until(over)
    assert second.returncode == 0, second.stderr
    assert "game 1: " in second.stdout
    assert [refused.code for refused in heard.of(m.CommandRefused)] == []  # no turn lost, no shot doubled
    resolved = heard.of(m.SalvoResolved)
    assert [salvo.turn for salvo in resolved] == list(range(1, len(resolved) + 1))


def test_rudeness_is_refused_and_the_table_goes_on(broker: Broker, start_server: StartServer) -> None:
    heard = Heard()
    with start_server(heard, players=2) as contest:
        rude = Connection(broker.url, "rude", clean_session=True)
        rude.connect(60)
        for topic in (
            "/game/request_participation",
            "/players/a/fire",
            "/players/a/ships/carrier/place",
            "/players//fire",
        ):
            for payload in (b"", b"\xff", b"{}", b"[" * 4000, b"x" * 9000, b'{"name": "a/b", "secret": "x"}', b"null"):
                rude.publish(topic, payload, retain=len(payload) == 2)
        rude.publish("/game/request_participation", b'{"name": "a", "secret": "a thief\'s"}')
        assert rude.flush(60)
        rude.close()
        heard.until(lambda said: any(isinstance(a, m.PlayersListed) for a in said))
        with pytest.raises(SalvoError, match="name_taken"):
            client.play(RandomBot(), broker.url, "A", "another", games=1)
        for name in ("one", "two"):
            join(broker.url, name)
        heard.until(over)
    for code in ("not_utf8", "too_deep", "too_large", "wrong_shape", "bad_name"):
        assert contest.service.counts[code] > 0, code


@needs("mosquitto")
def test_the_broker_is_killed_in_mid_game_and_nothing_is_lost() -> None:
    """Commands sent while it is away arrive once; the state is said again when it is back."""
    heard = Heard()
    broker = Mosquitto().start()
    try:
        contest = Contest(ServerSettings(broker=broker.url, seed="7", players=2, over_seconds=600), heard)
        with contest.in_background():
            for name in ("a", "b"):
                join(broker.url, name, Slower())
            for done in (4, 10):
                heard.until(salvos(done))
                broker.kill()
                broker.start()
            heard.until(over)
    finally:
        broker.stop()
    resolved = heard.of(m.SalvoResolved)
    assert [salvo.turn for salvo in resolved] == list(range(1, len(resolved) + 1))
    assert [refused.code for refused in heard.of(m.CommandRefused)] == []


@pytest.mark.long
def test_a_flood_of_forged_messages_leaves_a_known_team_alone(broker: Broker, start_server: StartServer) -> None:
    """What it costs in milliseconds the benchmark tells; here, that the game is played and the flood does not grow."""
    heard = Heard()
    stop = threading.Event()
    with start_server(heard, players=2) as contest:
        for name in ("a", "b"):
            join(broker.url, name)
        flood = threading.Thread(target=_flood, args=(broker.url, stop), daemon=True)
        flood.start()
        heard.until(over)
        stop.set()
        flood.join(60)
        gate = contest.service.gate
        assert gate.counts["opened"] > 100


def _flood(url: str, stop: threading.Event) -> None:
    from salvo.seal import make_blob

    connection = Connection(url, "flood", clean_session=True)
    connection.connect(60)
    for _ in range(500):  # bounded: the test asks what it does to the game, the benchmark how fast a game stays
        if stop.is_set():
            break
        for _ in range(4):
            blob = make_blob(b"{}", bytes(32), secrets.token_bytes(16))
            connection.publish("/players/a/fire", b'{"data":{"x":1,"y":1},"signature":"%s"}' % blob.encode())
        connection.poll(0.02)
    connection.close()
