"""A tournament of the bots in a folder, as cron runs it all night."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kit.programs import needs

pytestmark = [needs("bwrap"), needs("node"), needs("perl")]

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


class Class:
    """A folder of bots."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def hand_in(self, name: str, code: str) -> None:
        file = self.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(code)
        file.chmod(0o700)

    def play(self, *words: str, code: int = 0) -> str:
        command = [sys.executable, "-m", "salvo", "tournament", *words, str(self.folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == code, done.stderr
        return done.stdout if not code and words else done.stderr

    def shown(self) -> dict[str, Any]:
        shown: dict[str, Any] = json.loads(self.play("show", "--json"))
        return shown

    @property
    def games(self) -> int:
        """How many were ever played."""
        return sum('"game"' in line for line in (self.folder / "tournament.games.jsonl").read_text().splitlines()[1:])


@pytest.fixture
def group(tmp_path: Path) -> Class:
    group = Class(tmp_path / "class")
    group.folder.mkdir()
    (group.folder / "tournament.toml").write_text("games = 1\nsandbox = true\n")
    group.hand_in("red/bot.py", _PYTHON)
    group.hand_in("blue/bot.mjs", _JAVASCRIPT)
    group.hand_in("green/bot", _PERL)
    return group


def test_a_folder_of_bots_is_played_on_whoever_comes_changes_and_goes(group: Class) -> None:
    group.hand_in("wrong/bot.py", "import nothing_here\n")
    group.hand_in("illegal/bot.py", _ILLEGAL)
    group.hand_in("empty/notes.txt", "later\n")
    group.hand_in(".git/config", "")
    said = group.play()
    assert {line.split()[0] for line in said.splitlines() if "does not play" in line} == {"wrong", "illegal", "empty"}
    problems = {file.name: file.read_text() for file in group.folder.glob("*.problem.txt")}
    assert "ModuleNotFoundError: No module named 'nothing_here'" in problems["wrong.problem.txt"]
    assert "bad_fleet" in problems["illegal.problem.txt"]
    assert "its bot is bot.py, bot.js, bot.mjs, bot" in problems["empty.problem.txt"]
    assert group.games == 3  # red, blue and green

    group.hand_in("wrong/bot.py", _PYTHON)
    group.hand_in("red/helper.py", "LATER = 1\n")
    group.play()
    assert not (group.folder / "wrong.problem.txt").exists()
    assert group.games == 3 + 5  # all pairs but that of blue and green

    (group.folder / "green").rename(group.folder.parent / "green")
    group.play()
    shown = group.shown()
    assert (group.games, shown["games_in_all"], shown["complete"]) == (8, 3, True)
    assert {row["bot"] for row in shown["table"]} == {"red", "blue", "wrong"}


def test_a_folder_with_less_than_two_bots_or_with_bots_in_its_settings_is_refused(tmp_path: Path) -> None:
    group = Class(tmp_path)
    group.hand_in("red/bot.py", _PYTHON)
    assert "0 of 1" not in (error := group.play(code=2))
    assert "1 of 1 subfolders have a bot that plays; two do" in error
    (tmp_path / "tournament.toml").write_text('[bots]\nred = "red/bot.py"\n')
    assert "a folder's bots are its subfolders, each against each" in group.play(code=2)
