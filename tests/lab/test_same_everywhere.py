"""The same seed gives the same game on every Python.

Since Python 3.12 ``sum`` rounds floats otherwise than before, in the last bit; among cells that are about as good that
was another shot, and another game. So floats are added by ``math.fsum``, which rounds once, everywhere.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from functools import reduce
from math import fsum
from operator import add
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from salvo.cli import cli
from salvo.rules import BOOKS
from salvo_lab import arena
from salvo_lab.bots.admiral import Admiral
from salvo_lab.bots.density import Density
from salvo_lab.bots.meanfield import MeanField


def _before_3_12(numbers: Iterable[Any], start: Any = 0) -> Any:
    return reduce(add, numbers, start)


def _since_3_12(numbers: Iterable[Any], start: Any = 0) -> Any:
    added = [start, *numbers]
    return fsum(added) if any(isinstance(each, float) for each in added) else reduce(add, added)


def _on_both(monkeypatch: pytest.MonkeyPatch, outcome: Callable[[], object]) -> list[object]:
    """Return what is told with either kind of ``sum``."""
    both = []
    for kind in (_before_3_12, _since_3_12):
        with monkeypatch.context() as patched:
            patched.setattr(builtins, "sum", kind)
            both.append(outcome())
    return both


@pytest.mark.long
@pytest.mark.parametrize("book", ["salvo", "spaced"])
def test_bots_that_reckon_play_the_same_game_on_every_python(monkeypatch: pytest.MonkeyPatch, book: str) -> None:
    def play() -> object:
        salvos: list[object] = []
        bots = {"density": Density(), "meanfield": MeanField(), "admiral": Admiral()}
        arena.play(bots, seed=2, book=BOOKS[book], listener=lambda shots, result: salvos.append((tuple(shots), result)))
        return salvos

    before, since = _on_both(monkeypatch, play)
    assert before == since


@pytest.mark.long
def test_a_game_is_explained_alike_on_every_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    game = str(tmp_path / "game.jsonl")
    rules = tmp_path / "pond.toml"
    rules.write_text(
        'name = "pond"\nlike = "salvo"\nwidth = 7\nheight = 7\n[fleet]\ncruiser = 3\nsubmarine = 3\nboat = 2\n'
    )
    play = ["play", "hunter", "random", "--seed", "1", "--rules", str(rules), "--record", game]
    CliRunner().invoke(cli, play, catch_exceptions=False)

    def explain() -> object:
        return CliRunner().invoke(cli, ["explain", game, "--fleets", "500"], catch_exceptions=False).stdout

    before, since = _on_both(monkeypatch, explain)
    assert before
    assert before == since
