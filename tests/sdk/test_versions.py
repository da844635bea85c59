"""Bots as they were: kept by their folder, or as git has them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from salvo.bots.sources import load
from salvo.bots.versions import contents_of, keep_content, pinned
from salvo.errors import BotError

BOT = """\
from pathlib import Path

import salvo
from aiming import LIMIT

WEIGHTS = Path(__file__).with_name("weights.txt").read_text()


class Mine(salvo.Bot):
    what = (LIMIT, WEIGHTS)
"""


@pytest.fixture
def bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    folder = tmp_path / "bots"
    folder.mkdir()
    _write(folder, 1)
    return folder / "mine.py"


def _write(folder: Path, limit: int) -> None:
    (folder / "mine.py").write_text(BOT)
    (folder / "aiming.py").write_text(f"LIMIT = {limit}\n")
    (folder / "weights.txt").write_text(f"weight {limit}")


def _written(bot: Path, limit: int) -> Path:
    _write(bot.parent, limit)
    return bot


def _what(source: str) -> tuple[int, str]:
    what: tuple[int, str] = load(source).what  # type: ignore[attr-defined]
    return what


# --- kept ---------------------------------------------------------------------------------------------------------


def _stored(bot: Path) -> Path:
    return keep_content(contents_of(bot.parent))


def test_a_stored_bot_version_plays_with_its_old_helpers_and_weights(bot: Path) -> None:
    old = _stored(bot)
    _write(bot.parent, 2)
    assert _what(f"{old / 'mine.py'}:Mine") == (1, "weight 1")
    assert _what(str(bot)) == (2, "weight 2")


def test_a_version_that_was_not_used_for_90_days_is_deleted(bot: Path) -> None:
    old, used = _stored(bot), _stored(_written(bot, 2))
    for version in (old, used):
        os.utime(version, (0, 0))
    assert _stored(bot) == used
    _stored(_written(bot, 3))
    assert (old.exists(), used.exists()) == (False, True)


# --- git ----------------------------------------------------------------------------------------------------------


def _git(folder: Path, *words: str) -> str:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", "-C", folder, *author, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def committed(bot: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _git(bot.parent.parent, "init", "--quiet")
    _git(bot.parent, "add", ".")
    _git(bot.parent, "commit", "--quiet", "-m", "first")
    _write(bot.parent, 2)
    (bot.parent / "new").mkdir()
    monkeypatch.chdir(bot.parent)
    return bot


def test_a_version_in_git_plays_with_all_that_lay_beside_it(committed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _what("HEAD:mine.py") == (1, "weight 1")
    assert _what("HEAD:mine.py:Mine") == (1, "weight 1")
    assert _what("mine.py") == (2, "weight 2")
    monkeypatch.chdir(committed.parent.parent)
    assert _what("HEAD:bots/mine.py") == (1, "weight 1")
    assert _what(f"HEAD:{committed}") == (1, "weight 1")


def test_a_pinned_version_stays_what_it_is(committed: Path) -> None:
    first = pinned("HEAD:mine.py")
    assert first == f"{_git(committed.parent, 'rev-parse', '--short', 'HEAD')}:mine.py"
    _git(committed.parent, "commit", "--quiet", "--all", "-m", "second")
    assert (_what(first), _what("HEAD:mine.py"), _what("HEAD~1:mine.py")) == (
        (1, "weight 1"),
        (2, "weight 2"),
        (1, "weight 1"),
    )
    for source in ("mine.py", "mine.py:Mine", "hunter", "exec:./mine.py"):
        assert pinned(source) == source


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("HAED:mine.py", r"no revision 'HAED' in the git repository of .*bots; give HEAD, HEAD~1, a branch"),
        ("--help:mine.py", r"no revision '--help' in the git repository"),
        ("HEAD:yours.py", r"no file yours.py in revision 'HEAD'; files are as seen from here, not from"),
        ("HEAD:new/mine.py", r"no folder bots/new in revision 'HEAD'"),
        ("HEAD:nowhere/mine.py", r"no folder .*nowhere; a version in git is REVISION:file.py"),
    ],
)
def test_a_bot_version_missing_in_git_is_refused_with_the_reason(committed: Path, source: str, text: str) -> None:
    with pytest.raises(BotError, match=text) as raised:
        load(source)
    assert raised.value.code == "bad_version"
