"""Which lost games are worth looking at, and what a change of a few games is worth."""

from __future__ import annotations

from salvo_lab.highlights import DuelSummary, LostGame, lost_by_least, lost_by_most, lost_since
from salvo_lab.intervals import change_and_error

WON = DuelSummary(1, 1.0, 17, 9)
FAR, AGAIN, NEAR = DuelSummary(2, 0.0, 4, 17), DuelSummary(3, 0.0, 4, 17), DuelSummary(4, 0.0, 16, 17)
TIED, FAILED = DuelSummary(5, 0.5, 17, 17), DuelSummary(6, 0.0, 0, 17, failed=True)


def test_the_first_games_lost_by_most_and_by_least_are_chosen() -> None:
    scores = [WON, FAR, AGAIN, NEAR, TIED, FAILED]
    assert lost_by_most(scores) == LostGame("lost by most", FAR)
    assert lost_by_least(scores) == LostGame("lost by least", NEAR)
    assert LostGame("lost by most", FAR).in_words == "lost by most, 4 hits to 17"


def test_without_a_lost_game_none_is_shown() -> None:
    assert lost_by_most([WON, TIED, FAILED]) is None
    assert lost_by_least([]) is None
    assert lost_since([WON, FAR], [FAR, FAR]) is None


def test_the_lost_game_shown_is_the_one_that_was_won_by_most_before() -> None:
    won_high, won_low = DuelSummary(1, 1.0, 17, 0), DuelSummary(2, 1.0, 17, 16)
    now = [DuelSummary(1, 0.0, 8, 17), DuelSummary(2, 0.0, 7, 17), FAR]
    assert lost_since(now, [won_high, won_low, FAR]) == LostGame("won before, lost now", now[0])


def test_a_few_equal_changes_between_paired_games_leave_a_wide_error() -> None:
    moved, unsure = change_and_error([1.0, 1.0], [0.5, 0.5])
    assert (moved, unsure > 0.5) == (0.5, True)
    moved, unsure = change_and_error([0.75, 0.5] * 100, [0.25, 0.5] * 100)
    assert (moved, 0 < unsure < 0.05) == (0.25, True)
