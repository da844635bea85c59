"""Strangers who forge shots and placements of teams, on each broker: the stage of that game."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kit.front import Front
from kit.mosquitto import ContestMosquitto
from kit.open_mosquitto import OpenMosquitto
from kit.players import until_online
from kit.secured import Client
from kit.web_front import web_front
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

HONEST = ("ann", "bob")
STRANGER = "eve"


def know_no_publishers(patch: pytest.MonkeyPatch) -> None:
    """Take the defence away."""
    receive = Inbox.receive
    patch.setattr(Inbox, "receive", lambda self, message, now: receive(self, message._replace(publisher=None), now))


def forged_shot(salt: bytes) -> str:
    """A shot that no key opens."""
    return json.dumps({"data": {"x": 1, "y": 1}, "signature": make_blob(b"{}", bytes(32), salt)})


@dataclass
class Stage:
    """A contest, with the clients of two teams and of a stranger, who is a third team where only teams come in.

    Attributes:
        secrets: of the teams.
    """

    secrets: dict[str, str]
    clients: dict[str, Client]
    salts: Iterator[bytes] = field(default_factory=lambda: (n.to_bytes(16, "big") for n in itertools.count()))

    def came(self, topic: str) -> list[str]:
        """What has come on a topic, and what was refused to a team."""
        heard = [(t, p) for client in self.clients.values() for t, p, _ in client.heard if p]
        return [p for t, p in heard if t.endswith("/error")] or [p for t, p in heard if t == topic]

    def come(self, topic: str, wanted: str = "") -> str:
        """Wait for a topic, or for a refusal."""
        self.clients["ann"].until(lambda: self.came(topic) and (not wanted or wanted in self.came(topic)))
        return self.came(topic)[0]

    def forge(self, topic: str, number: int, *, signed: bool) -> None:
        """Let the stranger publish what no key opens."""
        for salt in itertools.islice(self.salts, number):
            text = forged_shot(salt) if signed else make_blob(b"{}", bytes(32), salt)
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
def stage(profile: str, place: str, folder: Path) -> Iterator[Stage]:
    """A table for two.

    Args:
        place: ``embedded``, ``web`` (the same, reached by its web front), ``mosquitto``, ``front`` or ``front without
            marks``.
    """
    secrets = {name: f"secret-of-{name}" for name in (*HONEST, STRANGER)}
    given = {"profile": profile, "seed": "7", "players": 2, "journal": "none", "turn_seconds": 600}
    values: dict[str, Any] = dict(given)
    ca, port = None, 0
    with contextlib.ExitStack() as stack:
        roster = Roster(folder / "roster.json")
        if profile == "contest":
            secrets = {name: roster.add(name) for name in secrets}
        if place in ("embedded", "web"):
            values["listen"] = "127.0.0.1:0"
        else:
            own, keeper = roster.server, roster.keeper
            mosquitto = OpenMosquitto(open_server(own)) if profile == "open" else ContestMosquitto(own, keeper)
            broker = stack.enter_context(mosquitto)
            values["broker"], port = broker.url, broker.port
        if place.startswith("front"):
            without = "" if place == "front" else "    filter lua.front mqtt\n"
            front = stack.enter_context(Front(folder, broker.port, broker.websocket_port, without=without))
            ca, port = str(front.certificate.cert), front.port
        if profile == "contest" or place not in ("embedded", "web"):
            values["roster"] = folder / "roster.json"
        running = Contest(ServerSettings(**values))
        stack.enter_context(running.in_background())
        if profile == "open":
            until_online(running.url)
        if place == "web":
            port = stack.enter_context(web_front(running.url, "--proxy-protocol")).port
        port = port or BrokerUrl.parse(running.url).port
        accounts = {name: Account(name, name, Role.TEAM, secret) for name, secret in secrets.items()}
        how: dict[str, Any] = {"ca": ca, "websocket": place == "web"}
        clients = {name: stack.enter_context(Client(port, account, name, **how)) for name, account in accounts.items()}
        clients["ann"].subscribe(["/players/list", "/game/current", "/game/turn", "/game/result", "/game/winner"])
        for name in HONEST:
            clients[name].subscribe([f"/players/{name}/error", f"/players/{name}/ships/+/error"])
        yield Stage(secrets, clients)
