"""The examples: each is a sound bot, and each grade is stronger than the one before."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from salvo.bots.player import Bot
from salvo.bots.sources import load
from salvo.view import View
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.testing import check_bot

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples"
#: A method or attribute in the reference of JavaScript.
MEMBER = re.compile(r"^- `(\w+)[(:?]", re.MULTILINE)
BOTS = sorted(path.name for path in FOLDER.glob("*.py") if path.stem != "client")


def example(name: str) -> type[Bot]:
    return load(str(FOLDER / name))


def wins(name: str, rival: type[Bot], games: int) -> int:
    """How many games an example wins against a rival, half of them from either seat."""
    kind, count = example(name), Counter[str]()
    for seed in range(games // 2):
        count[arena.play({"example": kind(), "rival": rival()}, seed=seed).winner] += 1
        count[arena.play({"rival": rival(), "example": kind()}, seed=seed).winner] += 1
    return count["example"]


@pytest.mark.parametrize("name", BOTS)
def test_an_example_is_a_sound_bot(name: str) -> None:
    assert check_bot(example(name), games=3).problems == []


def test_the_example_bots_win_as_often_as_their_grades_require() -> None:
    assert wins("async_advisers.py", RandomBot, 40) >= 22
    assert wins("reads_everything.py", Hunter, 20) >= 12


def test_the_three_lines_are_those_of_the_readme_and_the_guide_for_teams_names_every_example() -> None:
    readme, guide = (ROOT / "README.md").read_text(), (ROOT / "docs" / "bot.md").read_text()
    readme_of_npm = (ROOT / "client_sdk/javascript/README.md").read_text()
    assert f"```python\n{(FOLDER / 'three_lines.py').read_text()}```\n" in readme
    assert f"```js\n{(FOLDER / 'three_lines.js').read_text()}```\n" in readme_of_npm
    for name in (*BOTS, "three_lines.js"):
        assert f"(../examples/{name})" in guide


def test_both_sdks_have_the_same_names_in_view_and_bot() -> None:
    """Those of JavaScript are in camelCase; it has the turn's deadline in addition, by its own clock."""
    reference = (ROOT / "docs" / "javascript.md").read_text()
    for kind, more in ((View, {"deadline"}), (Bot, set[str]())):
        [section] = re.findall(rf"(?ms)^## {kind.__name__}\n(.*?)^## ", reference)
        names = {re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name) for name in MEMBER.findall(section)}
        attributes = re.findall(r"(?m)^ {8}(\w+): ", kind.__doc__ or "")
        assert names - more == {name for name in dir(kind) if not name.startswith("_")} | set(attributes)
