"""How long a game and a league will take: counted by playing, and written into a file that keeps to it."""

from __future__ import annotations

from statistics import mean

import pytest

from kit.lengths import turns, turns_of_game
from salvo.rules import BOOKS
from salvo_server.game_lengths import TURNS, longest, turns_of


@pytest.mark.long
@pytest.mark.parametrize(
    ("rules", "teams", "games"),
    [*((rules, 2, 5) for rules in BOOKS), ("salvo", 3, 5), ("salvo", 6, 2), ("xbs", 4, 2)],
)
def test_games_have_about_as_many_turns_as_documented(rules: str, teams: int, games: int) -> None:
    assert turns(rules, teams, games) == pytest.approx(turns_of(rules, teams), rel=0.2)


def test_every_ruleset_has_its_lengths_and_one_of_ones_own_has_none() -> None:
    assert TURNS.keys() == BOOKS.keys()
    assert turns_of("mine", 3) is None
    for rules in BOOKS:
        counted = [turns_of(rules, teams) or 0 for teams in range(2, 65)]
        assert counted == sorted(set(counted)), "more teams, more turns"


@pytest.mark.long
def test_a_round_is_as_long_as_the_longest_of_its_games() -> None:
    lengths = [turns_of_game(3, seed) for seed in range(30)]
    for games in (1, 2, 3):
        rounds = [max(lengths[first : first + games]) for first in range(0, 30, games)]
        assert mean(rounds) / mean(lengths) == pytest.approx(longest(games), rel=0.1)
