"""The protocol's messages, one by one, as ``gateways/xbs.txt`` has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gateway_hall import Hall, Program
from salvo.rules import XBS
from salvo_server.gateway.xbs import door

_FILE = Path(__file__).parent / "gateways" / "xbs.txt"


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


@pytest.mark.parametrize("scene", list(scenes()), ids=lambda scene: scene.name)
def test_the_protocol_line_by_line(scene: Scene, tmp_path: Path) -> None:
    book = dataclasses.replace(XBS, name="table", goal=scene.settings.get("goal", 17))
    hall = Hall(book, tmp_path, players=scene.settings["players"])
    example = door(book, title="Example Game", most=4)
    clients: dict[str, Program] = {}
    for number, step in enumerate(scene.steps, start=scene.first + 1):
        name, _, action = step.partition(" ")
        what, text = action[:1], action[2:]
        where = f"{_FILE.name}, line {number}"
        if what == "+":
            clients[name] = hall.come(example, name)
        elif what == ">":
            clients[name].say(text)
        elif what == "<":
            assert clients[name].hear() == text, where
        elif what == ".":
            assert clients[name].hear() == "", where
        elif what == "-":
            clients[name].go()
        else:
            assert not name or name in scene.settings, where
