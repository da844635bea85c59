"""Which lost games are worth looking at, and what a change of a few games is worth."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from salvo.cli import output
from salvo.cli.output import progress_bar
from salvo_lab.commands.compare import compare
from salvo_lab.commands.dev_bench import Bench, Failed, saved
from salvo_lab.commands.play import play
from salvo_lab.highlights import Lost, Score, lost_by_least, lost_by_most, lost_since, score_of
from salvo_lab.intervals import change_and_error
from salvo_lab.simulation import simulate

WON = Score(1, 1.0, 17, 9)
FAR, AGAIN, NEAR = Score(2, 0.0, 4, 17), Score(3, 0.0, 4, 17), Score(4, 0.0, 16, 17)
TIED, FAILED = Score(5, 0.5, 17, 17), Score(6, 0.0, 0, 17, failed=True)


def test_the_first_of_those_lost_by_most_and_by_least() -> None:
    scores = [WON, FAR, AGAIN, NEAR, TIED, FAILED]
    assert lost_by_most(scores) == Lost("lost by most", FAR)
    assert lost_by_least(scores) == Lost("lost by least", NEAR)
    assert Lost("lost by most", FAR).in_words == "lost by most, 4 hits to 17"


def test_where_nothing_is_lost_there_is_nothing_to_see() -> None:
    assert lost_by_most([WON, TIED, FAILED]) is None
    assert lost_by_least([]) is None
    assert lost_since([WON, FAR], [FAR, FAR]) is None


def test_what_was_won_and_is_lost_now_fell_deepest_by_its_lead() -> None:
    won_high, won_low = Score(1, 1.0, 17, 0), Score(2, 1.0, 17, 16)
    now = [Score(1, 0.0, 8, 17), Score(2, 0.0, 7, 17), FAR]
    assert lost_since(now, [won_high, won_low, FAR]) == Lost("won before, lost now", now[0])


def test_a_score_is_what_the_game_was() -> None:
    for game in simulate(["hunter", "random"], games=6, jobs=0):
        mine, other = score_of(game, "hunter"), score_of(game, "random")
        assert (mine.worth, other.worth) == ((1.0, 0.0) if game.winner == "hunter" else (0.0, 1.0))
        assert (mine.hits, mine.rival_hits, mine.lead) == (other.rival_hits, other.hits, -other.lead)
        assert max(mine.hits, other.hits) == 17


def test_few_pairs_that_all_moved_alike_are_no_certainty() -> None:
    moved, unsure = change_and_error([1.0, 1.0], [0.5, 0.5])
    assert (moved, unsure > 0.5) == (0.5, True)
    moved, unsure = change_and_error([0.75, 0.5] * 100, [0.25, 0.5] * 100)
    assert (moved, 0 < unsure < 0.05) == (0.25, True)


def test_dev_says_how_far_it_is_before_the_first_game_is_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "PROGRESS_SECONDS", 0)
    bot = tmp_path / "mine.py"
    bot.write_text("import salvo\n@salvo.bot\ndef fire(view):\n    while True:\n        pass\n")
    trial = Bench(str(bot), [("random", "random")], 4, "salvo", "dev", 1, 0.5).play(saved(bot, None))
    assert trial is not None
    assert isinstance(trial.wrong, Failed)
    assert "games: 0 of 4 after 0 s" in capsys.readouterr().err.splitlines()


@pytest.mark.long
@pytest.mark.parametrize("words", [(play, "--games", "2"), (compare, "--games", "2")], ids=["play", "compare"])
def test_many_games_say_how_far_they_are_before_the_first_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[click.Command, *tuple[str, ...]]
) -> None:
    monkeypatch.setattr(output, "PROGRESS_SECONDS", 0)
    bot = tmp_path / "mine.py"
    bot.write_text("import salvo\n@salvo.bot\ndef fire(view):\n    while True:\n        pass\n")
    command, *options = words
    options += ["--turn-seconds", "0.5", "--jobs", "1", "--seed", "1"]
    done = CliRunner().invoke(command, [str(bot), "random", *options], catch_exceptions=False)
    assert done.exit_code == (command.name == "compare")  # which has no verdict on a bot that hangs
    assert "games: 0 of 2 after 0 s" in done.stderr.splitlines()


def test_a_long_run_says_every_ten_seconds_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    ticks = count(0, 4)
    with progress_bar(2000, "games", plain=True, clock=lambda: next(ticks)) as show:
        for done in range(100, 1100, 100):
            show(done, "48.0% won" if done > 300 else "")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "games: 300 of 2,000 after 12 s",
        "games: 600 of 2,000 after 24 s; 48.0% won",
        "games: 900 of 2,000 after 36 s; 48.0% won",
    ]
