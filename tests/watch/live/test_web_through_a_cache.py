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

from kit.browser import Browser, until
from kit.ports import Port
from kit.processes import started, without_settings
from kit.programs import needs, path_of
from kit.waiting import until as until_true

_SALVO = (sys.executable, "-m", "salvo")
_CONFIGURATION = Path(__file__).parents[3] / "deploy" / "cache.conf"
_NGINX = """daemon off; master_process off; user root; pid {folder}/pid; error_log {folder}/errors;
events {{}}
http {{
log_format asked '$msec $upstream_cache_status $request_uri';
access_log {folder}/asked asked; log_subrequest on;
client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
{configuration}
}}
"""
#: Of ``$upstream_cache_status``: nginx has asked the server.
_ASKED = frozenset({"MISS", "EXPIRED", "BYPASS", "-"})


class Crowd(NamedTuple):
    """A contest whose pages are behind a cache.

    Attributes:
        mqtt: the broker's address.
        web: the pages themselves.
        cache: the pages behind nginx.
        asked: nginx's record: when, whether it has asked the server, for what.
    """

    mqtt: str
    web: str
    cache: str
    asked: Path

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
        written = _CONFIGURATION.read_text()
        for place, here in (("listen 80", f"listen {cache}"), ("web:8080", web), ("/var/cache/nginx", str(tmp_path))):
            assert place in written
            written = written.replace(place, here)
        configuration = tmp_path / "nginx.conf"
        configuration.write_text(_NGINX.format(folder=tmp_path, configuration=written))
        stack.enter_context(started([path_of("nginx"), "-c", str(configuration)], env=clean))

        def answers() -> bool:
            with contextlib.suppress(OSError):
                return bool(_get(f"http://{cache}/healthz") == b"ok\n")
            return False

        until_true(answers)
        yield Crowd(f"mqtt://{mqtt}", f"http://{web}", f"http://{cache}", tmp_path / "asked")


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return bytes(answer.read())


class _Page(threading.Thread):
    """Polls the head and loads what is new, as a page does, until the game is over.

    Attributes:
        chunks: by name, the bytes of a chunk and when it was loaded.
    """

    def __init__(self, cache: str) -> None:
        super().__init__()
        self._cache = cache
        self.chunks: dict[int, tuple[bytes, float]] = {}
        self.over = False
        self._ended = threading.Event()  # nobody sets it: a page polls at a pace

    def run(self) -> None:
        while not self.over:
            for name in json.loads(_get(f"{self._cache}/live/head.json?table="))["chunks"]:
                if name not in self.chunks:
                    with contextlib.suppress(urllib.error.HTTPError):  # a head that is old names one that is gone
                        self.chunks[name] = _get(f"{self._cache}/live/{name}.json?table="), time.monotonic()
            self.over = any(b'"state":"over"' in chunk for chunk, _ in self.chunks.values())
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
                    if shown[-1]["state"] == "over":
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
    with urllib.request.urlopen(f"{crowd.web}/live/{max(loaded)}.json?table=", timeout=60) as answer:
        assert (answer.read(), answer.headers["Cache-Control"]) == (
            loaded[max(loaded)],
            "public, max-age=31536000, immutable",
        )
    record = crowd.asked.read_text()
    assert "/events" not in record
    asked = [line.split() for line in record.splitlines() if "/live/" in line]
    by_file = Counter(file for _, status, file in asked if status in _ASKED)
    heads = by_file.pop("/live/head.json?table=")
    assert heads <= float(asked[-1][0]) - float(asked[0][0]) + 2
    assert len(asked) > 10 * heads
    missing = {file for file in by_file if int(file.split("/")[2].split(".")[0]) not in loaded}
    assert all(count == 1 for file, count in by_file.items() if file not in missing)
