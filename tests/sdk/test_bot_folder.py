"""What a bot's file imports: the modules of its own folder, whoever else plays in this process."""

from __future__ import annotations

import os
import pickle
import py_compile
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from salvo.bots import surroundings
from salvo.bots.player import Bot
from salvo.bots.sources import load, make
from salvo.errors import BotError
from salvo_lab import arena
from salvo_lab.simulation import simulate

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


# --- what is beside a bot, and how it is imported -------------------------------------------------------------------


def _package(folder: Path) -> None:
    (folder / "tactics").mkdir()
    (folder / "tactics" / "aim.py").write_text("from math import prod\n\n\ndef best(number):\n    return number + 1\n")


def _with_init(folder: Path) -> None:
    _package(folder)
    (folder / "tactics" / "__init__.py").write_text("")


def _compiled(folder: Path) -> None:
    _package(folder)
    source = folder / "tactics" / "aim.py"
    py_compile.compile(str(source), cfile=str(source.with_suffix(".pyc")))
    source.unlink()


def _linked(folder: Path) -> None:
    """The bot's file is a link to one in another folder, which the package is in."""
    _package(folder)
    (folder / "links").mkdir()
    (folder / "mine.py").rename(folder / "real.py")
    (folder / "links" / "mine.py").symlink_to(folder / "real.py")


LATE = """\
import salvo


@salvo.bot
def fire(view):
    from tactics import aim

    return aim.best(1)
"""
AT_ONCE = "import tactics.aim\n" + LATE.replace("    from tactics import aim\n\n", "").replace("aim.", "tactics.aim.")
BY_NAME = LATE.replace("from tactics import aim", "import importlib\n    aim = importlib.import_module('tactics.aim')")
IN_A_THREAD = LATE.replace(
    "from tactics import aim",
    "from concurrent.futures import ThreadPoolExecutor\n"
    "    with ThreadPoolExecutor() as threads:\n"
    "        aim = threads.submit(get).result()",
).replace("@salvo", "def get():\n    import tactics.aim\n    return tactics.aim\n\n\n@salvo")
#: The thread waited for the file, and the file for the thread.
WHILE_IT_IS_LOADED = IN_A_THREAD.replace(
    "\n@salvo", "with ThreadPoolExecutor() as threads:\n    threads.submit(get).result()\n\n\n@salvo"
).replace("import salvo", "from concurrent.futures import ThreadPoolExecutor\n\nimport salvo")
AFTER_CHDIR = LATE.replace("import salvo\n", "import os\n\nimport salvo\n\nos.chdir('/')\n")
PICKLED = LATE.replace(
    "from tactics import aim",
    "import pickle\n    import tactics.aim\n    aim = pickle.loads(pickle.dumps(tactics.aim.best))",
).replace("aim.best(1)", "aim(1)")
#: As a program has written it that was started with python.
IN_A_FILE = LATE.replace(
    "from tactics import aim", "import pickle\n    aim = pickle.loads(b'ctactics.aim\\nbest\\n.')"
).replace("aim.best(1)", "aim(1)")


def _pool(how: str) -> str:
    return (
        LATE.replace(
            "from tactics import aim",
            "import multiprocessing\n"
            "    from tactics import aim\n\n"
            f"    with multiprocessing.get_context({how!r}).Pool(1) as pool:\n"
            "        assert pool.map(doubled, [2]) == [4]\n"
            "        return pool.map(aim.best, [1])[0]",
        ).replace("@salvo", "def doubled(number):\n    return 2 * number\n\n\n@salvo")
        + "\n\nsalvo.run(fire)\n"
    )


@pytest.mark.parametrize("beside", [_package, _with_init, _compiled, _linked])
@pytest.mark.parametrize(
    "code",
    [
        LATE,
        AT_ONCE,
        BY_NAME,
        IN_A_THREAD,
        WHILE_IT_IS_LOADED,
        AFTER_CHDIR,
        PICKLED,
        IN_A_FILE,
        *([_pool("fork")] if hasattr(os, "fork") else []),
    ],
)
def test_each_bot_uses_the_helper_modules_in_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beside: Callable[[Path], None], code: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("tactics", "tactics.aim"):
        sys.modules.pop(name, None)  # of the case before
    bots = []
    for name in ("one", "two"):  # with the same names, and other contents
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(code)
        beside(tmp_path / name)
        file = tmp_path / name / ("links/mine.py" if beside is _linked else "mine.py")
        bots += [load(str(file)), load(str(file))]
    for bot in bots:
        assert _answer(bot) == 2


def _answer(bot: type[Bot]) -> object:
    return bot.function(None)  # type: ignore[attr-defined]


def test_bot_files_of_the_same_name_load_as_separate_modules(tmp_path: Path) -> None:
    one, two = (load(_folder(tmp_path / name, 3)) for name in ("one", "two"))
    assert sys.modules[two.__module__].__file__ == str(tmp_path / "two" / "mine.py")
    again = load(str(tmp_path / "one" / "mine.py"))
    assert len({one.__module__, two.__module__, again.__module__}) == 3
    assert [pickle.loads(pickle.dumps(bot)) for bot in (one, two, again)] == [one, two, again]


# --- mistakes -------------------------------------------------------------------------------------------------------


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
def test_an_error_in_a_bots_helper_module_is_reported_with_its_line(tmp_path: Path, broken: str, line: str) -> None:
    mine = _folder(tmp_path / "mine", 3)
    with (tmp_path / "mine" / broken).open("a") as file:
        file.write("\noops\n")
    with pytest.raises(BotError, match=line):
        arena.play({"mine": make(mine), "other": make("random")}, seed=1)


def test_a_bots_call_leaves_alone_the_directory_that_another_thread_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command works in a folder while a bot plays on a thread: neither its directory nor the bot's game suffers."""
    monkeypatch.chdir(Path.cwd())
    surroundings.watch()
    called, changed = threading.Event(), threading.Event()

    def answer() -> str:
        called.set()
        assert changed.wait(60)
        return "answer"

    with ThreadPoolExecutor() as pool:
        answered = pool.submit(surroundings.call, "a bot of this test", answer)
        assert called.wait(60)
        os.chdir(tmp_path)
        changed.set()
        assert answered.result(60) == "answer"
    assert Path.cwd() == tmp_path
    assert not surroundings.has_moved("a bot of this test")
