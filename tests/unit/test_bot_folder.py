"""What a bot's file imports: the modules of its own folder, whoever else plays in this process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from salvo.errors import BotError
from salvo.lab import arena
from salvo.lab.simulation import simulate
from salvo.lab.sources import load, make

BOT = """\
import salvo
from aiming import LIMIT


@salvo.bot
def fire(view):
    import brain.thinking  # in the middle of a game

    return view.untouched.sample(min(view.shots, LIMIT, brain.thinking.limit()))
"""


def _folder(path: Path, limit: int) -> str:
    (path / "brain").mkdir(parents=True)
    (path / "mine.py").write_text(BOT)
    (path / "aiming.py").write_text(f"import json\n\nLIMIT = {limit}\n")
    (path / "brain" / "__init__.py").write_text("")
    (path / "brain" / "thinking.py").write_text("from . import json\nfrom aiming import LIMIT\nlimit = json.limit\n")
    (path / "brain" / "json.py").write_text("def limit():\n    from aiming import LIMIT\n\n    return LIMIT\n")
    return str(path / "mine.py")


def test_two_versions_of_a_bot_play_with_their_own_helpers(tmp_path: Path) -> None:
    new, old = _folder(tmp_path / "new", 5), _folder(tmp_path / "old", 0)
    for jobs in (0, 1):
        played = simulate({"new": new, "old": old}, games=4, seed=3, jobs=jobs)
        assert played.failures == []
        assert all(game.stats["old"].shots == 0 < game.stats["new"].shots for game in played)


def test_a_bots_modules_are_nobody_elses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "aiming.py").write_text("LIMIT = 'not this one'\n")
    monkeypatch.syspath_prepend(tmp_path / "home")
    import aiming  # type: ignore[import-not-found]

    bot = make(_folder(tmp_path / "mine", 0))
    assert arena.play({"mine": bot, "other": make("random")}, seed=1).winner == "other"
    assert sys.modules["aiming"] is aiming
    assert "brain" not in sys.modules
    monkeypatch.delitem(sys.modules, "aiming")


def test_a_bot_without_a_helper_does_not_get_its_rivals(tmp_path: Path) -> None:
    load(_folder(tmp_path / "mine", 2))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.py").write_text(BOT)
    with pytest.raises(BotError, match=r"mine.py:2: ModuleNotFoundError: No module named 'aiming'"):
        load(str(tmp_path / "other" / "mine.py"))


def test_threads_of_a_bot_import_while_its_file_is_loaded(tmp_path: Path) -> None:
    """They waited for the file, and the file for them."""
    (tmp_path / "mine.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor\n\nimport salvo\n\n\n"
        "def prepare():\n    import colorsys\n\n    return colorsys.ONE_THIRD\n\n\n"
        "with ThreadPoolExecutor() as threads:\n    third = threads.submit(prepare).result()\n\n\n"
        "@salvo.bot\ndef fire(view):\n    return view.untouched.sample(view.shots)\n"
    )
    sys.modules.pop("colorsys", None)
    assert load(str(tmp_path / "mine.py")).__name__ == "fire"


def test_files_of_the_same_name_are_modules_of_their_own(tmp_path: Path) -> None:
    one, two = (load(_folder(tmp_path / name, 3)) for name in ("one", "two"))
    assert one.__module__ != two.__module__
    assert sys.modules[two.__module__].__file__ == str(tmp_path / "two" / "mine.py")
    assert load(str(tmp_path / "one" / "mine.py")).__module__ == one.__module__


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        (
            "aiming.py",
            r"aiming.py:5: NameError: name 'oops' is not defined \(importing .*mine.py\)$",
        ),
        ("brain/json.py", r"brain/json.py:6: NameError: name 'oops' is not defined \(mine, turn 1; seed 1, game 1\)$"),
    ],
)
def test_a_mistake_in_a_helper_is_told_with_its_line(tmp_path: Path, broken: str, line: str) -> None:
    mine = _folder(tmp_path / "mine", 3)
    with (tmp_path / "mine" / broken).open("a") as file:
        file.write("\noops\n")
    with pytest.raises(BotError, match=line):
        arena.play({"mine": make(mine), "other": make("random")}, seed=1)


def test_what_is_no_python_names_its_line_once(tmp_path: Path) -> None:
    mine = _folder(tmp_path / "mine", 3)
    (tmp_path / "mine" / "aiming.py").write_text("x = (\n")
    with pytest.raises(BotError) as raised:
        load(mine)
    assert str(raised.value).startswith("bad_bot: aiming.py:1: SyntaxError: '(' was never closed (importing ")
    assert str(raised.value).endswith("mine.py)\n    x = (\n        ^")
