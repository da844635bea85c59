"""``salvo web`` under a path of nginx, with the lines of the documentation."""

from __future__ import annotations

import contextlib
import re
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from kit.brokers import StartServer
from kit.browser import Browser, until
from kit.golden_games import GOLDEN
from kit.nginx import nginx
from kit.ports import Port
from kit.programs import needs
from kit.raw import connect_packet
from kit.web_front import WebFront, web_front
from salvo_display.web_page.qr import qr_code
from salvo_server.brokers.embedded import EmbeddedBroker

_DOCUMENT = Path(__file__).parents[3] / "docs" / "watching.md"
_SECONDS = 60.0


@pytest.fixture
def outside(broker: EmbeddedBroker, start_server: StartServer, tmp_path: Path) -> Iterator[str]:
    """The address of a contest's pages at nginx, ``HOST:PORT/salvo/``."""
    found = re.search(r"```nginx\n(.*?)```", _DOCUMENT.read_text(), re.DOTALL)
    assert found is not None
    games = tmp_path / "games"
    games.mkdir()
    shutil.copy(GOLDEN / "2-players-1.jsonl.gz", games)
    with contextlib.ExitStack() as stack:
        stack.enter_context(start_server())
        web = stack.enter_context(web_front(broker.url, "--games", str(games), "--host", "battleship.example"))
        address = stack.enter_context(Port()).address
        lines = found[1].replace("127.0.0.1:8080", f"127.0.0.1:{web.port}")
        http = f"server {{ listen {address}; {lines} }}"
        stack.enter_context(nginx(http, f"http://{address}/salvo/healthz", tmp_path))
        yield f"{address}/salvo/"


@needs("nginx")
def test_every_link_behind_a_proxy_leads_to_a_page_below_its_path(outside: str) -> None:
    base, front = f"http://{outside}", WebFront(f"http://{outside}")
    to_see, seen = {base}, set[str]()
    while to_see:
        page = to_see.pop()
        seen.add(page)
        with urllib.request.urlopen(page, timeout=_SECONDS) as answer:
            text = answer.read().decode() if answer.headers.get_content_type() == "text/html" else ""
        if not page.endswith(".html"):  # one file to share, whose links are its own
            found = {urljoin(page, link) for link in re.findall(r'(?:href|src|action)="([^"#]+)"', text)} - {"data:,"}
            to_see |= found - seen
    assert {page for page in seen if not page.startswith(base)} == set()
    [game] = (page for page in seen if re.fullmatch(r".*/games/[^/.]+", page))
    assert {f"{base}{each}" for each in ("tables", "sdk", "games", "static/hall.js")} | {f"{game}/explain"} <= seen
    name = game.removeprefix(base)
    _, _, text = front.get(f"/{name}", Host="battleship.example")
    assert f'content="http://battleship.example/salvo/{name}"' in text.decode()
    assert front.get("/qr.svg", Host="battleship.example")[2] == qr_code("http://battleship.example/salvo/").encode()
    assert front.get("/tables/")[0] == 200


@needs("nginx")
def test_streams_and_mqtt_pass_through_the_path_of_a_proxy(outside: str) -> None:
    with WebFront(f"http://{outside}").pictures() as pictures:
        assert "state" in next(pictures)
    with connect(f"ws://{outside}mqtt", subprotocols=[Subprotocol("mqtt")], open_timeout=_SECONDS) as channel:
        channel.send(connect_packet("a team"))
        assert channel.recv(_SECONDS) == b"\x20\2\0\0"


@needs("nginx")
@needs("chromium")
def test_a_browser_follows_the_tables_behind_a_path(outside: str, shared: Browser) -> None:
    shared.open(f"http://{outside}tables")
    until(shared, "document.querySelector('#cards a') !== null")
    assert shared.run("return document.querySelector('#cards a').href") == f"http://{outside}?table="
    shared.open(f"http://{outside}")
    until(shared, "document.querySelector('#headline').textContent.includes('obby')")
    assert shared.complaints() == []
    shared.open("about:blank")
