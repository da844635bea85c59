"""Run with `pytest` in this folder: the bot plays twenty games, each twice."""

from bot import HuntAndTarget

from salvo_lab.testing import check_bot


def test_the_bot_plays_by_the_rules_and_repeats_a_game_with_its_seed() -> None:
    report = check_bot(HuntAndTarget)
    assert report.problems == []


def test_the_bot_beats_random_ones_more_often_than_not() -> None:
    report = check_bot(HuntAndTarget, games=20, opponents=1)
    assert report.wins > 10
