"""The JavaScript SDK: its own tests, and its bots in contests, installed from the package that authors get."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import salvo
from kit import command_line, javascript
from kit.brokers import Broker, StartServer
from kit.browser import browser, text, until
from kit.javascript import PACKAGE, ROOT
from kit.players import SECONDS, join, over
from kit.processes import started
from kit.programs import needs, path_of
from kit.same_games import SEED, AnnouncedAndSent, in_arena, one_fleet
from kit.secured import Client
from kit.web_front import web_front
from salvo import messages as m
from salvo.net.mqtt import BrokerUrl
from salvo_lab.bots.random_bot import RandomBot

pytestmark = [needs("node"), needs("npm"), pytest.mark.long]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is installed."""
    return javascript.installed(tmp_path_factory)[1]


@pytest.fixture
def mybot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bot of five lines, each test's own."""
    return javascript.bot_of_five_lines(tmp_path_factory)


CUP = """\
name = "two"
games = 2
seed = 1
[bots]
hunting = "hunting.js"
mine = "mybot.js"
"""


@salvo.bot
def fire(view: salvo.View) -> Any:
    """The same strategy in Python."""
    return view.untouched.sample(view.shots)


def test_the_javascript_sdks_own_tests_pass(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Those of ``npm test`` that the making of the package has not done: it has checked the types."""
    checkout, _ = javascript.installed(tmp_path_factory)
    copy = javascript.copy_in(checkout)
    assert json.loads((copy / "package.json").read_text())["scripts"]["test"] == "npm run types && node --test test/"
    assert "# fail 0" in javascript.run(copy, "node", "--test", "test/")


def test_the_same_strategy_fires_the_same_shots_in_both_languages(
    mybot: Path, broker: Broker, start_server: StartServer
) -> None:
    received = AnnouncedAndSent()
    contest = {"SALVO_URL": broker.url, "SALVO_TEAM": "ann", "SALVO_SECRET": "ashes", "SALVO_GAMES": "1"}
    environment = os.environ | contest | {"SALVO_SEED": SEED}
    command = [path_of("node"), str(mybot)]
    pipe = subprocess.PIPE
    with (
        start_server(received, players=2, seed=SEED),
        started(command, env=environment, stdout=pipe, stderr=pipe) as program,
    ):
        received.until(one_fleet)  # so that the play order is the arena's
        join(broker.url, "bob", RandomBot(), seed=SEED)
        received.until(over)
        out, err = program.communicate(timeout=SECONDS)
    assert program.returncode == 0, err
    assert out.startswith("game 1: ")
    assert received.game() == in_arena(fire())


def test_a_new_bot_hunts_and_its_file_is_played_by_each_command(mybot: Path) -> None:
    folder = mybot.parent
    written = command_line.run("new", "hunting.js", cwd=folder)
    assert written.stdout.startswith("hunting.js is a bot of the SDK, in JavaScript\n")
    [play] = re.findall(r"a game to look at: salvo (.*)", written.stdout)
    assert re.search("(?m)^(winner|tie): ", command_line.run(*play.split(), "--seed", "7", cwd=folder).stdout)
    (folder / "cup.toml").write_text(CUP)
    ran = command_line.run("tournament", "run", "cup.toml", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    compared = command_line.run("compare", "hunting.js", "random", "--seed", "1", "--games", "40", cwd=folder)
    assert "better than" in compared.stdout, compared


def test_a_single_game_shows_what_a_bot_prints_and_stops_where_it_fails(mybot: Path) -> None:
    """What it printed was nowhere to be seen, and the game went on without it to the other's victory."""
    failing = 'console.log("turn", view.turn);\n  if (view.turn > 2) view.nothing();\n  return'
    mybot.write_text(mybot.read_text().replace("return", failing))
    done = command_line.run("play", "mybot.js", "random", "--seed", "7", cwd=mybot.parent)
    assert done.returncode == 1
    assert done.stdout.startswith("turn 2\nturn 4\nerror: bot_raised: turn 4, chooseSalvo: TypeError: ")
    assert "winner" not in done.stdout
    assert "mybot.js:4:" in done.stderr
    several = command_line.run("play", "mybot.js", "random", "--seed", "7", "--games", "2", cwd=mybot.parent)
    assert several.stdout.startswith("wins:   mybot 0 of 2 ")


@contextlib.contextmanager
def pages_of(folder: Path) -> Iterator[str]:
    """Serve a folder; its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *given: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://localhost:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(SECONDS)


@needs("chromium")
def test_a_page_plays_through_the_web_front_at_the_table_of_its_seat(
    folder: Path, broker: Broker, start_server: StartServer
) -> None:
    shutil.copy(PACKAGE / "examples" / "page.html", folder)
    received = AnnouncedAndSent()
    with (
        start_server(received, players=2, tables=("blue",)),
        Client(BrokerUrl.parse(broker.url).port, None, "host") as host,
        web_front(broker.url) as web,
        pages_of(folder) as pages,
        browser() as window,
    ):
        window.open(f"{pages}/page.html#url=ws://127.0.0.1:{web.port}/mqtt&team=ann&secret=ashes")
        until(window, "/ann: listed for game 1/.test(document.body.innerText)")
        host.publish(["/players/ann/seat"], '{"table": "blue"}', retain=True)
        join(broker.url, "bob", RandomBot(), table="blue")
        until(window, "/^(ann|bob) wins$/m.test(document.body.innerText)")
        received.until(over)
        shown = text(window, "pre")
        assert "ann: has a seat at table blue" in shown
        [winner] = re.findall("(?m)^(ann|bob) wins$", shown)
    assert [won.winner for won in received.of(m.GameWon)] == [winner]


def test_the_package_has_the_version_of_the_distribution_and_no_registry() -> None:
    described = json.loads((PACKAGE / "package.json").read_text())
    lock = json.loads((PACKAGE / "package-lock.json").read_text())
    assert f'version = "{described["version"]}"' in (ROOT / "pyproject.toml").read_text()
    assert not any("resolved" in package for package in lock["packages"].values())
    assert (PACKAGE / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


@pytest.mark.slow
def test_the_javascript_bot_passes_the_check_of_all_claims(mybot: Path) -> None:
    command = [sys.executable, "-m", "salvo", "check", "--claims", "all", "--", "node", str(mybot)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
