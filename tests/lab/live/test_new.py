"""``salvo new``: from nothing to a bot that plays, in every language that has a kit."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kit.command_line import run
from kit.documents import ROOT
from kit.programs import PACKAGES, needs
from salvo.bots.sources import load
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.simulation import simulate
from salvo_lab.templates import FOLDER, KITS, Template
from salvo_lab.testing import check_bot

#: The bot on the SDK of JavaScript plays where that is installed, in ``tests/sdk/live/test_javascript.py``.
PLAYED = [kit for kit in KITS if kit.file != "bot.js"]


@pytest.mark.parametrize(
    "kit", [pytest.param(kit, id=kit.file, marks=[needs(kit.runs)] if kit.runs in PACKAGES else []) for kit in PLAYED]
)
def test_a_new_bot_plays_by_the_command_printed_with_it(kit: Template, tmp_path: Path) -> None:
    name = f"mine{kit.suffix}"
    written = run("new", name, *(["--program"] if kit.file in ("program.py", "program.js") else []), cwd=tmp_path)
    assert (written.returncode, written.stderr) == (0, "")
    text = (tmp_path / name).read_text()
    assert kit.file not in text
    first, *steps = written.stdout.splitlines()
    assert first == f"{name} is {kit.about}"
    command = next(step[19:] for step in steps if step.startswith("a game to look at:"))
    assert command in text, "it says how to play it"
    _, *words = shlex.split(command)
    played = run(*words, "--seed", "7", cwd=tmp_path)
    assert (played.returncode, played.stderr) == (0, "")
    assert "mine" in played.stdout


def test_a_new_bot_in_javascript_installs_its_sdk_as_the_guide_does(tmp_path: Path) -> None:
    written = run("new", "mine.js", cwd=tmp_path).stdout
    [install] = re.findall(r"^npm install .*$", (ROOT / "client_sdk/javascript/README.md").read_text(), re.MULTILINE)
    assert f"its SDK, once:     {install}, a file of the release" in written


@needs("node")
@pytest.mark.parametrize("kind", ["commonjs", "module"])
def test_a_new_program_in_javascript_plays_in_a_folder_of_either_type(kind: str, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"type": kind}))
    run("new", "mine.js", "--program", cwd=tmp_path)
    played = run("play", "exec:node mine.js", "random", "--seed", "7", cwd=tmp_path)
    assert (played.returncode, played.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["my bot.py"], "bad_file: 'my bot.py': a bot's file has letters, digits, - and _, and ends in .py, .js, .pl"),
        ([".py"], "bad_file: '.py': a bot's file has letters"),
        (
            ["random.py"],
            "bad_file: random.py: another module is called random, which Python or salvo imports; take mybot.py",
        ),
        (["salvo.py"], "bad_file: salvo.py: another module is called salvo"),
        (["hunter.py"], "bad_file: hunter.py: another module is called hunter"),
        (["bot.rs"], "bad_file: bot.rs: starter bots end in .py, .js, .pl"),
        (["nowhere/bot.py"], "bad_file: nowhere/bot.py: No such file or directory; name another file"),
        (["mine.py"], "bad_file: mine.py: File exists; name another file"),
    ],
)
def test_a_new_bot_that_cannot_be_written_is_refused_and_overwrites_nothing(
    arguments: list[str], says: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text("# hours of work")
    done = run("new", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("mine.py", "# hours of work")]


def test_the_bot_in_python_is_sound_and_hunts() -> None:
    kind = load(str(FOLDER / "bot.py"))
    assert check_bot(kind, games=3).problems == []
    assert simulate([kind, RandomBot], games=40, seed=1, seats="paired", jobs=1).wins["HuntAndTarget"] >= 32


def test_a_new_project_passes_its_own_tests(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    for named in ("made", "mine/"):
        written = run("new", named, cwd=tmp_path)
        assert (written.returncode, written.stderr) == (0, "")
        assert (tmp_path / named / "bot.py").exists()
    folder = tmp_path / "mine"
    assert sorted(each.name for each in folder.iterdir()) == ["AGENTS.md", "README.md", "bot.py", "test_bot.py"]
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert tested.returncode == 0, tested.stdout
    assert (
        "wins after"
        in subprocess.run([sys.executable, "bot.py"], cwd=folder, capture_output=True, text=True, check=True).stdout
    )


def test_a_project_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("mine")
    done = run("new", "./", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "bad_file: . has AGENTS.md already; name another folder" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["AGENTS.md"]
