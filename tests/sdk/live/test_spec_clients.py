"""Clients that know nothing but the specification play whole games."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.spec_client import SpecClient
from kit.brokers import Broker, StartServer
from kit.players import Announced, join
from kit.processes import started
from salvo import messages as m
from salvo.bots.player import Answer, Bot
from salvo.view import View

_GAME_SECONDS = 120


class KnowsTheRows(Bot):
    """Fires where the clients of the specification place their ships: in rows 2, 4, 6, 8 and 10."""

    def choose_salvo(self, view: View) -> Answer:
        return [shot for shot in view.untouched if shot.y % 2 == 0][: view.shots]


def _play(clients: list[SpecClient]) -> str:
    for client in clients:
        client.start()
    try:
        for client in clients:
            assert client.over.wait(_GAME_SECONDS), f"{client.name} saw no winner; errors: {client.errors}"
    finally:
        for client in clients:
            client.stop()
    [winner] = {client.winner for client in clients}
    assert [error for client in clients for error in client.errors] == []
    return winner


@pytest.mark.slow
def test_a_fresh_salt_for_every_message_plays_a_whole_game(broker: Broker, start_server: StartServer) -> None:
    """Each shot takes a key that is derived twice, at the client and at the server; so the rival makes it short."""
    received = Announced()
    with start_server(received, players=2):
        fresh = SpecClient("127.0.0.1", broker.port, "Henkiebunch", "cockadoodledoo", seed=1)
        join(broker.url, "rivals", KnowsTheRows())
        assert _play([fresh]) in ("Henkiebunch", "rivals")
    stats = {each.player: each for each in received.of(m.PlayerStats)}
    assert stats["Henkiebunch"].shots > 20
    assert received.of(m.CommandRefused) == []


def test_data_and_payload_and_a_session_salt_play_at_one_table(broker: Broker, start_server: StartServer) -> None:
    with start_server(players=4):
        keys = {"one": "data", "two": "payload", "three": "data", "four": "payload"}
        clients = [
            SpecClient("127.0.0.1", broker.port, name, name, key=key, fresh=False, seed=2) for name, key in keys.items()
        ]
        assert _play(clients) in keys


@pytest.mark.quick
def test_the_client_of_the_guide_plays_without_the_sdk(broker: Broker, start_server: StartServer) -> None:
    path = Path(__file__).parents[3] / "examples/client.py"
    command = [sys.executable, str(path), "127.0.0.1", str(broker.port)]
    with start_server(players=2), contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(started([*command, name, "secret"], stdout=subprocess.PIPE))
            for name in ("left", "right")
        ]
        output = {process.communicate(timeout=60)[0].strip() for process in processes}
        assert output in ({"winner: left"}, {"winner: right"})
