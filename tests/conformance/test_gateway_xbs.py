"""The protocol's messages, one by one, as ``gateways/xbs.txt`` has them."""

from __future__ import annotations

import dataclasses
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from integration.doors import open_door
from salvo_server.broker import EmbeddedBroker
from salvo_server.contest import Contest
from salvo_server.gateway.xbs import door
from salvo_server.settings import ServerSettings

_FILE = Path(__file__).parent / "gateways" / "xbs.txt"
_SECONDS = 60.0


@dataclass
class Scene:
    """A part of the file."""

    name: str
    first: int
    steps: list[str]
    settings: dict[str, int] = dataclasses.field(default_factory=dict)


def scenes() -> Iterator[Scene]:
    scene: Scene | None = None
    for number, line in enumerate(_FILE.read_text().splitlines(), start=1):
        text = line.split("   # ")[0]
        if text.startswith("== "):
            if scene is not None:
                yield scene
            scene = Scene(text[3:], number, [])
        elif scene is not None:
            name, _, value = text.partition(" ")
            if name in ("players", "goal"):
                scene.settings[name] = int(value)
            scene.steps.append(text)
    assert scene is not None
    yield scene


class Line:
    """A client's connection, read line by line."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address, _SECONDS)
        self.file = self.socket.makefile("r", encoding="utf-8", newline="\n")

    def ask_until(self, wanted: str, heard: str) -> str:
        """Ask for the game info again until it is what is wanted."""
        end = time.monotonic() + _SECONDS
        while heard != f"{wanted}\n" and time.monotonic() < end:
            self.socket.sendall(b"G\n")
            heard = self.file.readline()
        return heard

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@pytest.mark.parametrize("scene", list(scenes()), ids=lambda scene: scene.name)
def test_the_protocol_line_by_line(scene: Scene, tmp_path: Path) -> None:
    rules = tmp_path / "table.toml"
    goal = scene.settings.get("goal", 17)
    rules.write_text(f'name = "table"\nlike = "xbs"\ngoal = {goal}\n')
    clients: dict[str, Line] = {}
    with EmbeddedBroker() as broker:
        settings = ServerSettings(
            broker=broker.url, players=scene.settings["players"], rules=str(rules), seed="7", over_seconds=600
        )
        example = partial(door, title="Example Game", most=4)
        with Contest(settings).in_background(), open_door(broker.url, tmp_path, example) as address:
            for number, step in enumerate(scene.steps, start=scene.first + 1):
                name, _, action = step.partition(" ")
                what, text = action[:1], action[2:]
                where = f"{_FILE.name}, line {number}"
                if what == "+":
                    clients[name] = Line(address)
                elif what == ">":
                    clients[name].socket.sendall(f"{text}\n".encode())
                elif what == "<":
                    heard = clients[name].file.readline()
                    if text.startswith("G|"):  # the gateway's onlooker hears who came in a moment after they know it
                        heard = clients[name].ask_until(text, heard)
                    assert heard == f"{text}\n", where
                elif what == ".":
                    assert clients[name].file.readline() == "", where
                elif what == "-":
                    clients[name].close()
                else:
                    assert not name or name in scene.settings, where
    for client in clients.values():
        client.close()
