"""``salvo web`` as a process, before real brokers: what browsers get, and what they never do."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from kit.guarded import guarded, play, wait_for_users
from kit.ports import Port
from kit.processes import started
from kit.proofs import SMALL
from kit.web_front import WebFront, web_front
from salvo.messages import Limits
from salvo.net.mqtt import Connection
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.web_pages import POLICY
from salvo_watch.web.app import MAX_STREAMS

pytestmark = pytest.mark.long
_SALVO = (sys.executable, "-m", "salvo")
_SECONDS = 240.0
_SHIP = re.compile(r"[a-z]")


def pictures_until(web: WebFront, wanted: str, table: str = "") -> list[dict[str, Any]]:
    """Return what a browser is shown until the table is in a state."""
    seen: list[dict[str, Any]] = []
    with web.pictures(table) as pictures:
        for picture in pictures:
            seen.append(picture)
            if picture["state"] == wanted:
                return seen
    raise AssertionError(f"the stream ended in state {seen[-1]['state']!r}")


def test_no_hidden_cell_leaves_before_its_time(tmp_path: Path) -> None:
    """Everything that a browser can get is listened to; what shows a ship is as old as the delay says.

    So is it in a chunk, at the moment that the chunk gives it, and no chunk is there before its second is over.
    """
    delay = 2
    limits = Limits(players=2, pace_ms=150)
    with guarded("embedded", tmp_path, referee_delay_ms=1000 * delay, limits=limits) as contest:
        hall = contest.roster.web
        wait_for_users(contest.url, hall.user, hall.secret)
        with web_front(contest.url, "--delay", str(delay), account=(hall.user, hall.secret)) as web:
            received: list[tuple[float, str]] = []
            chunks: dict[int, tuple[float, list[tuple[int, dict[str, Any]]]]] = {}

            def load() -> None:
                pace = threading.Event()  # nobody sets it
                while not any(picture["state"] == "over" for _, chunk in chunks.values() for _, picture in chunk):
                    pace.wait(0.1)
                    for name in json.loads(web.get("/live/head.json?table=")[2])["chunks"]:
                        if name not in chunks:
                            chunk = json.loads(web.get(f"/live/{name}.json?table=")[2])
                            chunks[name] = time.time(), chunk

            def listen(address: str) -> None:
                with urllib.request.urlopen(f"{web.url}{address}", timeout=_SECONDS) as stream:
                    for line in stream:
                        received.append((time.time(), line.decode()))
                        if '"state":"over"' in received[-1][1]:
                            return

            listeners = [
                threading.Thread(target=listen, args=(each,), daemon=True)
                for each in ("events?table=", "events", "events?table=")
            ]
            listeners.append(threading.Thread(target=load, daemon=True))
            for each in listeners:
                each.start()
            for name in ("red", "blue"):
                contest.roster.add(name)
            play(contest, ["red", "blue"])
            for each in listeners:
                each.join(_SECONDS)
                assert not each.is_alive()
        late = [(at, json.loads(line[6:])) for at, line in received if line.startswith("data: ") and "board" in line]
        assert all(at >= name + 1 for name, (at, _) in chunks.items())
        stored = [(name + (after + 1) / 1000, each) for name, (_, chunk) in chunks.items() for after, each in chunk]
        for pictures in (late, stored):
            shown = [(at, each) for at, each in pictures if any(player["board"] for player in each["players"])]
            assert any(_ships(each) for _, each in shown)
            ended = shown[-1][1]["at"] / 1000
            early = [(at, each["at"] / 1000) for at, each in shown if at < ended]
            assert early
            assert all(when + delay <= at for at, when in early)


def _ships(picture: dict[str, Any]) -> bool:
    return any(_SHIP.search(row) for player in picture["players"] for row in player["board"] or ())


def test_a_web_front_without_a_delay_shows_no_boards_even_with_an_account_that_may_see_them(tmp_path: Path) -> None:
    with guarded("embedded", tmp_path, referee_delay_ms=0, book=SMALL) as contest:
        hall = contest.roster.web
        wait_for_users(contest.url, hall.user, hall.secret)
        with web_front(contest.url, account=(hall.user, hall.secret)) as web:
            pictures_until(web, "lobby")
            for name in ("red", "blue"):
                contest.roster.add(name)
            game = threading.Thread(target=play, args=(contest, ["red", "blue"]))
            game.start()
            seen = pictures_until(web, "over")
            game.join(_SECONDS)
        assert not any(player["board"] for each in seen for player in each["players"])


@pytest.fixture(scope="module")
def web() -> Iterator[WebFront]:
    """Before no broker at all, which changes nothing for these."""
    with Port() as port, web_front(f"mqtt://127.0.0.1:{port.number}") as running:
        yield running


@pytest.mark.parametrize("path", ["/", "/director", "/sdk", "/qr.svg", "/nothing", "/events?table=%2B"])
def test_every_answer_has_the_policy(web: WebFront, path: str) -> None:
    _, headers, _ = web.get(path)
    assert headers["Content-Security-Policy"] == POLICY
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "unsafe" not in POLICY


@pytest.mark.parametrize(
    "path",
    [
        "/events?table=%2B",
        "/events?table=" + "x" * 33,
        "/events?table=%3Cscript%3E",
        "/events?table=t1@%3Cscript%3E",
    ],
)
def test_an_invalid_table_name_in_a_web_address_is_refused(web: WebFront, path: str) -> None:
    status, headers, body = web.get(path)
    assert (status, headers.get_content_type()) == (400, "text/plain")
    assert body.startswith(b"bad_name: ")


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd", "/sdk/x.whl"])
def test_no_file_but_those_of_the_pages_is_served(web: WebFront, path: str) -> None:
    assert web.get(path)[0] == 404


def test_the_wheel_is_this_version_whole(web: WebFront, tmp_path: Path) -> None:
    page = web.get("/sdk")[2].decode()
    name = re.search(r"battleship_salvo-[0-9.]+-py3-none-any\.whl", page)
    assert name is not None
    wheel = web.get(f"/sdk/{name[0]}")[2]
    target = tmp_path / "there"
    with zipfile.ZipFile(BytesIO(wheel)) as archive:
        assert archive.testzip() is None
        archive.extractall(target)  # all that an installer does with a wheel of Python alone
    code = "import salvo, salvo_server, sys; assert salvo.__file__.startswith(sys.argv[1]); print('there')"
    clean = {**os.environ, "PYTHONPATH": str(target)}
    answer = subprocess.run(
        [sys.executable, "-c", code, str(target)], env=clean, capture_output=True, text=True, timeout=_SECONDS
    )
    assert answer.stdout == "there\n", answer.stderr


def test_a_server_starts_its_web_front_and_ends_it(tmp_path: Path) -> None:
    words = [
        "serve",
        "--profile",
        "open",
        "--json",
        "--listen",
        "127.0.0.1:0",
        "--web",
        "127.0.0.1:0",
        "--journal",
        "none",
    ]
    command = [*_SALVO, *words, "--identity", str(tmp_path / "identity")]
    with started(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        records = (json.loads(line) for line in server.stdout)
        web = WebFront(next(each for each in records if each["event"] == "web")["urls"][0], server.pid)
        pictures_until(web, "lobby")
        server.send_signal(signal.SIGINT)
        assert server.wait(_SECONDS) == 0
    with pytest.raises(urllib.error.URLError):
        web.get("/")


def test_one_address_cannot_take_all_the_streams(web: WebFront) -> None:
    with contextlib.ExitStack() as held:
        for _ in range(MAX_STREAMS):
            next(held.enter_context(web.pictures()))
        status, _, body = web.get("/events?table=")
        assert (status, str(MAX_STREAMS).encode() in body) == (429, True)
        assert web.get("/")[0] == 200


def test_every_table_of_a_broker_is_followed() -> None:
    """A broker bounds the filters of a client, and not the tables."""
    tables = [f"t{number}" for number in range(40)]
    with EmbeddedBroker() as broker, contextlib.closing(Connection(broker.url, "rude", clean_session=True)) as rude:
        rude.connect(_SECONDS)
        with web_front(broker.url) as web:
            for table in tables:
                rude.publish(f"/{table}/players/list", json.dumps([f"in-{table}"]).encode(), retain=True)
                rude.publish(f"/{table}/game/state", b"lobby", retain=True)
            assert rude.flush(_SECONDS)
            for table in tables:
                end, names = time.monotonic() + _SECONDS, [""]
                while names != [f"in-{table}"]:
                    assert time.monotonic() < end, (table, names)
                    with web.pictures(table) as pictures:
                        names = [player["name"] for player in next(pictures)["players"]]


def test_the_tables_of_several_brokers_have_its_address_where_two_have_one_name() -> None:
    with contextlib.ExitStack() as stack:
        brokers = [stack.enter_context(EmbeddedBroker()) for _ in range(2)]
        for number, broker in enumerate(brokers):
            rude = stack.enter_context(contextlib.closing(Connection(broker.url, "rude", clean_session=True)))
            rude.connect(_SECONDS)
            for table in ("", "/t1", f"/only{number}"):
                rude.publish(f"{table}/players/list", json.dumps([f"in{number}"]).encode(), retain=True)
                rude.publish(f"{table}/game/state", b"lobby", retain=True)
            assert rude.flush(_SECONDS)
        cells = [broker.url.removeprefix("mqtt://") for broker in brokers]
        web = stack.enter_context(web_front(brokers[0].url, brokers[1].url))
        wanted = {f"{table}@{cell}" for table in ("", "t1") for cell in cells} | {"only0", "only1"}
        end, names = time.monotonic() + _SECONDS, set[str]()
        while names != wanted:
            assert time.monotonic() < end, names
            with web.pictures(f"t1@{cells[1]}") as pictures:
                names = {name for name, _ in next(pictures)["tables"]}
        for shown, called, player in (
            (f"t1@{cells[1]}", f"t1@{cells[1]}", "in1"),
            ("t1", f"t1@{cells[0]}", "in0"),
            ("", f"@{cells[0]}", "in0"),
            ("only1", "only1", "in1"),
            (f"only1@{cells[1]}", "only1", "in1"),
        ):
            with web.pictures(shown) as pictures:
                picture = next(pictures)
                assert (picture["table"], picture["trouble"]) == (called, "")
                assert [each["name"] for each in picture["players"]] == [player]
        brokers[1].stop()
        with web.pictures("t1") as pictures, web.pictures("only1") as others:
            assert any(picture["trouble"] == "broker" for picture in others)
            assert next(pictures)["trouble"] == ""
