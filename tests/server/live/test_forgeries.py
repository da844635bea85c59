"""What strangers forge in the name of teams whose clients take a fresh salt a message, as the specification has it.

On the embedded broker, which knows its connections, and on a mosquitto behind the front, which marks them.
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
from kit.mosquitto import ContestMosquitto
from kit.open_mosquitto import REQUEST, OpenMosquitto
from kit.players import until_online
from kit.programs import needs
from kit.secured import Client
from salvo import topics
from salvo.codec.command_writer import write_placement
from salvo.net.mqtt import BrokerUrl
from salvo.permissions import Role
from salvo.rules import SALVO
from salvo.seal import Sealer, make_blob
from salvo_server.brokers.mosquitto.config import open_server
from salvo_server.contest import Contest
from salvo_server.core.inbox import Inbox
from salvo_server.settings import ServerSettings
from salvo_server.storage.register import Account
from salvo_server.storage.roster import Roster

BEHIND_THE_FRONT: Final = [needs("mosquitto"), needs("haproxy")]
KINDS: Final = [
    "open, embedded",
    pytest.param("open, front", marks=BEHIND_THE_FRONT),
    pytest.param("contest, front", marks=BEHIND_THE_FRONT),
]
#: Before each message of an honest client: more than any bucket holds.
FORGED: Final = 20


@pytest.fixture(autouse=True)
def _keys_cost_little() -> Iterator[None]:
    """The server is in this process, and so are its clients."""
    with cheap_keys():
        yield


@dataclass
class Stage:
    """A contest, with the clients of two teams and of a stranger, or a third team.

    Attributes:
        secrets: of the teams.
    """

    clients: dict[str, Client]
    secrets: dict[str, str]
    salts: Iterator[bytes] = field(default_factory=lambda: (n.to_bytes(16, "big") for n in itertools.count()))

    def came(self, topic: str) -> list[str]:
        """What has come on a topic, and what was refused to a team."""
        heard = [(t, p) for client in self.clients.values() for t, p, _ in client.heard if p]
        return [p for t, p in heard if t.endswith("/error")] or [p for t, p in heard if t == topic]

    def come(self, topic: str, wanted: str = "") -> str:
        """Wait for a topic, or for a refusal."""
        self.clients["ann"].until(lambda: self.came(topic) and (not wanted or wanted in self.came(topic)))
        return self.came(topic)[0]

    def forge(self, topic: str, *, signed: bool) -> None:
        """Let the stranger publish what no key opens."""
        for _ in range(FORGED):
            blob = make_blob(b"{}", bytes(32), next(self.salts))
            text = json.dumps({"data": {"x": 1, "y": 1}, "signature": blob}) if signed else blob
            self.clients["eve"].publish([topic], text)

    def sealer(self, name: str) -> Sealer:
        """A team's own, with a fresh salt."""
        return Sealer(self.secrets[name], next(self.salts))

    def join(self) -> None:
        """Let both teams take part."""
        for name in ("ann", "bob"):
            self.clients[name].publish([REQUEST], json.dumps({"name": name, "secret": self.secrets[name]}))
        self.come("/players/list", '["ann","bob"]')

    def place(self, *, forge: bool) -> str:
        """Place both fleets; return whose turn it is, or the first refusal."""
        for name in ("ann", "bob"):
            for placement in SALVO.random_fleet(Random(name)).placements:
                topic = topics.PLACE.of(player=name, ship=placement.ship)
                if forge:
                    self.forge(topic, signed=False)
                self.clients[name].publish([topic], write_placement(placement, self.sealer(name)).decode())
        return self.come("/game/current")

    def fire(self, shooter: str) -> str:
        """Fire a salvo of five while the stranger forges shots; return the result, or the first refusal."""
        topic = topics.FIRE.of(player={"ann": "bob", "bob": "ann"}[shooter])
        for x in range(1, 6):
            self.forge(topic, signed=True)
            self.clients[shooter].publish([topic], self.sealer(shooter).sign({"x": x, "y": 1}).decode())
        return self.come("/game/result")


@contextlib.contextmanager
def stage(kind: str, folder: Path, *, marks: bool = True) -> Iterator[Stage]:
    """A table for two, whose turns end with their salvos."""
    profile, _, place = kind.partition(", ")
    secrets = {name: f"secret-of-{name}" for name in ("ann", "bob", "eve")}
    values: dict[str, Any] = {"profile": profile, "seed": "7", "players": 2, "journal": "none", "turn_seconds": 600}
    ca, port = None, 0
    with contextlib.ExitStack() as stack:
        if place == "embedded":
            values["listen"] = "127.0.0.1:0"
        else:
            roster = Roster(folder / "roster.json")
            broker: OpenMosquitto | ContestMosquitto
            if profile == "open":
                broker = OpenMosquitto(open_server(roster.server))
            else:
                broker = ContestMosquitto(roster.server, roster.keeper)
                secrets = {name: roster.add(name) for name in secrets}
            stack.enter_context(broker)
            without = "" if marks else "    filter lua.front mqtt\n"
            front = stack.enter_context(Front(folder, broker.port, broker.websocket_port, without=without))
            values |= {"broker": broker.url, "roster": folder / "roster.json"}
            ca, port = str(front.certificate.cert), front.port
        running = Contest(ServerSettings(**values))
        stack.enter_context(running.in_background())
        if profile == "open":
            until_online(running.url)
        clients = {
            name: stack.enter_context(Client(port or BrokerUrl.parse(running.url).port, account, name, ca=ca))
            for name, account in ((name, Account(name, name, Role.TEAM, secrets[name])) for name in secrets)
        }
        clients["ann"].subscribe(["/players/list", "/game/current", "/game/result"])
        for name in ("ann", "bob"):
            clients[name].subscribe([f"/players/{name}/error", f"/players/{name}/ships/+/error"])
        yield Stage(clients, secrets)


@pytest.mark.parametrize("kind", KINDS)
def test_forged_shots_cost_no_turn_to_clients_with_fresh_salts(kind: str, tmp_path: Path) -> None:
    with stage(kind, tmp_path) as game:
        game.join()
        shooter = game.place(forge=kind.startswith("open"))  # in a contest a team's topics are its own
        assert json.loads(game.fire(shooter))["shots"] == 5


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_without_the_publishers_forged_shots_cost_such_a_client_its_own(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if kind.endswith("embedded"):
        nobody = property(lambda self: lambda topic, payload: None, lambda self, given: None)
        monkeypatch.setattr(Inbox, "publisher_of", nobody)
    with stage(kind, tmp_path, marks=False) as game:
        game.join()
        shooter = game.place(forge=False)
        assert game.fire(shooter).startswith("rate_limited")
    assert caplog.text.count("clients reach the broker without the front") == kind.endswith("front")
