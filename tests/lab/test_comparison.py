"""Which of two bots is better: the test, how often it errs, and games for it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

from salvo.rules import generator
from salvo.view import Shot, View
from salvo_lab.bots.hunter import Hunter
from salvo_lab.bots.random_bot import RandomBot
from salvo_lab.comparison import STAKES, Comparison, SequentialTest, Verdict, compare, log_capital


def _pairs(seed: int, chance: float) -> Iterator[float]:
    """Scores of pairs of a bot that wins each game with a chance."""
    random = generator("pairs", seed).random
    while True:
        yield ((random() < chance) + (random() < chance)) / 2


def _judged(pairs: Iterator[float], margin: float | None = 0.02, most: int = 4000) -> SequentialTest:
    test = SequentialTest(0.05, margin)
    for score in itertools.islice(pairs, most):
        test.add(score)
        if test.is_decided:
            break
    return test


def test_a_bet_against_the_truth_gains_nothing_on_average() -> None:
    """What Ville's inequality needs: the expected capital after a pair is what it was before."""
    for mean in (0.1, 0.5, 0.8):
        for scores in ({0.0: 1 - mean, 1.0: mean}, {0.5: 1.0} if mean == 0.5 else {mean: 1.0}):
            for stake in STAKES:
                expected = sum(chance * (1 + stake * (score - mean) / mean) for score, chance in scores.items())
                assert math.isclose(expected, 1)
                assert all(1 + stake * (score - mean) / mean > 0 for score in (0.0, 1.0))
    assert log_capital({}, 0.5) == 0
    assert math.isclose(log_capital({1.0: 1}, 0.5), math.log(sum(1 + stake for stake in STAKES) / len(STAKES)))


def test_a_bot_that_wins_60_percent_is_judged_better_and_an_equal_one_is_not() -> None:
    better = [_judged(_pairs(seed, 0.6)).verdict for seed in range(8)]
    worse = [_judged(_pairs(seed, 0.4)).verdict for seed in range(4)]
    equal = [_judged(_pairs(seed, 0.5), most=800).verdict for seed in range(10)]
    assert better == [Verdict.BETTER] * 8
    assert worse == [Verdict.WORSE] * 4
    assert equal.count(Verdict.UNDECIDED) >= 9


# --- with games ---------------------------------------------------------------------------------------------------


class Mixed(Hunter):
    """Hunts in some games; which ones, it draws."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        if view.turn <= 2:
            self.hunts = self.random.random() < 0.2
        return super().choose_salvo(view) if self.hunts else view.untouched.sample(view.shots)


def _compared(jobs: int, **arguments: Any) -> Comparison:
    return compare(Mixed, RandomBot, seed=5, jobs=jobs, **arguments)


def test_the_better_bot_is_found_with_whatever_number_of_processes() -> None:
    found = [_compared(jobs) for jobs in (0, 2)]
    assert found[0] == found[1]
    assert (found[0].bots, found[0].verdict) == (("Mixed", "RandomBot"), Verdict.BETTER)
    assert 0.5 <= found[0].low <= found[0].rate <= found[0].high
    assert found[0].games == 2 * sum(found[0].pairs.values()) < 2000
    assert found[0].games_needed == 0
    assert math.isclose(found[0].error, 0.05)


def test_a_bot_is_equal_to_itself() -> None:
    found = compare("random", "random", seed=1, margin=0.05, jobs=2)
    assert (found.verdict, found.within_margin, found.games_needed) == (Verdict.UNDECIDED, True, 0)
    assert found.in_words.startswith(
        "random is as good as random-2, within 5 points: it wins between 45% and 55% of games;"
    )
    few = compare("random", "random", seed=1, games=101, jobs=0)
    assert (few.verdict, few.within_margin, few.games) == (Verdict.UNDECIDED, False, 100)
    assert few.games_needed is None or few.games_needed > 100
