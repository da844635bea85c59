"""How long a game and a league will take: counted by playing, and written into a file that keeps to it."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

import pytest

from kit.lengths import mixed_game, turns, turns_of_game
from salvo.rules import BOOKS, SALVO
from salvo_server.spectators.game_lengths import TURNS, TimeLeft, longest, time_left, turns_of


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


@pytest.mark.parametrize(
    ("teams", "games"),
    [(2, 16), pytest.param(4, 10, marks=pytest.mark.long), pytest.param(8, 4, marks=pytest.mark.long)],
)
def test_three_of_four_games_in_play_last_as_long_as_shown(teams: int, games: int) -> None:
    """As measured with 200 games; nobody can foresee more, since chance decides how long the last ships are hunted."""
    right = []
    for game in (mixed_game(teams, seed) for seed in range(games)):
        for part in (0.25, 0.5, 0.75):
            turns = int(part * len(game.results))
            left = time_left(SALVO, game.afloat(turns, len(SALVO.fleet)), turns, 1.0)
            assert left is not None
            assert left.high <= 5 * left.low
            low, high = left if left.low < left.high else (0.7 * left.low, 1.43 * left.high)
            right.append(low <= len(game.results) - turns <= high)
    assert sum(right) >= 0.75 * len(right)


@pytest.mark.parametrize(
    ("afloat", "turns", "seconds", "words"),
    [
        ((5,) * 12, 0, 0.8, "about 17 minutes left"),
        ((5,) * 11 + (3,), 60, 0.8, "about 16 minutes left"),
        ((2, 2, 2, 1) + (0,) * 8, 900, 0.8, "1 to 4 minutes left"),
        ((3, 2), 20, 10.0, "1 to 6 minutes left"),
        ((1, 1), 40, 1.0, "less than a minute left"),
        ((5, 5), 10**6, 10.0, "less than 3 minutes left"),
    ],
)
def test_how_long_a_game_lasts_follows_what_is_afloat(
    afloat: tuple[int, ...], turns: int, seconds: float, words: str
) -> None:
    assert str(time_left(SALVO, afloat, turns, seconds)) == words


def test_of_a_ruleset_of_ones_own_nobody_knows_how_long_a_game_lasts() -> None:
    assert time_left(replace(SALVO, name="mine"), (5, 5), 3, 1.0) is None
    assert time_left(SALVO, (5,), 3, 1.0) is None


def test_where_nobody_learns_what_sinks_a_range_is_shown() -> None:
    left = time_left(BOOKS["smackdown"], (5, 5), 3, 60.0)
    assert str(left) == "14 to 70 minutes left"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0, 59, "less than a minute left"),
        (60, 60, "about a minute left"),
        (59, 60, "less than 2 minutes left"),
        (240, 240, "about 4 minutes left"),
        (235, 245, "about 4 minutes left"),
        (240, 420, "4 to 7 minutes left"),
        (7200, 7200, "about 2.0 hours left"),
        (3600, 10_800, "1.0 to 3.0 hours left"),
    ],
)
def test_the_words_for_how_long_something_lasts(low: float, high: float, words: str) -> None:
    assert str(TimeLeft(low, high)) == words
