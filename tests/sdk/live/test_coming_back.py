"""Clients of the bare specification lose their connection in mid-game, and everything retained comes a second time.

The story: the forty-line client counted `sunk` topics. After a reconnect it counted them again, fired too few shots and
in the end a negative number of them; and it forgot that a player was out and fired at it for ever.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.brokers import Broker, StartServer
from kit.cable import Cable
from kit.golden_games import ALICE
from kit.players import Heard, over
from kit.programs import needs
from salvo import client
from salvo import messages as m
from salvo.player import Answer, Bot
from salvo.rules import Fleet, RuleBook
from salvo.view import View

ROOT = Path(__file__).parents[3]
FORTY_LINES = ["examples/spec_client_40_lines.py"]
SPEC_CLIENT = ["tests/conformance/spec_client.py", "--salt", "session"]
_SECONDS = 60.0


class Victim(Bot):
    """Stands where everybody knows and fires into the water."""

    def place_fleet(self, rules: RuleBook) -> Fleet:
        return ALICE

    def choose_salvo(self, view: View) -> Answer:
        return [("plain", 1, 1)] * view.shots


class Sinker(Bot):
    """Sinks the patrolboat of ``plain``, which lies in row 10, and the whole fleet of ``victim``; then spares all."""

    def choose_salvo(self, view: View) -> Answer:
        aims = [("plain", x, 10) for x in range(1, 11)] if "patrolboat" in view.afloat("plain") else []
        if "victim" in view.opponents:
            aims += [("victim", x, y) for y in range(1, 6) for x in range(1, 6)]
        fresh = [aim for aim in aims if aim in view.untouched]
        return (fresh + [("plain", 1, 1)] * view.shots)[: view.shots]


def turns_of(name: str, said: list[m.Announcement]) -> int:
    return sum(isinstance(a, m.SalvoResolved) and a.player == name for a in said)


def refused(name: str, heard: Heard) -> set[str]:
    return {refusal.code for refusal in heard.of(m.CommandRefused) if refusal.to == name}


@contextlib.contextmanager
def started(program: list[str], port: int, name: str) -> Iterator[subprocess.Popen[str]]:
    path, *options = program
    command = [sys.executable, str(ROOT / path), "127.0.0.1", str(port), name, f"secret {name}", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def join(url: str, name: str, bot: Bot) -> None:
    threading.Thread(target=client.play, args=(bot, url, name, f"secret {name}"), daemon=True).start()


@pytest.mark.long
@pytest.mark.parametrize(
    ("broker", "program"),
    [
        pytest.param("embedded", SPEC_CLIENT, id="the embedded broker, spec client"),
        pytest.param("mosquitto", FORTY_LINES, id="mosquitto, forty lines", marks=needs("mosquitto")),
    ],
    indirect=["broker"],
)
def test_a_retained_message_that_comes_again_after_a_reconnect_counts_once(
    program: list[str], broker: Broker, start_server: StartServer
) -> None:
    heard = Heard()
    with (
        start_server(heard, players=3),
        Cable(broker.port) as cable,
        started(program, cable.port, "plain") as plain,
    ):
        join(broker.url, "victim", Victim())
        join(broker.url, "sinker", Sinker())
        heard.until(lambda said: any(isinstance(a, m.SalvoResolved) and "victim" in a.defeated for a in said))
        for _ in range(2):
            before = turns_of("plain", heard.all)
            cable.cut()
            heard.until(lambda said, before=before: over(said) or turns_of("plain", said) >= before + 2)  # type: ignore[misc]
        heard.until(over)
        said, errors = plain.communicate(timeout=_SECONDS)
    assert (plain.returncode, said.strip(), errors) == (0, "winner: plain", "")
    assert cable.connections >= 3
    salvos = heard.of(m.SalvoResolved)
    assert sum(ship.player == "plain" for salvo in salvos for ship in salvo.sunk) == 1
    full = [salvo.shots for salvo in salvos if salvo.player == "plain"]
    assert set(full[-10:-1]) == {4}  # its patrolboat is lost once, however often it is told
    assert refused("plain", heard) <= {"too_many_shots", "not_your_turn"}
