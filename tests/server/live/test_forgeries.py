"""What strangers forge in the name of teams whose clients take a fresh salt a message, as the specification has it.

On the embedded broker, which knows its connections, also those of the web front's visitors, and on a mosquitto behind
the front, which marks them.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from kit.cheap_keys import cheap_keys
from kit.front import Front
from kit.open_mosquitto import OpenMosquitto
from kit.players import until_online
from kit.programs import needs
from kit.secured import Client
from kit.web_front import web_front
from salvo.codec.command_writer import write_placement
from salvo.net.mqtt import BrokerUrl
from salvo.rules import SALVO
from salvo.wire import topics
from salvo.wire.roles_and_rights import Role
from salvo.wire.seal import Sealer, make_blob
from salvo_server.brokers.mosquitto.config import open_server
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.storage.register import Account
from salvo_server.storage.roster import Roster

HONEST = ("ann", "bob")
STRANGER = "eve"
#: Before each message of an honest client: more than any bucket holds.
FORGED: Final = 20
BEHIND_THE_FRONT: Final = [needs("mosquitto"), needs("haproxy")]


@dataclass
class Stage:
    """A contest, with the clients of two teams and of a stranger."""

    secrets: dict[str, str]
    clients: dict[str, Client]
    salts: Iterator[bytes] = field(default_factory=lambda: (n.to_bytes(16, "big") for n in itertools.count()))

    def came(self, topic: str) -> list[str]:
        """What has come on a topic, and what was refused to a team."""
        received = [(t, p) for client in self.clients.values() for t, p, _ in client.received if p]
        return [p for t, p in received if t.endswith("/error")] or [p for t, p in received if t == topic]

    def come(self, topic: str, wanted: str = "") -> str:
        """Wait for a topic, or for a refusal."""
        self.clients["ann"].until(lambda: self.came(topic) and (not wanted or wanted in self.came(topic)))
        return self.came(topic)[0]

    def forge(self, topic: str, number: int, *, signed: bool) -> None:
        """Let the stranger publish what no key opens."""
        for salt in itertools.islice(self.salts, number):
            blob = make_blob(b"{}", bytes(32), salt)
            text = json.dumps({"data": {"x": 1, "y": 1}, "signature": blob}) if signed else blob
            self.clients[STRANGER].publish([topic], text)

    def sealer(self, name: str) -> Sealer:
        """A team's own, with a fresh salt."""
        return Sealer(self.secrets[name], next(self.salts))

    def join(self) -> None:
        """Let both teams take part."""
        for name in HONEST:
            self.clients[name].publish(
                [topics.REQUEST_PARTICIPATION.of()], json.dumps({"name": name, "secret": self.secrets[name]})
            )
        self.come("/players/list", '["ann","bob"]')

    def place(self, forged: int) -> str:
        """Place both fleets, so many forgeries before each ship; return whose turn it is, or the first refusal."""
        for name in HONEST:
            for placement in SALVO.random_fleet(Random(name)).placements:
                topic = topics.PLACE.of(player=name, ship=placement.ship)
                self.forge(topic, forged, signed=False)
                self.clients[name].publish([topic], write_placement(placement, self.sealer(name)).decode())
        return self.come("/game/current")

    def fire(self, shooter: str, forged: int) -> str:
        """Fire a salvo of five, so many forgeries before each shot; return the result, or the first refusal."""
        topic = topics.FIRE.of(player={"ann": "bob", "bob": "ann"}[shooter])
        for x in range(1, 6):
            self.forge(topic, forged, signed=True)
            self.clients[shooter].publish([topic], self.sealer(shooter).sign({"x": x, "y": 1}).decode())
        return self.come("/game/result")


@contextlib.contextmanager
def stage(place: str, folder: Path) -> Iterator[Stage]:
    """A table for two.

    Args:
        place: ``embedded``, ``web`` (the same, reached by its web front), ``front`` or ``front without marks``.
    """
    values: dict[str, Any] = {"profile": "open", "seed": "7", "players": 2, "journal": "none", "turn_seconds": 600}
    ca, port = None, 0
    with contextlib.ExitStack() as stack:
        if place.startswith("front"):
            mosquitto = stack.enter_context(OpenMosquitto(open_server(Roster(folder / "roster.json").server)))
            without = "" if place == "front" else "    filter lua.front mqtt\n"
            front = stack.enter_context(Front(folder, mosquitto.port, mosquitto.websocket_port, without=without))
            ca, port = str(front.certificate.cert), front.port
            values |= {"broker": mosquitto.url, "roster": folder / "roster.json"}
        else:
            values["listen"] = "127.0.0.1:0"
        running = Contest(ServerSettings(**values))
        stack.enter_context(running.in_background())
        until_online(running.url)
        if place == "web":
            port = stack.enter_context(web_front(running.url, "--proxy-protocol")).port
        port = port or BrokerUrl.parse(running.url).port
        secrets = {name: f"secret-of-{name}" for name in (*HONEST, STRANGER)}
        accounts = {name: Account(name, name, Role.TEAM, secret) for name, secret in secrets.items()}
        how: dict[str, Any] = {"ca": ca, "websocket": place == "web"}
        clients = {name: stack.enter_context(Client(port, account, name, **how)) for name, account in accounts.items()}
        clients["ann"].subscribe(["/players/list", "/game/current", "/game/turn", "/game/result", "/game/winner"])
        for name in HONEST:
            clients[name].subscribe([f"/players/{name}/error", f"/players/{name}/ships/+/error"])
        yield Stage(secrets, clients)


@pytest.fixture(autouse=True)
def _keys_cost_little() -> Iterator[None]:
    """The server is in this process, and so are its clients."""
    with cheap_keys():
        yield


@pytest.mark.parametrize("place", ["embedded", "web", pytest.param("front", marks=BEHIND_THE_FRONT)])
def test_forgeries_cost_clients_with_a_fresh_salt_a_message_nothing(place: str, tmp_path: Path) -> None:
    with stage(place, tmp_path) as game:
        game.join()
        shooter = game.place(FORGED)
        assert json.loads(game.fire(shooter, FORGED))["shots"] == 5


@needs("mosquitto")
@needs("haproxy")
def test_forgeries_without_marks_of_publishers_cost_such_a_client_its_shots(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with stage("front without marks", tmp_path) as game:
        game.join()
        shooter = game.place(0)
        assert game.fire(shooter, FORGED).startswith("rate_limited")
    assert caplog.text.count("clients reach the broker without the front") == 1
