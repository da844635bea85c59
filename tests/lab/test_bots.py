"""The bots that ship, in the arena."""

from __future__ import annotations

from collections import Counter

from salvo.bots.player import Bot
from salvo.rules import SALVO, generator
from salvo.view import Feed, View
from salvo_lab import arena
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot


def seen_by(bot: Bot, players: tuple[str, ...] = ("me", "you", "they")) -> View:
    bot.prepare("me", 1)
    view = View(SALVO, "me", players, 1, SALVO.random_fleet(generator(1)), bot.random)
    Feed(view).begin_turn(1, 5)
    return view


def test_the_hunter_turns_to_the_next_one_when_a_board_has_no_cell_left() -> None:
    """It gave its last shots up and waited for the deadline; found by the simulation."""
    hunter = Hunter()
    view = seen_by(hunter)
    Feed(view).fired(view.untouched.of("you"))
    assert {shot.player for shot in hunter.choose_salvo(view)} == {"they"}


def test_the_hunter_draws_among_equals_whoever_is_listed_first() -> None:
    """It kept to the first one listed, so that the second one won 93 games in 100 and the results looked rigged."""
    hunter = Hunter()
    view = seen_by(hunter)
    aimed = Counter(hunter.choose_salvo(view)[0].player for _ in range(60))
    assert min(aimed["you"], aimed["they"]) >= 15
    wins: Counter[str] = Counter()
    for game in range(1, 41):
        bots = {"first": RandomBot(), "second": RandomBot(), "hunter": Hunter()}
        wins[arena.play(bots, seed=7, game=game).winner] += 1
    assert wins["hunter"] >= 28
    assert abs(wins["first"] - wins["second"]) <= 6


def test_against_a_single_rival_the_hunter_draws_for_nothing_but_its_cells() -> None:
    """Games of two come out as they always did."""
    hunter = Hunter()
    view = seen_by(hunter, ("me", "you"))
    before = hunter.random.getstate()
    hunter.choose_salvo(view)
    after = hunter.random.getstate()
    hunter.random.setstate(before)
    for _ in range(100):
        hunter.random.random()
    assert hunter.random.getstate() == after
