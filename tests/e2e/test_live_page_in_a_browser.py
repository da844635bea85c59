"""The live page in a real browser: with a real server, and with a broker on which anybody says anything."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.browser import TAB, Browser, browser
from e2e.test_game_page_in_a_browser import colour, contrast
from ports import Port
from processes import started
from programs import needs
from salvo.lab.pictures.html import luminance
from salvo.net.mqtt import Connection
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.spectate.live import live_page

pytestmark = needs("chromium")

_SALVO = (sys.executable, "-m", "salvo_server")
_SECONDS = 120.0


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    with browser() as window:
        yield window


@pytest.fixture
def window(shared: Browser) -> Iterator[Browser]:
    shared.resize(1400, 1000)
    shared.open("about:blank")
    shared.complaints()
    yield shared
    shared.open("about:blank")
    shared.tell("Emulation.setEmulatedMedia", features=[])


def until(window: Browser, condition: str) -> None:
    """Wait until an expression is true in the page."""
    end = time.monotonic() + _SECONDS
    while not window.run(f"return Boolean({condition})"):
        assert time.monotonic() < end, f"{condition}: {window.run('return document.body.innerText')}"
        time.sleep(0.02)


def text(window: Browser, selector: str) -> str:
    return str(window.run("return document.querySelector(arguments[0]).innerText", selector))


def says(selector: str, words: str) -> str:
    return f"document.querySelector({json.dumps(selector)}).textContent.includes({json.dumps(words)})"


def addressed(window: Browser, address: str) -> None:
    """Load a page, and wait until its script has run."""
    window.open(address)
    until(window, "document.getElementById('server')?.textContent")


# --- with a real server -----------------------------------------------------------------------------------------------


class Hall:
    """A machine with a server on it, and teams that play there."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._ports = [stack.enter_context(Port()) for _ in range(2)]
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}
        self._environment = clean | {"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        self._words = [
            "--players",
            "2",
            "--over-seconds",
            "600",
            "--turn-seconds",
            "60",
            "--journal",
            str(folder / "j"),
        ]
        self.won: list[str] = []

    def add(self, *words: str) -> dict[str, str]:
        command = [*_SALVO, "teams", "add", "--json", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, env=self._environment)
        return {line["name"]: line["secret"] for line in map(json.loads, done.stdout.splitlines())}

    def serve(self, *words: str) -> subprocess.Popen[str]:
        """Start a server, where it was before; it listens when this returns."""
        listen, live = (port.address for port in self._ports)
        command = [*_SALVO, "serve", "--json", "--listen", listen, "--live", live, *self._words, *words]
        server = self._stack.enter_context(
            started(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._environment)
        )
        assert server.stdout is not None
        said: dict[str, Any] = {}
        for line in server.stdout:
            record = json.loads(line)
            said[record["event"]] = record
            if record["event"] in ("lobby", "resumed"):
                break
        self.url, [self.page] = said["listening"]["url"], said["live"]["urls"]
        reader = threading.Thread(target=self._listen, args=(server.stdout,), daemon=True)
        reader.start()
        self._stack.callback(reader.join, 60)
        self._stack.callback(server.kill)
        return server

    def _listen(self, lines: Iterator[str]) -> None:
        for line in lines:
            record = json.loads(line)
            if record["event"] == "won":
                self.won.append(record["winner"])

    def join(self, **teams: str) -> None:
        for team, secret in teams.items():
            command = [*_SALVO, "join", self.url, "hunter", "--games", "1"]
            own = {"SALVO_TEAM": team} | ({"SALVO_SECRET": secret} if secret else {})
            null = subprocess.DEVNULL
            self._stack.enter_context(started(command, stdout=null, stderr=null, env=self._environment | own))


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with contextlib.ExitStack() as stack:
        yield Hall(tmp_path, stack)


def test_a_game_is_seen_to_its_end_though_the_server_is_killed_on_the_way(window: Browser, hall: Hall) -> None:
    hall._words += ["--profile", "open"]
    server = hall.serve()
    addressed(window, hall.page)
    until(window, says("#headline", "The lobby is open"))
    assert window.run("return document.getElementById('login').hidden")
    assert window.complaints() == []
    hall.join(red="", blue="")
    until(window, "document.querySelectorAll('#salvos li').length >= 3")
    server.kill()
    until(window, says("#trouble", "The broker does not answer"))
    hall.serve()
    until(window, says("#headline", " wins"))
    until(window, "document.querySelectorAll('#standings tr').length === 2")
    winner = text(window, "#headline").removesuffix(" wins")
    assert hall.won == [] or hall.won == [winner]
    cards = [
        card.splitlines() for card in window.run("return [...document.querySelectorAll('.card')].map(c => c.innerText)")
    ]
    assert cards[0][:2] == [winner, "WINNER"] or cards[0][:2] == [winner, "winner"]
    assert text(window, "#standings tr").split()[:3] == [winner, "1", "1"]
    assert window.run("return document.querySelectorAll('.card:nth-child(2) .sunk').length") == 5
    refused = [each for each in window.complaints() if "ERR_CONNECTION_REFUSED" not in each and "WebSocket" not in each]
    assert refused == []


def test_in_a_contest_it_asks_for_a_name_and_a_referee_sees_the_boards(window: Browser, hall: Hall) -> None:
    teams = hall.add("red", "blue")
    watcher, referee = hall.add("hall", "--role", "watcher"), hall.add("booth", "--role", "referee")
    hall.serve("--referee-delay-seconds", "0")
    addressed(window, hall.page)
    assert not window.run("return document.getElementById('login').hidden")
    assert window.run("return document.activeElement.id") == "user"
    assert (window.label("#user"), window.label("#secret")) == ("Name", "Secret")
    window.press(*"hall", TAB, *"nonsense", "\ue007")
    until(window, says("#wrong", "does not accept this name and secret: hall"))
    window.run("document.getElementById('secret').focus()")
    window.press(*watcher["hall"], "\ue007")
    until(window, says("#headline", "The lobby is open"))
    assert "as hall." in text(window, "#where")
    assert window.run("return document.getElementById('login').hidden")
    window.click("#account")
    assert not window.run("return document.getElementById('login').hidden")

    addressed(window, f"{hall.page}#user=booth&secret={referee['booth']}")
    until(window, says("#where", "as booth."))
    assert window.run("return location.href") == hall.page
    hall.join(**teams)
    until(window, says("#headline", " wins"))
    until(window, "document.querySelectorAll('.sea').length === 2")
    until(window, "document.querySelectorAll('.card:nth-child(2) .wrecks rect').length === 5")
    hits = window.run(
        "return [...document.querySelectorAll('.sea')].map(s => s.querySelectorAll('[href=\"#h\"]').length)"
    )
    assert hits[1] == 17 > hits[0]
    assert window.label(".sea").startswith("Board of ")
    assert window.complaints() == []
    assert referee["booth"] not in window.run("return document.documentElement.outerHTML")


# --- with a broker on which anybody says anything ---------------------------------------------------------------------


@pytest.fixture
def rude() -> Iterator[tuple[Connection, str]]:
    """Somebody on an open broker, and the page's address there."""
    with EmbeddedBroker(websocket="127.0.0.1:0", page=live_page(login="no")) as broker:
        connection = Connection(broker.url, "rude", clean_session=True)
        connection.connect(_SECONDS)
        yield connection, f"http{str(broker.websocket_url).removeprefix('ws').removesuffix('mqtt')}"
        connection.close()


_TURN = {"game": 1, "turn": 9, "player": "ann", "shots": 5, "now": 0, "deadline": 3_600_000}
_RESULT = {"game": 1, "turn": 8, "player": "bob", "shots": 5, "hits": 2, "sunk": [], "defeated": []}


def say(rude: Connection, topic: str, said: Any, *, retain: bool = True) -> None:
    rude.publish(topic, (said if isinstance(said, str) else json.dumps(said)).encode(), retain=retain)
    assert rude.flush(_SECONDS)


def a_game(rude: Connection, table: str = "") -> None:
    for topic, said in (
        ("/game/server", {"status": "online", "version": "1", "game": 1, "profile": "open"}),
        ("/players/list", ["ann", "bob"]),
        ("/game/state", "turn"),
        ("/game/result", _RESULT),
        ("/game/turn", _TURN),
    ):
        say(rude, f"{table}{topic}", said)


def test_what_anybody_says_is_shown_as_text_and_breaks_nothing(window: Browser, rude: tuple[Connection, str]) -> None:
    connection, page = rude
    a_game(connection)
    addressed(window, page)
    until(window, says("#headline", "ann fires 5 shots"))
    evil = "<img src=x onerror=document.title='owned'><script>1</script>\u202eevil"
    for topic in ("/game/state", "/game/rules", "/game/turn", "/game/result", "/game/winner", "/game/referee"):
        for said in (evil, json.dumps([evil]), "[[[[", "null", "1e999"):
            say(connection, topic, said, retain=False)
    connection.publish("/game/state", b"\xff\xfe")
    say(connection, "/players/list", [evil, "ann", {"a": 1}, "bob"])
    say(connection, "/game/chat", {"from": "ann", "text": evil}, retain=False)
    until(window, says("#lines", "evil"))
    assert text(window, "#lines q") == evil.replace("\u202e", "\ufffd")
    assert window.run("return [document.images.length, document.scripts.length, document.title.includes('owned')]") == [
        0,
        1,
        False,
    ]
    assert [
        each.split("\n")[0]
        for each in window.run("return [...document.querySelectorAll('.card')].map(c => c.innerText)")
    ] == [
        "ann",
        "bob",
    ]
    assert window.complaints() == []


def test_a_flood_of_salvos_is_drawn_as_it_ends(window: Browser, rude: tuple[Connection, str]) -> None:
    connection, page = rude
    a_game(connection)
    addressed(window, page)
    until(window, says("#headline", "ann fires"))
    window.run("window.frames_ = 0; (function count() { frames_ += 1; requestAnimationFrame(count); })()")
    window.run("""window.changes_ = 0; new MutationObserver(() => (changes_ += 1)).observe(document.body,
        { subtree: true, childList: true, attributes: true, characterData: true })""")
    for turn in range(9, 3009):
        connection.publish("/game/result", json.dumps(_RESULT | {"turn": turn}).encode(), retain=True)
    assert connection.flush(_SECONDS)
    until(window, says("#salvos li", "game 1, 3008"))
    assert "turns\u00a03001" in text(window, ".card:nth-child(2)").replace(" ", "\u00a0").replace("\n", "\u00a0")
    assert window.run("return changes_ <= frames_ + 2")


def test_server_states_are_told_and_tables_can_be_chosen(window: Browser, rude: tuple[Connection, str]) -> None:
    connection, page = rude
    addressed(window, page)
    until(window, says("#trouble", "No contest here yet"))
    a_game(connection)
    a_game(connection, "/second")
    say(
        connection,
        "/second/game/server",
        {"status_topic": "/game/server", "version": "1", "game": 1, "profile": "open"},
    )
    say(connection, "/second/players/list", ["eve", "dan"])
    say(connection, "/game/server", {"status": "paused"})
    until(window, says("#trouble", "The server is paused"))
    assert window.run("return document.getElementById('clock').classList.contains('idle')")
    say(connection, "/game/server", {"status": "online"})
    until(window, "!document.querySelector('#clock.idle') && document.getElementById('trouble').hidden")
    window.run("const s = document.getElementById('table'); s.value = 'second'; s.dispatchEvent(new Event('change'))")
    until(window, says("#players", "eve"))
    assert window.run("return location.hash") == "#table=second"
    until(window, says("#server", "live"))
    say(connection, "/game/server", {"status": "offline"})
    until(window, says("#trouble", "The server is offline"))
    addressed(window, f"{page}#table=second")
    until(window, says("#players", "eve"))
    assert window.complaints() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1920])
def test_it_is_readable_on_a_phone_and_on_a_projector(
    window: Browser, rude: tuple[Connection, str], scheme: str, width: int
) -> None:
    connection, page = rude
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    window.tell("Emulation.setEmulatedMedia", features=features)
    window.resize(width, 900)
    a_game(connection)
    rows = ["a" * 5 + "." * 5] + ["." * 10] * 9
    boards = [{"player": name, "rows": rows, "shots": 1, "hits": 1, "out": False} for name in ("ann", "bob")]
    last = {"player": "bob", "shots": [{"to": "ann", "x": 1, "y": 1, "hit": True}]}
    say(
        connection,
        "/game/referee",
        {"game": 1, "turn": 8, "at": 0, "player": "ann", "shots": 5, "boards": boards, "last": last},
    )
    addressed(window, page)
    until(window, "document.querySelectorAll('.sea').length === 2")
    behind = colour(window, "body", "backgroundColor")
    assert (luminance(behind) > 0.5) == (scheme == "light")
    for selector in ("#headline", "#more", ".card .figures", "#salvos li", "#salvos small", "#where", "#note", ".pill"):
        assert contrast(colour(window, selector, "color"), behind) >= 4.5, selector
    here = colour(window, ".acting", "backgroundColor")
    assert contrast(colour(window, ".acting .figures", "color"), here) >= 4.5
    assert window.run("return document.documentElement.scrollWidth <= innerWidth")
    assert window.run("return document.getAnimations().length") == 0
    assert window.complaints() == []
