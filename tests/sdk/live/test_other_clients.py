"""Programs of others play and watch whole games on the server's own broker, over what they speak by default.

MQTT.js is in Node-RED, MQTT Explorer and most pages. The games are those of profile ``open``, in which any client
takes part.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.spec_client import SpecClient
from kit.mqtt_js import Message, MqttJs
from kit.players import until_online
from kit.processes import started
from kit.programs import needs, path_of
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings

_GAME_SECONDS = 120
#: What Node-RED's node asks for.
NODE_RED = {"rap": True, "nl": False, "rh": 0}
VERSION, QOS = 5, 2


@pytest.fixture
def contest() -> Iterator[Contest]:
    """An open contest of two on a broker of its own, over TCP and WebSocket."""
    settings = ServerSettings(
        listen="127.0.0.1:0", websocket="127.0.0.1:0", players=2, profile="open", seed="7", over_seconds=600
    )
    contest = Contest(settings)
    with contest.in_background():
        until_online(contest.url)
        yield contest


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2].partition("/")[0])


class Watcher:
    """What a client of MQTT.js receives; ``ready`` is set by the first message, ``over`` when a winner is named."""

    def __init__(self, client: MqttJs, port: int) -> None:
        self.client = client
        self.messages: list[Message] = []
        self.ready, self.over = threading.Event(), threading.Event()
        client.on_connect = lambda *_: client.subscribe([("#", 0)])
        client.on_message = self._take
        client.connect("127.0.0.1", port)

    def __enter__(self) -> Watcher:
        self.client.loop_start()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def _take(self, client: Any, _: Any, message: Message) -> None:
        self.messages.append(message)
        self.ready.set()
        if message.topic == "/game/winner" and message.payload:
            self.over.set()

    def of(self, topic: str) -> list[Message]:
        return [message for message in self.messages if message.topic == topic and message.payload]


@contextlib.contextmanager
def mosquitto_sub(contest: Contest) -> Iterator[subprocess.Popen[str]]:
    """Watch with retain-as-published; a line has the retain flag, the topic and the payload. The first one is read."""
    program = path_of("mosquitto_sub")
    command = [program, "-h", "127.0.0.1", "-p", str(port_of(contest.url)), "-q", str(QOS), "-t", "#", "-F", "%r %t %p"]
    command += ["-W", str(_GAME_SECONDS), "-V", str(VERSION), "--retain-as-published"]
    with started(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield process


def until_the_winner(watching: subprocess.Popen[str]) -> list[list[str]]:
    """Return flag, topic and payload of what comes until a winner is named."""
    lines: list[list[str]] = []
    assert watching.stdout is not None
    for line in watching.stdout:
        lines.append(line.rstrip("\n").split(" ", 2))
        if lines[-1][1] == "/game/winner" and lines[-1][2]:
            return lines
    raise AssertionError(lines[-10:])


def play(*clients: SpecClient) -> str:
    """Return the winner that all of them saw."""
    for client in clients:
        client.start()
    try:
        for client in clients:
            assert client.over.wait(_GAME_SECONDS), f"{client.name} saw no winner; errors: {client.errors}"
    finally:
        for client in clients:
            client.stop()
    assert [error for client in clients for error in client.errors] == []
    [winner] = {client.winner for client in clients}
    return winner


@needs("node")
@needs("mqtt.js")
@needs("mosquitto_sub")
def test_mqtt_js_and_mosquitto_sub_play_and_watch_a_whole_game_by_mqtt_5(contest: Contest) -> None:
    ports = {"ws": port_of(str(contest.websocket_url)), "mqtt": port_of(contest.url)}
    bots = {scheme: MqttJs(scheme, VERSION, QOS, f"bot {scheme}") for scheme in ports}
    with contextlib.ExitStack() as stack:
        watchers = [
            stack.enter_context(Watcher(MqttJs(scheme, VERSION, QOS, f"watcher {scheme}", **NODE_RED), port))
            for scheme, port in ports.items()
        ]
        watching = stack.enter_context(mosquitto_sub(contest))
        clients = [
            SpecClient("127.0.0.1", port, scheme, "s", fresh=False, seed=4, client=bots[scheme])
            for scheme, port in ports.items()
        ]
        for watcher in watchers:
            assert watcher.ready.wait(_GAME_SECONDS)
        winner = play(*clients)
        for watcher in watchers:
            assert watcher.over.wait(_GAME_SECONDS)
        assert [bot.closes for bot in bots.values()] == [watcher.client.closes for watcher in watchers] == [0, 0]
        lines = until_the_winner(watching)
    turns = [payload for _, topic, payload in lines if topic == "/game/current" and payload]
    assert len(turns) > 10
    assert lines[-1] == ["1", "/game/winner", winner]
    for watcher in watchers:
        assert watcher.of("/game/winner") == [Message("/game/winner", winner.encode(), 1, True)]
        assert [message.payload.decode() for message in watcher.of("/game/current")] == turns
