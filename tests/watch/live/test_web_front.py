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

from kit.documents import ROOT
from kit.guarded import guarded, play, wait_for_users
from kit.ports import Port
from kit.processes import started
from kit.proofs import SMALL, TINY
from kit.web_front import WebFront, web_front
from salvo.messages import Limits
from salvo.net.mqtt import Connection
from salvo.wire.roles_and_rights import Role
from salvo_display.web_server.web_pages import POLICY
from salvo_server.brokers.embedded import EmbeddedBroker
from salvo_server.storage.identity import Identity
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


def test_no_board_leaves_before_its_game_is_over_and_then_the_tape_shows_all_of_them(tmp_path: Path) -> None:
    """Everything that a browser can get is received: each stream, and each chunk at the moment that it gives."""
    limits = Limits(players=2, pace_ms=300, over_ms=600_000)
    with guarded("embedded", tmp_path, identity=Identity.fresh(), referee=True, book=TINY, limits=limits) as contest:
        hall = contest.roster.web
        wait_for_users(contest.url, hall.user, hall.secret)
        with web_front(contest.url, account=(hall.user, hall.secret)) as web:
            received: list[tuple[float, dict[str, Any]]] = []

            def load() -> None:
                pace, seen, shown = threading.Event(), set[int](), False  # nobody sets the event
                while not shown:
                    pace.wait(0.1)
                    for name in json.loads(web.get("/live/head.json?table=")[2])["chunks"]:
                        if name not in seen:
                            seen.add(name)
                            assert time.time() >= name + 1
                            chunk = json.loads(web.get(f"/live/{name}.json?table=")[2])
                            received.extend((name + (after + 1) / 1000, picture) for after, picture in chunk)
                            shown = shown or any(picture["winners"] for _, picture in chunk)

            def follow(address: str) -> None:
                with urllib.request.urlopen(f"{web.url}{address}", timeout=_SECONDS) as stream:
                    for line in stream:
                        if line.startswith(b"data: {"):
                            picture = json.loads(line[6:])
                            received.append((time.time(), picture))
                            over = [table["state"] == "over" for table in picture.get("tables", ()) if "state" in table]
                            if picture.get("winners") or any(over):
                                return

            addresses = ("events?table=", "events?table=&live", "events")
            readers = [threading.Thread(target=follow, args=(address,), daemon=True) for address in addresses]
            readers.append(threading.Thread(target=load, daemon=True))
            for reader in readers:
                reader.start()
            for name in ("red", "blue"):
                contest.roster.add(name)
            play(contest, ["red", "blue"])
            for reader in readers:
                reader.join(_SECONDS)
                assert not reader.is_alive()
    tapes = [(at, picture) for at, picture in received if picture.get("tape")]
    boarded = [picture for _, picture in received if '"board": [' in json.dumps(picture)]
    assert boarded
    assert all(picture["tape"] is not None and picture["game"] == 1 for picture in boarded)
    assert all(at >= picture["tape"]["ended"] / 1000 for at, picture in tapes)
    before = [picture for at, picture in received if at < tapes[0][1]["tape"]["ended"] / 1000]
    assert any(picture.get("state") == "turn" for picture in before)
    assert not _SHIP.search("".join(re.findall(r'"board": \[[^\]]*\]', json.dumps(before))))
    assert any(_SHIP.search(row) for player in tapes[-1][1]["players"] for row in player["board"])


def test_commentators_see_all_boards_at_once_on_a_page_of_this_machine_alone(tmp_path: Path) -> None:
    limits = Limits(players=2, pace_ms=100, over_ms=600_000)  # else a page may see no more than the end
    with guarded("embedded", tmp_path, referee=True, book=SMALL, limits=limits) as contest:
        secret = contest.roster.add("comment", Role.REFEREE)
        wait_for_users(contest.url, "comment", secret)
        refused = subprocess.run(
            [*_SALVO, "web", contest.url, "--referee", "--listen", "0.0.0.0:0"], capture_output=True, text=True
        )
        assert refused.returncode == 2
        assert "hidden boards" in refused.stderr
        with web_front(contest.url, "--referee", account=("comment", secret)) as web:
            pictures_until(web, "lobby")
            for name in ("red", "blue"):
                contest.roster.add(name)
            game = threading.Thread(target=play, args=(contest, ["red", "blue"]))
            game.start()
            seen = pictures_until(web, "over")
            game.join(_SECONDS)
        assert any(player["board"] for picture in seen if picture["state"] == "turn" for player in picture["players"])


@pytest.fixture(scope="module")
def web() -> Iterator[WebFront]:
    """Before no broker at all, which changes nothing for these."""
    with Port() as port, web_front(f"mqtt://127.0.0.1:{port.number}") as running:
        yield running


@pytest.mark.parametrize("path", ["/", "/sdk", "/qr.svg", "/nothing", "/events?table=%2B"])
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


def test_a_number_that_is_too_long_leads_to_no_page(web: WebFront) -> None:
    assert web.get(f"/live/{'9' * 4400}.json")[0] == 404


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
    [licence] = target.glob("*.dist-info/licenses/LICENSE")
    assert licence.read_text() == (ROOT / "LICENSE").read_text()


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
