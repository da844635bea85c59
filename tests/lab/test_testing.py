"""What authors of bots test with: drawn boards and the check of a whole bot."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from salvo.bots.player import Bot
from salvo.bots.sources import load
from salvo.rules import SALVO, RuleBook, generator
from salvo.system.plugins import BOTS, found
from salvo.view import Shot, View
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.bots.rude import Rude
from salvo_lab.testing import board, check_bot, draw

PICTURE = """
    A A A A A . . . . .
    . . . . . . . . . .
    B B B B . . . . . .
    . . . . . . . . . .
    D D D . . . . . . P
    . . . . . . . . . P
    S S S . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
    . . . . . . . . . .
"""


def test_a_drawn_fleet_is_labelled_and_read_back() -> None:
    fleet = SALVO.random_fleet(generator(3))
    header, *rows = draw(fleet).splitlines()
    assert header.split() == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]
    assert [row[0] for row in rows] == list("ABCDEFGHIJ")
    assert board("\n".join(row[1:] for row in rows)) == fleet


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda picture: picture.replace("S S S .", "S S . S"), "submarine is not a straight line"),
        (lambda picture: picture.replace("P", "Z"), "no ship has the letter"),
        (lambda picture: picture + "....", "10 rows of 10 cells"),
    ],
)
def test_a_drawn_board_that_is_no_fleet_is_refused_with_the_reason(
    change: Callable[[str], str], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        board(change(PICTURE))


class Careless(Bot):
    """Draws from a source of its own."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        return random.SystemRandom().sample(list(view.untouched), min(view.shots, len(view.untouched)))


class Homeless(RandomBot):
    """Has no fleet."""

    def place_fleet(self, rules: RuleBook) -> Any:
        return None


@pytest.mark.parametrize(
    ("kind", "problem"),
    [(Careless, "played twice it went two ways"), (Rude, "bad_salvo"), (Homeless, "not a fleet of these rules")],
)
def test_check_bot_names_the_problem(kind: type[Bot], problem: str) -> None:
    [found] = check_bot(kind, games=1).problems
    assert problem in found


def test_check_bot_measures_the_slowest_salvo() -> None:
    report = check_bot(RandomBot, games=1, turn_seconds=0.0)
    assert report.slowest_seconds > 0
    assert report.problems == [f"a salvo took {report.slowest_seconds:.1f} s; a turn has 0 s"]


def test_every_bot_that_ships_is_found_by_its_name() -> None:
    assert {"random", "hunter", "density", "admiral", "slow", "rude"} <= {*found(BOTS)}
    assert all(issubclass(load(name), Bot) for name in found(BOTS))
