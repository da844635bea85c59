"""Bots against bots in one process, and what is said of a bot that cannot play."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import salvo
from salvo.bots.player import Bot
from salvo.bots.sources import load
from salvo.errors import BotError
from salvo.messages import SalvoResolved
from salvo.rules import Fleet
from salvo.view import Shot, View
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot


def results(seed: int, game: int = 1) -> list[SalvoResolved]:
    received: list[SalvoResolved] = []
    bots: dict[str, Bot] = {"a": Hunter(), "b": RandomBot(), "c": RandomBot()}
    arena.play(bots, seed=seed, game=game, listener=lambda shots, result: received.append(result))
    return received


def test_the_same_seed_is_the_same_game_and_another_one_is_not() -> None:
    assert results(7) == results(7)
    assert results(7) != results(8)
    assert results(7, game=1) != results(7, game=2)


def test_every_view_contains_the_truth_and_nothing_hidden() -> None:
    views: dict[str, View] = {}

    class Spy(RandomBot):
        def choose_salvo(self, view: View) -> Sequence[Shot]:
            views[view.me] = view
            return super().choose_salvo(view)

    landed: dict[str, list[tuple[int, int]]] = {"a": [], "b": []}

    def listen(shots: Sequence[Shot], result: SalvoResolved) -> None:
        for shot in shots[: result.shots]:
            landed[shot.player].append((shot.x, shot.y))

    outcome = arena.play({"a": Spy(), "b": Spy()}, seed=3, listener=listen)
    loser = next(name for name in "ab" if name != outcome.winner)
    for name, view in views.items():
        assert view.incoming == landed[name]
        assert view.fleet == outcome.fleets[name]
        assert [s.result for s in view.salvos] == [r for r in view.results if r.player == name]
        assert view.ships_afloat[loser] == 0
        assert view.defeated == (loser,)
        rival = next(other for other in "ab" if other != name)
        assert outcome.fleets[rival] not in [value for value in vars(view).values() if isinstance(value, Fleet)]
    assert outcome.places == {outcome.winner: 1, loser: 2}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ([("b", 1, 1)] * 6, "6 shots; this turn has 5"),
        ([("b", 0, 1)], "counted from 1"),
        ([("x", 1, 1)], "no player 'x'; the players are a, b"),
        ([("b", 1.5, 1)], "('b', 1.5, 1) is off the grid; x is 1..10 and y is 1..10, whole numbers counted from 1"),
        ([("b", "1", 1)], "whole numbers"),
        ([("b", [1], 1)], "whole numbers"),
        ([("b", float("nan"), 1)], "whole numbers"),
        ([("b", 1)], "a shot is (player, x, y)"),
        ("B3", "a salvo is a list"),
        (None, "a salvo is a list"),
    ],
)
def test_an_illegal_salvo_names_bot_seed_turn_and_what_is_allowed(answer: Any, text: str) -> None:
    @salvo.bot
    def wrong(view: View) -> Any:
        return answer

    with pytest.raises(BotError) as raised:
        arena.play({"a": wrong(), "b": wrong()}, seed=7)
    assert text in raised.value.text
    assert raised.value.text.startswith("test_arena.py:")  # where the function begins
    assert raised.value.text.endswith(", turn 1; seed 7, game 1)")


def test_a_bot_that_exits_is_named_but_a_signal_ends_the_program() -> None:
    class Ended(SystemExit):
        pass

    @salvo.bot
    def leaves(view: View) -> Sequence[Shot]:
        raise SystemExit(3)

    @salvo.bot
    def is_interrupted(view: View) -> Sequence[Shot]:
        raise Ended(143)

    with pytest.raises(BotError, match=r"bot_raised: test_arena.py:\d+: SystemExit: 3 \("):
        arena.play({"a": leaves(), "b": leaves()}, seed=7)
    with pytest.raises(Ended):
        arena.play({"a": is_interrupted(), "b": is_interrupted()}, seed=7)


# --- untouched, and where bots come from -------------------------------------------------------------------------


def test_a_bot_is_loaded_by_file_by_class_in_a_file_or_by_built_in_name(tmp_path: Path) -> None:
    file = tmp_path / "two.py"
    file.write_text("import salvo\nclass One(salvo.Bot): ...\nclass Two(salvo.Bot): ...\nsalvo.run(One)\n")
    assert load(str(file)).__name__ == "Two"
    assert load(f"{file}:One").__name__ == "One"
    assert load("hunter") is Hunter


@pytest.mark.parametrize(
    ("text", "suffix", "error"),
    [
        ("x = 1", "", "has no bot"),
        ("import salvo\nclass One(salvo.Bot): ...", ":Two", "has no bot 'Two'; it has One"),
        ("x = 1\n1 / 0", "", "bot.py:2: ZeroDivisionError: division by zero (importing "),
        ("import sys\nsys.exit(4)", "", "bot.py:2: SystemExit: 4 (importing "),
        ("x = 1\nx = (", "", "bot.py:2: SyntaxError: '(' was never closed (importing "),
        ("def f()\n    pass", "", ")\n    def f()\n           ^"),
        ("import nump", "", "No module named 'nump'; correct the name, or install it: pip install nump (importing "),
        ("grid = 1\ngird", "", "NameError: name 'gird' is not defined; did you mean 'grid'?"),
        ("import salvo\nsalvo.rnu", "", "has no attribute 'rnu'; did you mean 'run'?"),
    ],
)
def test_a_file_without_a_bot_is_refused_with_the_reason(tmp_path: Path, text: str, suffix: str, error: str) -> None:
    file = tmp_path / "bot.py"
    file.write_text(text)
    with pytest.raises(BotError) as raised:
        load(f"{file}{suffix}")
    assert error in raised.value.text
