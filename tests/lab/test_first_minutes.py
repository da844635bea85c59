"""What a bot's author sees in the first five minutes: the boards, and a hint where something is odd."""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from salvo.bots.player import Bot
from salvo.cli import main
from salvo.rules import Fleet, RuleBook
from salvo.view import Shot, View
from salvo_display.boards.text_boards import TextBoards
from salvo_display.boards.watched_game import Watched
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.chance import warn_of_chance

FIRES = "import salvo\n\n\n@salvo.bot\ndef fire(view):\n    return view.untouched.sample(view.shots)\n"


def play(make: type[Bot], boards: TextBoards, seed: int = 1) -> arena.Outcome:
    return arena.play({"mine": make(), "hunter": Hunter()}, seed=seed, listener=boards.follow)


# --- a game as it goes --------------------------------------------------------------------------------------------


def _watched(
    monkeypatch: pytest.MonkeyPatch, kind: type[Bot], size: tuple[int, int] = (80, 40)
) -> tuple[str, list[float]]:
    """Return what a terminal gets of a game, and the pauses."""
    out, pauses = io.StringIO(), list[float]()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size(size))
    monkeypatch.delenv("NO_COLOR", raising=False)
    with Watched(moving=True, pause=pauses.append) as boards:
        bots = {"mine": kind(), "hunter": Hunter()}
        arena.play(bots, seed=1, opening=boards.begin, listener=boards.follow)
    return out.getvalue(), pauses


def test_boards_that_are_watched_are_drawn_after_every_salvo_on_a_screen_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text, pauses = _watched(monkeypatch, RandomBot)
    before, *frames = text.split("\033[H\033[J")
    assert (before, frames[-1][-len("\033[?25h\033[?1049l") :]) == ("\033[?1049h\033[?25l", "\033[?25h\033[?1049l")
    assert len(frames) == len(pauses)
    assert "before the first salvo" in frames[0]
    first = frames[1].splitlines()[0]
    assert re.fullmatch(r"\x1b\[1mturn 1: \w+ hits \d of 5: ([A-J]\d+ ){5}of \w+\x1b\[0m", first)
    assert len(re.findall(r"\x1b\[[\d;]*7m", frames[1])) == 5
    assert frames[-1].splitlines()[1].endswith("is defeated")


def test_an_interrupted_game_gives_the_screen_back(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(RandomBot):
        def choose_salvo(self, view: View) -> Sequence[Shot]:
            raise KeyboardInterrupt

    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    boards = Watched(moving=True, pause=lambda _: None)
    with pytest.raises(KeyboardInterrupt), boards:
        arena.play({"a": Interrupted(), "b": Interrupted()}, opening=boards.begin, listener=boards.follow)
    assert out.getvalue().endswith("\033[?25h\033[?1049l")
    assert sys.stdout is out


# --- games that do not come out again -----------------------------------------------------------------------------


class Elsewhere(RandomBot):
    """Takes its shots from the module ``random``."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return random.sample(list(view.untouched), view.shots)


class Restless(RandomBot):
    """Takes its fleet from there."""

    def place_fleet(self, rules: RuleBook) -> Fleet:
        return rules.random_fleet(random.Random())


@pytest.mark.parametrize(("kind", "warned"), [(RandomBot, False), (Elsewhere, True), (Restless, True)])
def test_a_bot_that_plays_differently_with_the_same_seed_is_named(kind: type[Bot], warned: bool) -> None:
    boards = TextBoards()
    outcome = play(kind, boards)
    warning = warn_of_chance(outcome, boards, lambda other: play(kind, other))
    assert warning.startswith("mine plays differently with the same seed; ") == warned
    assert bool(warning) == warned


# --- a file's end -------------------------------------------------------------------------------------------------


def _python(file: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, env=os.environ | env, check=False
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (FIRES, "mybot.py defines a bot but never plays it; end it with salvo.run(fire)\n"),
        ("import salvo\nclass One(salvo.Bot): ...\n", "end it with salvo.run(One)\n"),
        (FIRES + "salvo.run(fire)\n", ""),
        (FIRES + "from salvo_lab import arena\narena.play({'a': fire(), 'b': fire()})\n", ""),
        ("import salvo\nsalvo.Bot\n", ""),
    ],
)
def test_a_bot_file_that_plays_no_game_prints_what_is_missing(tmp_path: Path, text: str, error: str) -> None:
    file = tmp_path / "mybot.py"
    file.write_text(text)
    done = _python(file)
    assert done.returncode == 0
    assert done.stderr.endswith(error)
    assert bool(done.stderr) == bool(error)


@pytest.mark.parametrize("command", ["play mine.py hunter", "play mine.py hunter --games 2", "solo mine.py --boards 1"])
def test_what_a_bot_raises_does_not_control_the_terminal(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "\\033]0;owned\\007\\033[2J\\u202e" + "x" * 100_000
    (tmp_path / "mine.py").write_text(FIRES.replace("return ", f"raise ValueError('{hostile}')\n    return "))
    monkeypatch.chdir(tmp_path)
    with contextlib.suppress(SystemExit):
        main(command.split())
    out, err = capsys.readouterr()
    assert "ValueError" in out + err
    assert all(line.isprintable() for line in (out + err).splitlines())
    assert len(out + err) < 20_000


# --- mistakes -----------------------------------------------------------------------------------------------------

#: Files that somebody has written wrongly.
WRONG = {
    "asks.py": FIRES.replace("view.untouched", "view.salvos and view.salvos[-1].result.outcomes or view.untouched"),
    "maps.py": FIRES.replace("return", "view.marks('hunter')\n    return"),
    "cell.py": FIRES.replace("view.untouched.sample(view.shots)", "['B3']"),
    "bare.py": FIRES.replace("fire(view)", "fire()"),
    "typo.py": "import salvo\nclass Mine(salvo.Bot):\n    def chose_salvo(self, view): ...\n",
    "idle.py": "import salvo\nclass Mine(salvo.Bot): ...\n",
    "open.toml": 'name = "pond\nlike = "streak"\n',
    "word.toml": "name = pond\n",
    "latin.toml": "name = 'p\xf6nd'\n",
    "cut.jsonl": "no game\n",
    "folder": None,
}


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (
            "play asks.py hunter",
            "not_told: asks.py:6: these rules do not reveal which shots of a salvo hit; result.hits is ",
        ),
        (
            "play maps.py hunter",
            "not_told: maps.py:6: the rules 'salvo' do not reveal which shot was a hit; view.salvos has ",
        ),
        (
            "play cell.py hunter",
            r"bad_salvo: cell.py:4: a shot is \(player, x, y\), not 'B3'; B3 is \(player, 3, 2\): view.rules.grid.at",
        ),
        (
            "play bare.py hunter",
            "bot_raised: bare.py:4: TypeError: .*; a bot is a function of one view, such as def fire",
        ),
        (
            "play typo.py hunter",
            r"bad_bot: typo.py:2: Mine has no choose_salvo\(view\); is 'chose_salvo' a misspelling",
        ),
        (
            "play idle.py hunter",
            r"bad_bot: idle.py:2: Mine has no choose_salvo\(view\); write one, which returns shots",
        ),
        ("play \udcff.py hunter", r"bad_bot: '\\udcff.py': the name is not UTF-8; rename the file"),
        ("play hunter hunter --rules open.toml", "bad_rules: open.toml, line 1: a text has no closing quote"),
        ("play hunter hunter --rules word.toml", "bad_rules: word.toml, line 1: not a value; .* a text in quotes"),
        ("play hunter hunter --rules latin.toml", "bad_rules: latin.toml: it is not UTF-8 text; save it as UTF-8"),
        ("play hunter hunter --rules opn.toml", r"bad_rules: no file opn.toml; did you mean open.toml\?"),
        ("play hunter hunter --rules chess.toml", "bad_rules: no file chess.toml$"),
        (
            "explain cut.jsonl",
            "not_a_transcript: cut.jsonl is not a recorded game; name a file that --record or --export ",
        ),
        ("explain folder", "transcript_unreadable: folder: Is a directory; name a file in it"),
        ("tournament run open.toml", "bad_tournament: open.toml, line 1: a text has no closing quote"),
        ("tournament open.toml", "No such command 'open.toml'. The commands are init, run, show."),
        ("teams lits", "No such command 'lits'. Did you mean 'list'?"),
        ("serve --config open.toml", "bad_setting: open.toml, line 1: a text has no closing quote"),
    ],
)
def test_a_command_line_mistake_is_reported_with_its_place_and_remedy(
    command: str, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in WRONG.items():
        if text is None:
            (tmp_path / name).mkdir()
        else:
            (tmp_path / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(SystemExit) as end:
        main(command.split())
    assert end.value.code in (1, 2)
    output = capsys.readouterr().err
    assert re.search(f"error: {error}", output, re.IGNORECASE | re.MULTILINE), output
    assert "[Errno" not in output
