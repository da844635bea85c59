"""The web front's pages in a real browser: with a real server, and with a broker on which anybody says anything."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from e2e.browser import Browser, text, until
from integration.web import WebFront, web_front
from ports import Port
from processes import started
from programs import needs
from salvo.net.mqtt import Connection
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.cli.play import play

pytestmark = [needs("chromium"), pytest.mark.long]

_SALVO = (sys.executable, "-m", "salvo_server")
_SECONDS = 120.0
_WEIGHT_BYTES = 150_000


@pytest.fixture
def window(shared: Browser) -> Iterator[Browser]:
    shared.resize(1280, 720)
    shared.open("about:blank")
    shared.complaints()
    yield shared
    shared.open("about:blank")
    shared.tell("Emulation.setEmulatedMedia", features=[])


def says(selector: str, words: str) -> str:
    return f"document.querySelector({json.dumps(selector)})?.textContent.includes({json.dumps(words)})"


# --- with a real server -----------------------------------------------------------------------------------------------


def test_a_game_is_seen_to_its_end_though_the_server_is_killed_on_the_way(window: Browser, tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        mqtt, web = (stack.enter_context(Port()).address for _ in range(2))
        clean = {key: value for key, value in os.environ.items() if not key.startswith("SALVO_")}
        environment = clean | {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        words = ["--profile", "open", "--json", "--listen", mqtt, "--web", web, "--players", "2"]
        words += ["--pace", "0.1", "--over-seconds", "600", "--journal", str(tmp_path / "j")]

        def serve() -> subprocess.Popen[str]:
            command = [*_SALVO, "serve", *words]
            server = stack.enter_context(started(command, stdout=subprocess.PIPE, env=environment))
            assert server.stdout is not None
            next(line for line in server.stdout if json.loads(line)["event"] == "web")
            return server

        server = serve()
        window.open(f"http://{web}/")
        until(window, says("#headline", "The lobby is open"))
        assert window.run("return document.getElementById('qr').naturalWidth > 0")
        assert window.complaints() == []
        for team in ("red", "blue"):
            null = subprocess.DEVNULL
            command = [*_SALVO, "join", f"mqtt://{mqtt}", "hunter", "--team", team, "--games", "1"]
            stack.enter_context(started(command, stdout=null, stderr=null, env=environment))
        until(window, "document.querySelectorAll('#feed-list li').length >= 2")
        server.kill()
        until(window, "!document.getElementById('trouble').hidden")
        serve()
        until(window, "document.getElementById('trouble').hidden")
        until(window, says("#headline", " wins"))
        winner = text(window, "#headline").split()[0]
        until(window, says("#standings-list li:first-child", winner))
        until(window, says("#feed-list li:first-child", f"{winner} wins"))


# --- with a broker on which anybody says anything ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("games")
    CliRunner().invoke(play, ["hunter", "random", "--seed", "1", "--record", f"{folder}/game-1.jsonl.gz"])
    return folder


@pytest.fixture
def rude(games: Path) -> Iterator[tuple[Connection, WebFront]]:
    """Somebody on an open broker, and a web front before it that shows boards."""
    with EmbeddedBroker() as broker, web_front(broker.url, "--delay", "0", "--games", str(games)) as web:
        connection = Connection(broker.url, "rude", clean_session=True)
        connection.connect(_SECONDS)
        yield connection, web
        connection.close()


def say(rude: Connection, topic: str, said: Any, *, retain: bool = True) -> None:
    rude.publish(topic, (said if isinstance(said, str) else json.dumps(said)).encode(), retain=retain)
    assert rude.flush(_SECONDS)


def names_of(players: int) -> list[str]:
    return [f"team-with-a-name-{number}" if number % 3 == 0 else f"t{number}" for number in range(players)]


def a_game(rude: Connection, players: int = 2, turn: int = 8) -> None:
    """All that a page shows of a game whose boards are seen."""
    names = names_of(players)
    rows = ["aaaaA" + "." * 5, "." * 10, "BBBB" + "*" * 6, *["." * 9 + "*"] * 7]
    boards = [{"player": name, "rows": rows, "shots": 40, "hits": 11, "out": False} for name in names]
    last = {"player": names[0], "shots": [{"to": names[1], "x": 1, "y": 3, "hit": True}]}
    shown = {"game": 1, "turn": turn, "at": 0, "player": names[1], "shots": 5, "boards": boards, "last": last}
    next_turn = {"game": 1, "turn": turn + 1, "player": names[1], "shots": 5, "now": 0, "deadline": 3_600_000}
    for topic, said in (
        ("/game/server", {"status": "online", "version": "1", "game": 1, "profile": "open"}),
        ("/players/list", names),
        ("/game/state", "turn"),
        ("/game/referee", shown),
        ("/game/turn", next_turn),
    ):
        say(rude, topic, said)


def opened(window: Browser, web: WebFront, path: str = "") -> None:
    window.open(web.url + path)
    until(window, "document.getElementById('headline')?.textContent")


def test_what_anybody_says_is_shown_as_text_and_breaks_nothing(
    window: Browser, rude: tuple[Connection, WebFront]
) -> None:
    connection, web = rude
    a_game(connection)
    opened(window, web)
    evil = [
        "<img src=x onerror=window.owned=1>",
        "<script>window.owned=1</script>",
        "'\"><svg onload=window.owned=1>",
        "javascript:window.owned=1",
        "</title><script src=//elsewhere.example/x.js></script>",
        "{{ 7*7 }} ${window.owned=1}",
        "\u202eright to left\u2066",
        "x" * 200,
        "\u0000\u0001\u001b[2J",
        "&lt;b&gt;",
    ]
    for each in evil:
        for topic in ("rules", "turn", "result", "winner", "server", "state", "referee", "stats/x"):
            for said in (each, [each], {"player": each, "game": 1, "name": each}, {"text": each, "from": each}):
                connection.publish(f"/game/{topic}", json.dumps(said).encode())
        connection.publish("/players/list", json.dumps([each, "team-with-a-name-0", "t1"]).encode())
        connection.publish(f"/players/{each.replace('/', '').replace(chr(0), '')}/defeated", b"true")
        for number in range(100):
            line = {"from": "t1", "text": f"{each} {number}"}
            connection.publish("/game/chat", json.dumps(line).encode())
    assert connection.flush(_SECONDS)
    say(connection, "/game/chat", {"from": "t1", "text": "<b>that was all</b>"}, retain=False)
    until(window, says("#chat-list", "<b>that was all</b>"))
    assert window.run("return window.owned === undefined")
    assert (
        window.run("return document.querySelectorAll('#chat-list b b, #chat-list img, #chat-list script').length") == 0
    )
    assert "49" not in window.run("return document.title")
    assert window.complaints() == []


@pytest.mark.parametrize("players", [2, 8, 30])
def test_on_a_projector_nothing_scrolls_and_on_a_phone_nothing_is_wider_than_it(
    window: Browser, rude: tuple[Connection, WebFront], players: int
) -> None:
    connection, web = rude
    a_game(connection, players)
    for width, height in ((1280, 720), (1920, 1080), (390, 844), (360, 800)):
        window.resize(width, height)
        opened(window, web)
        until(window, f"document.querySelectorAll('#boards svg').length >= {players}")
        wide, tall = window.run("const e = document.documentElement; return [e.scrollWidth, e.scrollHeight]")
        assert wide <= width
        assert width < 700 or tall <= height
        for name in names_of(players):
            assert window.run("return document.body.innerText.includes(arguments[0])", name), (width, name)


def test_a_phone_keeps_the_team_that_it_follows(window: Browser, rude: tuple[Connection, WebFront]) -> None:
    connection, web = rude
    a_game(connection, 4)
    window.resize(390, 844)
    opened(window, web)
    stars = "[...document.querySelectorAll('#boards [aria-pressed]')]"
    star = f"{stars}.find(each => each.closest('article').innerText.includes('t2'))"
    until(window, star)
    window.run(f"{star}.click()")
    opened(window, web)
    until(window, star)
    assert window.run(f"return {star}.getAttribute('aria-pressed')") == "true"
    window.click("#tab-chat")
    assert window.run("return document.getElementById('tab-chat').getAttribute('aria-selected')") == "true"
    window.run("localStorage.clear()")


def test_the_start_page_is_light_and_asks_nobody_else(window: Browser, rude: tuple[Connection, WebFront]) -> None:
    connection, web = rude
    a_game(connection, 8)
    opened(window, web)
    until(window, "document.querySelectorAll('#boards svg').length >= 8")
    asked = window.run(
        "return performance.getEntriesByType('resource').map(e => [e.name, e.transferSize])"
        ".concat(performance.getEntriesByType('navigation').map(e => [e.name, e.transferSize]))"
    )
    assert all(name.startswith(web.url) for name, _ in asked)
    assert sum(size for _, size in asked) < _WEIGHT_BYTES
    assert window.complaints() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_fault_for_people_who_do_not_see_or_use_a_mouse(
    window: Browser, rude: tuple[Connection, WebFront], scheme: str
) -> None:
    connection, web = rude
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    window.tell("Emulation.setEmulatedMedia", features=features)
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    a_game(connection, 4)
    window.open(f"{web.url}games")
    game = window.run("return document.querySelector('main a[href*=\"/games/\"]').href")
    for width in (1280, 390):
        window.resize(width, 800)
        for address in ("", "director", "tables", "sdk", "games", game):
            window.open(address if address.startswith("http") else web.url + address)
            until(window, "document.readyState === 'complete' && document.body.innerText.length > 20")
            if address in ("", "director"):
                until(window, "document.querySelectorAll('#boards svg').length >= 4")
            window.run(axe)
            window.run("window.found = null; axe.run().then(each => (window.found = each.violations))")
            until(window, "window.found")
            serious = window.run(
                "return found.filter(v => ['serious', 'critical'].includes(v.impact))"
                ".map(v => [v.id, v.nodes[0].html.slice(0, 200), v.nodes[0].failureSummary])"
            )
            assert serious == [], (address, width)
