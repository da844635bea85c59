"""The JavaScript SDK: its own tests, and its bots in contests, installed from the package that authors get."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import salvo
from kit import command_line
from kit.brokers import Broker, StartServer
from kit.players import SECONDS, join, over
from kit.processes import started
from kit.programs import needs, on_both_brokers, path_of
from kit.same_games import SEED, HeardAll, in_arena, one_fleet
from salvo_lab.bots.random_bot import RandomBot

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "client_sdk" / "javascript"
FIVE_LINES = """\
import * as salvo from "battleship-salvo";
function fire(view) {
  return view.untouched.sample(view.shots);
}
salvo.run(fire);
"""
pytestmark = [needs("node"), needs("npm"), pytest.mark.long]


def run(folder: Path, *command: str) -> str:
    npm = path_of("npm")
    done = subprocess.run([npm, *command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package beside the specification, so that what npm installs is in no checkout."""
    root = tmp_path_factory.mktemp("javascript")
    (root / "proto").symlink_to(ROOT / "proto")
    copy = root / "client_sdk" / "javascript"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("node_modules", "types"))
    return copy


@pytest.fixture(scope="module")
def installed(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with the package from ``npm pack``, and a bot of five lines."""
    if not (checkout / "node_modules").exists():
        run(checkout, "ci", "--prefer-offline")
    folder = tmp_path_factory.mktemp("bot")
    run(checkout, "pack", "--pack-destination", str(folder))
    (folder / "package.json").write_text('{"type": "module"}')
    [package] = folder.glob("*.tgz")
    run(folder, "install", "--prefer-offline", f"./{package.name}")
    (folder / "mybot.js").write_text(FIVE_LINES)
    return folder


CUP = """\
name = "two"
games = 4
seed = 1
[bots]
hunting = "hunting.js"
mine = "mybot.js"
"""


@salvo.bot
def fire(view: salvo.View) -> Any:
    """The same strategy in Python."""
    return view.untouched.sample(view.shots)


def test_its_own_tests_pass(checkout: Path) -> None:
    run(checkout, "ci", "--prefer-offline")
    assert "# fail 0" in run(checkout, "test")


@on_both_brokers
def test_the_same_strategy_fires_the_same_shots_in_both_languages(
    installed: Path, broker: Broker, start_server: StartServer
) -> None:
    heard = HeardAll()
    contest = {"SALVO_URL": broker.url, "SALVO_TEAM": "ann", "SALVO_SECRET": "ashes", "SALVO_GAMES": "1"}
    environment = os.environ | contest | {"SALVO_SEED": SEED}
    command = [path_of("node"), str(installed / "mybot.js")]
    pipe = subprocess.PIPE
    with (
        start_server(heard, players=2, seed=SEED),
        started(command, env=environment, stdout=pipe, stderr=pipe) as program,
    ):
        heard.until(one_fleet)  # so that the play order is the arena's
        join(broker.url, "bob", RandomBot(), seed=SEED)
        heard.until(over)
        out, err = program.communicate(timeout=SECONDS)
    assert program.returncode == 0, err
    assert out.startswith("game 1: ")
    assert heard.game() == in_arena(fire())


def test_a_new_bot_hunts_and_its_file_is_played_by_each_command(installed: Path) -> None:
    written = command_line.run("new", "hunting.js", cwd=installed)
    assert written.stdout.startswith("hunting.js is a bot of the SDK, in JavaScript\n")
    [play] = re.findall(r"a game to look at: salvo (.*)", written.stdout)
    assert re.search("(?m)^(winner|tie): ", command_line.run(*play.split(), "--seed", "7", cwd=installed).stdout)
    (installed / "cup.toml").write_text(CUP)
    ran = command_line.run("tournament", "run", "cup.toml", cwd=installed)
    assert ran.returncode == 0, ran.stderr
    compared = command_line.run("compare", "hunting.js", "random", "--seed", "1", "--games", "40", cwd=installed)
    assert "better than" in compared.stdout, compared


def test_the_package_has_the_version_of_the_distribution_and_no_registry() -> None:
    described = json.loads((PACKAGE / "package.json").read_text())
    lock = json.loads((PACKAGE / "package-lock.json").read_text())
    assert f'version = "{described["version"]}"' in (ROOT / "pyproject.toml").read_text()
    assert not any("resolved" in package for package in lock["packages"].values())
    assert (PACKAGE / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


@pytest.mark.slow
def test_the_judge_passes_everything_that_it_claims(installed: Path) -> None:
    books = "smackdown,xbs,streak,alternate,spaced,standard,apart,scattered"
    claims = f"context,log,keys,recap,repairs,resends,returns,sealed,tables,versions,{books}"
    command = [sys.executable, "-m", "salvo", "check", "--claims", claims, "--", "node", str(installed / "mybot.js")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
