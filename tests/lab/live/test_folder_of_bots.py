"""A tournament of the bots in a folder, as cron runs it all night."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kit.programs import needs
from salvo_lab.tournament import folder
from salvo_lab.tournament.file import TournamentError
from salvo_lab.tournament.folder import TeamFolder

pytestmark = needs("perl")

_PYTHON = """
import salvo

@salvo.bot
def fire(view):
    return view.untouched.sample(view.shots)
"""
_JAVASCRIPT = """
import readline from "node:readline";
for await (const line of readline.createInterface({ input: process.stdin })) {
  const { id, type } = JSON.parse(line);
  if (type === "fleet" || type === "turn") console.log(JSON.stringify({ id, skip: true }));
}
"""
_PERL = """#!/usr/bin/perl
$| = 1;
while (<STDIN>) { print "{\\"id\\":$1,\\"skip\\":true}\\n" if /"type":\\s*"(?:fleet|turn)"/ && /"id":\\s*(\\d+)/; }
"""
_ILLEGAL = """
import salvo

class Bot(salvo.Bot):
    def place_fleet(self, rules):
        return "everywhere"

    def choose_salvo(self, view):
        return ()
"""
_RAISES = """
import salvo

@salvo.bot
def fire(view):
    raise RuntimeError("out of powder")
"""
#: Loads in its trial, and never again.
_LOADS_ONCE = """
from pathlib import Path
import salvo

Path(__file__).with_name("loaded").touch(exist_ok=False)

@salvo.bot
def fire(view):
    return view.untouched.sample(view.shots)
"""
_REMOVES = """
import shutil
import salvo

@salvo.bot
def fire(view):
    shutil.rmtree(FOLDER, ignore_errors=True)
    return view.untouched.sample(view.shots)
"""


class Class:
    """A folder of bots."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def hand_in(self, name: str, code: str) -> None:
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(code)
        file.chmod(0o700)

    def play(self) -> str:
        return self._run(str(self.folder), "--jobs", "1").stderr

    def shown(self) -> dict[str, Any]:
        shown: dict[str, Any] = json.loads(self._run("show", "--json", str(self.folder)).stdout)
        return shown

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "salvo", "tournament", *words]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return done

    @property
    def games(self) -> int:
        """How many were ever played."""
        return sum('"game"' in line for line in (self.folder / "tournament.games.jsonl").read_text().splitlines()[1:])

    @property
    def problems(self) -> dict[str, str]:
        """Why bots do not play, by name."""
        files = self.folder.glob("*.problem.txt")
        return {file.name.removesuffix(".problem.txt"): file.read_text() for file in files}


@pytest.fixture
def group(tmp_path: Path) -> Class:
    return Class(tmp_path / "class")


@needs("bwrap")
@needs("node")
def test_a_folder_of_bots_is_played_on_whoever_comes_changes_and_goes(group: Class) -> None:
    group.hand_in("tournament.toml", "games = 1\nsandbox = true\n")
    group.hand_in("red/bot.py", _PYTHON)
    group.hand_in("blue/bot.mjs", _JAVASCRIPT)
    group.hand_in("green/bot", _PERL)
    group.hand_in("hunter/bot.py", _ILLEGAL)  # and not the built-in bot of this name
    said = group.play()
    assert [line.split()[0] for line in said.splitlines() if "does not play" in line] == ["hunter"]
    assert "bad_fleet" in group.problems["hunter"]
    assert group.games == 3  # red, blue and green

    (group.folder / "hunter" / "bot.py").unlink()
    group.hand_in("hunter/bot", _PERL)
    group.hand_in("red/helper.py", "LATER = 1\n")
    group.play()
    assert not group.problems
    assert group.games == 3 + 5  # all pairs but that of blue and green

    shutil.rmtree(group.folder / "green")
    shown = group.shown()
    assert (group.games, shown["games_in_all"], shown["complete"]) == (8, 3, True)
    assert {row["bot"] for row in shown["table"]} == {"red", "blue", "hunter"}


def test_a_run_ends_well_though_a_folder_vanishes_and_bots_fail_after_their_trial(group: Class) -> None:
    group.hand_in("tournament.toml", "games = 1\n")
    group.hand_in("gone/bot", _PERL)
    group.hand_in("red/bot.py", _REMOVES.replace("FOLDER", repr(str(group.folder / "gone"))))
    group.hand_in("hunter/bot.py", _RAISES)
    group.hand_in("once/bot.py", _LOADS_ONCE)
    said = group.play()
    assert "once does not play any more; once.problem.txt says why" in said.splitlines()
    assert group.problems.keys() == {"once"}
    assert "FileExistsError" in group.problems["once"]
    assert not (group.folder / "gone").exists()
    assert group.games == 3  # of red, hunter and the one that was there when it began

    shown = group.shown()
    assert {row["bot"]: row["strikes"] > 0 for row in shown["table"]} == {"red": False, "hunter": True}
    assert (shown["games_in_all"], shown["complete"]) == (1, True)


# --- who plays ----------------------------------------------------------------------------------------------------


class Tries:
    """Lets those in a folder try out, with a clock whose seconds pass at once."""

    def __init__(self, group: Class, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._group = group
        self._copies = tmp_path / "copies"
        self._monkeypatch = monkeypatch

    def playing(self, meanwhile: Callable[[], object] = lambda: None) -> list[str]:
        """Return who can play.

        Args:
            meanwhile: what happens in each second in which the run waits.
        """
        clock = SimpleNamespace(time_ns=time.time_ns, sleep=lambda seconds: meanwhile())
        self._monkeypatch.setattr(folder, "time", clock)
        shutil.rmtree(self._copies, ignore_errors=True)
        self._copies.mkdir()
        self._monkeypatch.chdir(self._copies)
        return list(TeamFolder(self._group.folder, self._copies).try_out([]).bots)


@pytest.fixture
def tries(group: Class, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tries:
    group.hand_in("blue/bot", _PERL)
    group.hand_in("green/bot", _PERL)
    return Tries(group, tmp_path, monkeypatch)


def test_who_uploads_half_a_file_reads_why_and_plays_when_it_is_whole(group: Class, tries: Tries) -> None:
    half = _PYTHON[: _PYTHON.index("):")]
    letters = iter(half)
    file = group.folder / "red" / "bot.py"
    group.hand_in("red/bot.py", "")

    def upload() -> None:
        with file.open("a") as written:
            written.write(next(letters))

    assert tries.playing(upload) == ["blue", "green"]
    assert group.problems == {"red": "it is still being copied; it plays in a later run\n"}
    file.write_text(half)  # and there the connection has ended
    assert tries.playing() == ["blue", "green"]
    assert "bot.py:5: SyntaxError: " in group.problems["red"]
    file.write_text(_PYTHON)
    assert tries.playing() == ["blue", "green", "red"]
    assert not group.problems


def test_a_folder_that_vanishes_while_a_run_begins_is_not_played_and_leaves_no_problem(
    group: Class, tries: Tries
) -> None:
    group.hand_in("gone/bot", _PERL)
    assert tries.playing(lambda: shutil.rmtree(group.folder / "gone", ignore_errors=True)) == ["blue", "green"]
    assert not group.problems


def test_a_folder_without_a_bot_reads_why_and_hidden_ones_are_left_alone(group: Class, tries: Tries) -> None:
    group.hand_in("wrong/bot.py", "import nothing_here\n")
    group.hand_in("empty/notes.txt", "later\n")
    group.hand_in(".git/config", "")
    assert tries.playing() == ["blue", "green"]
    assert group.problems.keys() == {"wrong", "empty"}
    assert "ModuleNotFoundError: No module named 'nothing_here'" in group.problems["wrong"]
    assert "its bot is bot.py, bot.js, bot.mjs, bot" in group.problems["empty"]


def test_a_folder_with_less_than_two_bots_or_with_bots_in_its_settings_is_refused(group: Class, tries: Tries) -> None:
    shutil.rmtree(group.folder / "blue")
    with pytest.raises(TournamentError, match="1 of 1 subfolders have a bot that plays; two do"):
        tries.playing()
    group.hand_in("tournament.toml", '[bots]\nred = "red/bot.py"\n')
    with pytest.raises(TournamentError, match="a folder's bots are its subfolders, each against each"):
        tries.playing()
