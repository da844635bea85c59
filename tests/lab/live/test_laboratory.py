"""Many games, a comparison, and a bot that is played at every save: real processes, files, signals and terminals."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kit.command_line import run
from kit.processes import started, without_settings
from kit.terminal import Terminal
from kit.waiting import until

SALVO = [sys.executable, "-m", "salvo"]
BOT = """\
import os
import time

import salvo


@salvo.bot
def fire(view):
    return view.untouched.sample(view.shots)
"""
WEAK = BOT.replace("view.shots)", "0)")
#: Never gets through its import, and makes a file before.
HANGS = BOT + "open('hangs', 'w').close()\nwhile True:\n    pass\n"
RAISES = BOT.replace("    return", "    1 / (view.turn < 9)\n    return")


def _environment() -> dict[str, str]:
    return without_settings(PYTHONUNBUFFERED="1")


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(BOT)
    return file


# --- play ---------------------------------------------------------------------------------------------------------


def test_ctrl_c_ends_all_processes(bot: Path) -> None:
    bot.write_text(BOT.replace("    return", "    time.sleep(0.05)\n    return"))
    with Terminal([*SALVO, "play", str(bot), "random", "--games", "9999"], _environment()) as terminal:
        terminal.until(lambda _: _children(terminal.process.pid))
        children = _children(terminal.process.pid)
        terminal.signal(signal.SIGINT)
        assert terminal.end() == 130
        _until_gone(children)
        assert "Traceback" not in terminal.screen.text


def test_the_processes_of_a_killed_command_end_though_a_bot_never_answers(bot: Path) -> None:
    bot.write_text(BOT.replace("    return", "    while True:\n        pass\n    return"))
    with started([*SALVO, "solo", str(bot), "--boards", "9"], env=_environment()) as playing:
        children = until(lambda: _children(playing.pid))
    _until_gone(children)


def _children(pid: int) -> set[int]:
    try:
        return {int(number) for number in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
    except FileNotFoundError:
        return set()


def _until_gone(pids: set[int]) -> None:
    until(lambda: not any(_is_running(pid) for pid in pids), lambda: f"still there: {pids}")


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


# --- compare ------------------------------------------------------------------------------------------------------


def test_compare_reports_the_better_bot_in_words_and_json(bot: Path) -> None:
    output = run("compare", "hunter", str(bot), "--seed", "7")
    assert output.returncode == 0, output.stderr
    assert output.stdout.startswith("hunter is better than mine; the chance that this is wrong is at most 5%\n")
    assert re.search(r"win rate: \d+\.\d% against mine, .* with 95% confidence, \d+ games in pairs", output.stdout)
    assert "lost by" not in run("compare", "hunter", str(bot), "--seed", "3", "--games", "4").stdout
    found = json.loads(run("compare", str(bot), "hunter", "--seed", "7", "--jobs", "1", "--json").stdout)
    assert (found["verdict"], found["bots"]) == ("worse", ["mine", "hunter"])
    assert found["interval"][0] <= found["rate"] <= found["interval"][1] <= 0.5
    again = json.loads(run(*found["again"].split()[1:], "--json").stdout)
    assert again == found


# --- dev ----------------------------------------------------------------------------------------------------------


@contextmanager
def _dev(bot: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    against = () if "--against" in arguments else ("--against", "random")
    command, pipe = [*SALVO, "dev", bot.name, *against, *arguments], subprocess.PIPE
    with started(command, stdout=pipe, stderr=pipe, cwd=bot.parent, env=_environment()) as playing:
        yield playing


def _output(playing: subprocess.Popen[str]) -> dict[str, Any]:
    assert playing.stdout is not None
    answer: dict[str, Any] = json.loads(playing.stdout.readline())
    return answer


def test_dev_plays_after_every_save_and_reports_the_change(bot: Path) -> None:
    with _dev(bot, "--json", "--games", "60") as playing:
        first = _output(playing)
        assert (first["games"], "change" in first) == (60, False)
        assert 0.2 < first["rate"] < 0.8
        bot.write_text(WEAK)
        weak = _output(playing)
        assert weak["rate"] == 0
        assert weak["plus_minus"] > 0
        assert (weak["verdict"], weak["change"]) == ("worse", -first["rate"])
        assert weak["change_plus_minus"] > 0
        # As many editors save: another file is put in its place.
        (bot.parent / "mine.py.new").write_text(BOT)
        (bot.parent / "mine.py.new").replace(bot)
        back = _output(playing)
        assert (back["verdict"], back["rate"], back["change"]) == ("better", first["rate"], first["rate"])


def test_dev_plays_several_opponents_whenever_a_helper_is_saved(bot: Path) -> None:
    (bot.parent / "helper.py").write_text("shots = 9\n")
    (bot.parent / "rival.py").write_text(BOT)
    bot.write_text(BOT.replace("import os", "import helper").replace("view.shots)", "min(view.shots, helper.shots))"))
    with _dev(bot, "--json", "--games", "33", "--against", "random", "--against", "rival.py") as playing:
        first = _output(playing)
        assert [(each["against"], each["games"]) for each in first["opponents"]] == [("random", 16), ("rival.py", 16)]
        (bot.parent / "helper.py").write_text("shots = 0\n")
        weak = _output(playing)
        assert (weak["games"], weak["verdict"], weak["rate"]) == (32, "worse", 0)
        assert (weak["opponents"][0]["verdict"], weak["change"]) == ("worse", -first["rate"])
        fell, most = weak["lost"]
        assert (fell["why"], most["why"]) == ("won before, lost now", "lost by most")
        shown = json.loads(run(*fell["again"].split()[1:], "--json", cwd=bot.parent).stdout)
        assert shown["stats"]["mine"]["hits"] == fell["hits"] == 0
        (bot.parent / "helper.py").write_text("shots = 9 \n")
        back = _output(playing)
        assert back["change"] == first["rate"]


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("--against", "nix"), 1, "error: bad_bot: no bot 'nix'"),
        (("--against", "rival.py"), 1, "error: bad_bot: rival.py:10: NameError"),
        (("--against", "picky.py"), 1, "picky.py:4: OSError: no weights (picky, while it is created; seed 0, game 1)"),
        (("--rules", "slavo"), 2, "error: bad_rules: no ruleset 'slavo'"),
        (("--against", "HEAD:rival.py"), 1, "error: bad_version: "),
        (("--against", "random", "--against", "random"), 2, "--against random: named 2 times"),
        (("--games", "7", "--against", "random", "--against", "hunter"), 2, "--games 7: 2 opponents need 8 or more"),
    ],
)
def test_dev_ends_at_once_on_an_error_that_no_save_can_fix(
    bot: Path, arguments: tuple[str, ...], code: int, error: str
) -> None:
    (bot.parent / "rival.py").write_text(BOT + "oops\n")
    (bot.parent / "picky.py").write_text(
        "import salvo\nclass Picky(salvo.Bot):\n    def __init__(self):\n        raise OSError('no weights')\n"
    )
    done = run("dev", "mine.py", *arguments, cwd=bot.parent)
    assert (done.returncode, done.stdout) == (code, "")
    assert error in done.stderr


def test_dev_stops_at_the_first_mistake_and_goes_on_after_the_next_save(bot: Path) -> None:
    with _dev(bot, "--json", "--games", "40") as playing:
        first = _output(playing)
        bot.write_text(RAISES)
        failure = _output(playing)["failure"]
        assert (failure["code"], failure["game"], failure["where"]) == ("bot_raised", 1, "mine.py:9")
        assert (
            failure["text"] == f"ZeroDivisionError: division by zero (mine, turn {failure['turn']}; seed dev, game 1)"
        )
        shown = run(*failure["again"].split()[1:], cwd=bot.parent)
        assert (shown.returncode, "mine.py:9: " in shown.stderr) == (1, True)
        bot.write_text(BOT + "x = (")
        error = _output(playing)["error"]
        assert (error["code"], error["where"]) == ("bad_bot", "mine.py:10")
        bot.write_text(BOT + "\n")
        assert _output(playing)["change"] == 0
        assert first["rate"] > 0


@pytest.mark.parametrize(
    "hanging",
    [
        BOT.replace("    return", "    open('hangs', 'w').close()\n    while True:\n        pass\n    return"),
        HANGS,
    ],
    ids=["in a loop", "while it is imported"],
)
def test_a_save_frees_dev_of_a_bot_that_never_answers(bot: Path, hanging: str) -> None:
    bot.write_text(hanging)
    with _dev(bot, "--json", "--games", "20", "--turn-seconds", "9999") as playing:
        until((bot.parent / "hangs").exists)
        hung = _children(playing.pid)
        bot.write_text(BOT)
        assert _output(playing)["games"] == 20
        _until_gone(hung)
