"""MQTT.js, the client of most programs in JavaScript, in a process of Node.js."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from kit.programs import path_of

_PROGRAM: Final = Path(__file__).with_suffix(".js")
#: Where Debian's packages of JavaScript are, for a Node.js that may not be Debian's.
_MODULES: Final = "/usr/share/nodejs"


class Message(NamedTuple):
    """A message as MQTT.js hands it on."""

    topic: str
    payload: bytes
    qos: int
    retain: bool


class MqttJs:
    """A client with as much of paho's interface as :class:`~conformance.spec_client.SpecClient` uses.

    Attributes:
        qos: of what it publishes.
        options: of what it subscribes to, as MQTT.js has them.
        events: what else than messages has happened, in order, with its details.
    """

    def __init__(self, scheme: str, version: int, qos: int, name: str, **options: Any) -> None:
        """Prepare.

        Args:
            scheme: ``mqtt`` or ``ws``.
        """
        self._arguments = (scheme, str(version), name)
        self.qos = qos
        self.options = {"qos": qos} | options
        self.events: list[list[Any]] = []
        self.on_connect: Callable[..., object] = lambda *_: None
        self.on_message: Callable[[Any, Any, Message], object] = lambda *_: None

    def connect(self, host: str, port: int) -> None:
        scheme, *others = self._arguments
        command = [path_of("node"), str(_PROGRAM), f"{scheme}://{host}:{port}", *others]
        environment = os.environ | {"NODE_PATH": _MODULES}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
        self._reader = threading.Thread(target=self._read)

    @property
    def closes(self) -> int:
        """How often its connection has been lost."""
        return sum(event[0] == "close" for event in self.events)

    def loop_start(self) -> None:
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            name, *given = json.loads(line)
            if name == "message":
                topic, payload, qos, retain = given
                self.on_message(self, None, Message(topic, payload.encode(), qos, retain))
                continue
            self.events.append([name, *given])
            if name == "connect":
                self.on_connect(self)

    def subscribe(self, wanted: Sequence[tuple[str, int]]) -> None:
        self._call("subscribe", [topic for topic, _ in wanted], self.options)

    def publish(self, topic: str, payload: str, qos: int) -> None:
        self._call("publish", topic, payload, {"qos": self.qos})

    def _call(self, *call: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(call) + "\n")
        self._process.stdin.flush()

    def disconnect(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()

    def loop_stop(self) -> None:
        self._process.wait(60)
        self._reader.join(60)
        assert self._process.stdout is not None
        self._process.stdout.close()
