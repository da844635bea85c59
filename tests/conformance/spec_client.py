"""A client written from the specification alone: paho-mqtt and PyNaCl, nothing of ours, none of our additions.

It is a program (``spec_client.py HOST PORT NAME SECRET``) and a class for tests. ``fresh`` draws a new salt for every
message, as somebody would who reads no more than "argon2id13, base64"; ``key`` names the open body of a shot, which
the specification prints both as ``data`` and as ``payload``.

What is retained comes again after every reconnect, so nothing is counted: who sank and who is out are sets. A second
``current`` for the same turn is answered like the first; the surplus is refused, and its cells come up again once all
others were tried.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import threading
from typing import Any, Literal

import nacl.pwhash
import nacl.secret
import nacl.utils
import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

FLEET = {"carrier": 5, "battleship": 4, "destroyer": 3, "submarine": 3, "patrolboat": 2}


class SpecClient:
    """Plays one game on a thread of paho's, or of another client with the same face.

    Attributes:
        winner: the winner's name once the game is over.
        over: set then.
        errors: what came on the error topics of the own ships.
    """

    def __init__(
        self,
        host: str,
        port: int,
        name: str,
        secret: str,
        *,
        key: str = "data",
        fresh: bool = True,
        prefix: str = "",
        transport: Literal["tcp", "websockets"] = "tcp",
        client: Any = None,
        seed: int | None = None,
    ) -> None:
        self.name = name
        self.winner = ""
        self.over = threading.Event()
        self.errors: list[str] = []
        self._secret = secret
        self._key = key
        self._fresh = fresh
        self._prefix = prefix
        self._random = random.Random(seed)
        self._salt = nacl.utils.random(16)
        self._keys: dict[bytes, bytes] = {}
        self._players: list[str] = []
        self._sunk: set[str] = set()
        self._defeated: set[str] = set()
        self._fired: set[tuple[str, int, int]] = set()
        self._placed = False
        self._client = client or mqtt.Client(CallbackAPIVersion.VERSION2, transport=transport)
        self._client.on_connect = self._on_connect
        self._client.on_message = self._on_message
        self._client.connect(host, port)

    def start(self) -> None:
        self._client.loop_start()

    def stop(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _blob(self, body: dict[str, Any]) -> str:
        salt = nacl.utils.random(16) if self._fresh else self._salt
        if salt not in self._keys:
            self._keys[salt] = nacl.pwhash.argon2id.kdf(
                32,
                self._secret.encode(),
                salt,
                opslimit=nacl.pwhash.argon2id.OPSLIMIT_INTERACTIVE,
                memlimit=nacl.pwhash.argon2id.MEMLIMIT_INTERACTIVE,
            )
        sealed = nacl.secret.SecretBox(self._keys[salt]).encrypt(json.dumps(body).encode())
        return base64.b64encode(salt + sealed).decode()

    def _on_connect(self, client: Any, *_: Any) -> None:
        topics = ["/players/list", "/player/#", "/game/state", "/game/winner", "/game/current"]
        topics.append(f"/players/{self.name}/ships/+/error")
        client.subscribe([(self._prefix + topic, 1) for topic in topics])

    def _publish(self, topic: str, payload: str) -> None:
        self._client.publish(self._prefix + topic, payload, qos=1)

    def _on_message(self, client: Any, _: Any, message: Any) -> None:
        text = message.payload.decode()
        match message.topic.removeprefix(self._prefix).split("/")[1:]:
            case ["game", "state"] if text == "lobby":
                self._publish("/game/request_participation", json.dumps({"name": self.name, "secret": self._secret}))
            case ["players", "list"] if text:
                self._listed(json.loads(text))
            case ["players", _, "ships", ship, "error"]:
                self.errors.append(f"{ship}: {text}")
            case ["player", name, "ships", ship, "sunk"] if name == self.name:
                (self._sunk.add if text else self._sunk.discard)(ship)
            case ["player", name, "defeated"]:
                (self._defeated.add if text else self._defeated.discard)(name)
            case ["game", "current"] if text == self.name:
                self._salvo()
            case ["game", "winner"] if text and self._placed:
                self.winner = text
                self.over.set()
            case _:
                pass

    def _listed(self, names: list[str]) -> None:
        self._players = names
        if self.name in names and not self._placed:
            self._placed = True
            for row, (ship, length) in enumerate(FLEET.items(), start=1):
                place = {
                    "coordinates": f"{self._random.randint(1, 11 - length)};{2 * row}",
                    "Orientation": "HORIZONTAL",
                }
                self._publish(f"/players/{self.name}/ships/{ship}/place", self._blob(place))

    def _salvo(self) -> None:
        rivals = [name for name in self._players if name != self.name and name not in self._defeated]
        aims = [(name, x, y) for name in rivals for x in range(1, 11) for y in range(1, 11)]
        aims.sort(key=lambda aim: (aim in self._fired, self._random.random()))
        for target, x, y in aims[: len(FLEET) - len(self._sunk)]:
            self._fired.add((target, x, y))
            shot = {"x": x, "y": y}
            self._publish(f"/players/{target}/fire", json.dumps({self._key: shot, "signature": self._blob(shot)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("name")
    parser.add_argument("secret")
    parser.add_argument("--key", choices=["data", "payload"], default="data")
    parser.add_argument("--salt", choices=["fresh", "session"], default="fresh")
    parser.add_argument("--prefix", default="", help="/TABLE for a further table")
    given = parser.parse_args()
    client = SpecClient(
        given.host,
        given.port,
        given.name,
        given.secret,
        key=given.key,
        fresh=given.salt == "fresh",
        prefix=given.prefix,
    )
    client.start()
    client.over.wait()
    client.stop()
    print(f"winner: {client.winner}")


if __name__ == "__main__":
    main()
