"""``salvo web`` behind nginx with ``deploy/cache.conf``: what a crowd gets, and how little of it reaches the server."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from kit.browser import Browser, until
from kit.nginx import Nginx, nginx_before
from kit.ports import Port
from kit.processes import started, without_settings
from kit.programs import needs
from kit.web_front import WebFront, in_this_process

_SALVO = (sys.executable, "-m", "salvo")


class Crowd(NamedTuple):
    """A contest whose pages are behind a cache.

    Attributes:
        mqtt: the broker's address.
        web: the pages themselves.
        cache: the pages behind nginx.
    """

    mqtt: str
    web: str
    cache: str
    nginx: Nginx

    def play(self, stack: contextlib.ExitStack) -> None:
        for team in ("red", "blue"):
            command = [*_SALVO, "join", self.mqtt, "hunter", "--team", team, "--games", "1"]
            stack.enter_context(started(command, stdout=subprocess.DEVNULL, env=without_settings()))


@pytest.fixture
def crowd(tmp_path: Path) -> Iterator[Crowd]:
    with contextlib.ExitStack() as stack:
        mqtt, web, cache = (stack.enter_context(Port()).address for _ in range(3))
        clean = without_settings() | {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        rules = ["--players", "2", "--pace", "0.2", "--over-seconds", "600"]
        serve = [*_SALVO, "serve", "--profile", "open", "--json", "--listen", mqtt, *rules]
        stack.enter_context(started(serve, stdout=subprocess.DEVNULL, env=clean))
        pages = [*_SALVO, "web", f"mqtt://{mqtt}", "--listen", web, "--json", "--public", f"http://{cache}"]
        process = stack.enter_context(started(pages, stdout=subprocess.PIPE, env=clean))
        assert process.stdout is not None
        process.stdout.readline()
        nginx = stack.enter_context(nginx_before(web, cache, tmp_path))
        yield Crowd(f"mqtt://{mqtt}", f"http://{web}", f"http://{cache}", nginx)


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return bytes(answer.read())


class _Page(threading.Thread):
    """Polls the head and loads what is new, as a page does, until the game is over.

    Attributes:
        chunks: by name, the bytes of a chunk and when it was loaded.
        heads: how often it has asked for the head.
    """

    def __init__(self, cache: str) -> None:
        super().__init__()
        self._cache = cache
        self.chunks: dict[int, tuple[bytes, float]] = {}
        self.heads = 0
        self.over = False
        self._ended = threading.Event()  # nobody sets it: a page polls at a pace

    def run(self) -> None:
        while not self.over:
            self.heads += 1
            for name in json.loads(_get(f"{self._cache}/live/head.json?table="))["chunks"]:
                if name not in self.chunks:
                    with contextlib.suppress(urllib.error.HTTPError):  # a head that is old names one that is gone
                        self.chunks[name] = _get(f"{self._cache}/live/{name}.json?table="), time.monotonic()
            self.over = any(b'"winners":["' in chunk for chunk, _ in self.chunks.values())  # with its tape
            self._ended.wait(0.1)  # ten times as often as a page


@needs("nginx")
@needs("chromium")
@pytest.mark.slow
def test_a_crowd_behind_a_cache_sees_what_the_streams_have_shown_and_one_of_it_reaches_the_server(
    crowd: Crowd, shared: Browser
) -> None:
    shared.open(f"{crowd.cache}/")
    shown: list[dict[str, Any]] = []
    times: list[float] = []

    def follow() -> None:
        with urllib.request.urlopen(f"{crowd.web}/events?table=", timeout=120) as stream:
            for line in stream:
                if line.startswith(b"data: "):
                    shown.append(json.loads(line[6:]))
                    times.append(time.monotonic())
                    if shown[-1]["winners"]:
                        return

    streamed = threading.Thread(target=follow)
    streamed.start()
    pages = [_Page(crowd.cache) for _ in range(6)]
    for page in pages:
        page.start()
    with contextlib.ExitStack() as stack:
        crowd.play(stack)
        for thread in (streamed, *pages):
            thread.join(240)
        until(shared, "document.querySelectorAll('#feed-list li').length >= 2")
        until(shared, "document.querySelector('#headline').textContent.includes(' wins')")
    newest = max(name for page in pages for name in page.chunks)
    # Now, while the browser's page still follows: without one, the front soon drops the chunks.
    with urllib.request.urlopen(f"{crowd.web}/live/{newest}.json?table=", timeout=60) as answer:
        stored = answer.read(), answer.headers["Cache-Control"]
    assert shared.complaints() == []
    shared.open("about:blank")
    assert all(page.over for page in pages)
    loaded: dict[int, bytes] = {}
    compared: set[int] = set()
    for page in pages:
        for name, (chunk, at) in page.chunks.items():
            assert loaded.setdefault(name, chunk) == chunk
            for after, picture in json.loads(chunk):
                assert 0 <= after < 1000
                if picture in shown:  # a stream that is late misses some, and this one ends with the first of the end
                    assert times[shown.index(picture)] < at
                    compared.add(name)
    assert len(compared) > len(loaded) / 2
    assert stored == (loaded[newest], "public, max-age=31536000, immutable")
    for _ in range(2):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            _get(f"{crowd.cache}/live/1.json?table=")  # it is gone for good
    asked = crowd.nginx.asked()
    assert not [path for _, path in asked if path.startswith("/events")]
    asked = [(at, path) for at, path in asked if path.startswith("/live/")]
    by_file = Counter(path for _, path in asked)
    heads = by_file.pop("/live/head.json?table=")
    assert heads <= asked[-1][0] - asked[0][0] + 2
    assert sum(page.heads for page in pages) > 10 * heads
    assert "/live/1.json?table=" in by_file
    assert set(by_file.values()) == {1}


@needs("nginx")
def test_a_cache_asks_only_for_what_the_front_reads_and_seldom_for_games_that_are_over(tmp_path: Path) -> None:
    asked: list[str] = []

    async def echo(request: Request) -> Response:
        asked.append(f"{request.url.path}?{request.query_params}")
        return PlainTextResponse(str(request.query_params), headers={"Cache-Control": "public, max-age=60"})

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    app = Starlette(routes=[Route("/healthz", health), Route("/{path:path}", echo)])
    with contextlib.ExitStack() as stack:
        web = f"127.0.0.1:{stack.enter_context(in_this_process(app))}"
        cache = stack.enter_context(Port()).address
        stack.enter_context(nginx_before(web, cache, tmp_path))
        front = WebFront(f"http://{cache}/")
        for query in ("?table=t1", "?x=1&table=t1", "?table=t1&x=2&", "?table=t1&table=t2", "?stable=7&table=t1"):
            assert front.get(f"/{query}")[2] == b"table=t1"
        assert [front.get(f"/live/head.json{query}")[2] for query in ("?x", "?table=", "")] == [b"", b"table=", b""]
        whole = "table=t&team=r&turn=3&page=2&teams=a%2Cb&text=x+y&since=2026-01-01&until=2026-01-02"
        assert front.get(f"/games?x=1&{whole}")[2] == whole.encode()
        assert asked == ["/?table=t1", "/live/head.json?", "/live/head.json?table=", f"/games?{whole}"]
        answers = iter(lambda: front.get(f"/games/one.png?turn={len(asked)}")[0], 429)
        assert len(list(answers)) > 50
        assert {front.get(f"/live/{number}.json")[0] for number in range(200)} == {200}
