"""The topics of a real game as an MQTT explorer shows them: a tree, each topic with its last payload."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Iterator, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Final

from kit.players import Announced
from salvo import messages as m
from salvo.join import client
from salvo.net.mqtt import Connection
from salvo_lab.bots.hunter import Hunter
from salvo_server.contest import Contest
from salvo_server.settings import ServerSettings
from salvo_server.storage.identity import Identity
from salvo_server.storage.roster import Roster

_ROW: Final = 25
_STEP: Final = 22
_WIDTH: Final = 760
_MAX_VALUE: Final = 44
_SECONDS: Final = 60.0
#: Which the README explains.
_EXPLAINED: Final = ("/game/headline", "/game/state", "/players/list", "/game/current")

_STYLE: Final = """
svg { --page: #fff; --ink: #1a2430; --dim: #55616e; --value: #a64b00; --mark: #dbeefa; --now: #0072b2;
  font: 15px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace }
@media (prefers-color-scheme: dark) { svg { --page: #10161d; --ink: #e8eef4; --dim: #9dabb9; --value: #f0a060;
  --mark: #14354a; --now: #56b4e9 } }
text { fill: var(--ink) } .dim { fill: var(--dim) } .value { fill: var(--value) } .page { fill: var(--page) }
.mark { fill: var(--mark) } .bar { fill: var(--now) }
"""


def topic_tree() -> str:
    """Return the topics after the first sinking of a game."""
    return _svg(_after_the_first_sinking())


def _after_the_first_sinking() -> dict[str, str]:
    """Play until a ship is sunk; return each topic's last payload, as red sees them with a ``#``."""
    received, held = Announced(), threading.Event()
    received.once = (_went_on_after_a_sinking, partial(held.wait, _SECONDS))
    topics: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        roster = Roster(Path(folder) / "roster.json")
        secrets = {name: roster.add(name) for name in ("red", "blue")}
        settings = ServerSettings(listen="127.0.0.1:0", roster=roster.path, players=2, seed="7", journal="none")
        contest = Contest(settings, received, identity=Identity(bytes(32)))
        explorer = Connection(contest.url, "red.1", username="red.1", password=secrets["red"], clean_session=True)
        explorer.on_connect = lambda _: explorer.subscribe(["#"])
        with contest.in_background(), contextlib.closing(explorer), contextlib.ExitStack() as stack:
            explorer.connect(_SECONDS)
            sunk = False
            for topic, payload in _messages(explorer):
                topics[topic] = payload
                if topic == "/players/count" and payload in ("0", "1"):  # one after the other: red is the first
                    name = ("red", "blue")[int(payload)]
                    play(stack, contest.url, name, secrets[name])
                sunk = sunk or topic.endswith("/sunk")
                if sunk and topic == "/game/current":
                    break
            held.set()
    return topics


def play(stack: contextlib.ExitStack, url: str, name: str, secret: str) -> None:
    """Let a hunter play as a team, until the stack is closed."""
    stop = threading.Event()
    how = {"pin": False, "seed": name, "stop": stop}
    playing = threading.Thread(target=client.play, args=(Hunter(), url, name, secret), kwargs=how)
    playing.start()
    stack.callback(playing.join)
    stack.callback(stop.set)


def _went_on_after_a_sinking(received: list[m.Announcement]) -> bool:
    """Whether a salvo came after that of the first sinking: the server has not published it yet."""
    salvos = [each for each in received if isinstance(each, m.SalvoResolved)]
    return any(each.sunk for each in salvos[:-1])


def _messages(explorer: Connection) -> Iterator[tuple[str, str]]:
    while True:
        for message in explorer.poll(_SECONDS):
            explorer.acknowledge(message)
            yield message.topic, message.payload.decode()


def _svg(topics: Mapping[str, str]) -> str:
    rows = list(_rows(topics))
    height = _ROW * len(rows) + 28
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        "<title>The topics of a game, as an MQTT explorer shows them</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{_WIDTH}" height="{height}" rx="10"/>',
    ]
    for number, (depth, name, value, explained) in enumerate(rows):
        top = 14 + _ROW * number
        if explained:
            parts.append(f'<rect class="mark" x="10" y="{top}" width="{_WIDTH - 20}" height="{_ROW - 2}" rx="4"/>')
            parts.append(f'<rect class="bar" x="10" y="{top}" width="4" height="{_ROW - 2}" rx="2"/>')
        shown = value if len(value) <= _MAX_VALUE else f"{value[: _MAX_VALUE - 1]}…"
        equals = f'<tspan class="dim"> = </tspan><tspan class="value">{escape(shown)}</tspan>' if value else ""
        parts.append(f'<text x="{24 + _STEP * depth}" y="{top + 17}">{escape(name)}{equals}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _rows(topics: Mapping[str, str]) -> Iterator[tuple[int, str, str, bool]]:
    """Yield depth, text and payload of each part of a topic, and whether the guide explains it.

    A part with nothing below it that the guide explains is folded.
    """
    shown: set[str] = set()
    for topic in sorted(topics):
        parts = topic.split("/")[1:]
        for depth, part in enumerate(parts):
            path = "/" + "/".join(parts[: depth + 1])
            folded = path != topic and not any(_is_explained(each) for each in topics if each.startswith(f"{path}/"))
            if path not in shown:
                sign = "" if path == topic else "▸ " if folded else "▾ "
                yield depth, sign + part, topics.get(path, ""), _is_explained(path)
            shown.add(path)
            if folded:
                break


def _is_explained(topic: str) -> bool:
    return topic in _EXPLAINED or (topic.startswith("/players/") and topic.endswith("/sunk"))
