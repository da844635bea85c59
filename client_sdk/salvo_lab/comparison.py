"""Whether one bot is better than another, in as few games as it takes: :func:`compare`.

Games are played in pairs: the same two fleets and the same first seat twice, with the sides exchanged, as chess engines
are tested with paired openings. The score of a pair for the first bot is one of 0, 1/4, 1/2, 3/4, 1 (a win is 1,
a tie 1/2, the mean of both games); pairs, not games, are what the test counts, so luck of the fleets is no evidence.

The test is sequential and can be looked at after every pair. It bets against a claim such as "the mean is at most 1/2":
from a capital of 1 it stakes on every pair, and a bet against a true claim ever multiplies the capital by 1/error with
a probability of at most ``error`` (Ville's inequality). It involves no approximation by a normal distribution, and no
number of games is too small. The stakes are a fixed mixture, so the capital depends only on how often each of the five
values came. Source: I. Waudby-Smith and A. Ramdas, Estimating means of bounded random variables by betting, Journal of
the Royal Statistical Society B 86 (2024), 1-27; J. Ville, Etude critique de la notion de collectif, 1939. A classic
sequential probability ratio test (A. Wald, 1945) is the bet with one stake; the mixture needs no guess at the
difference.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from salvo.bots.player import Bot
from salvo.errors import BotError
from salvo.rules import RuleBook
from salvo_lab.arena import Failure
from salvo_lab.highlights import DuelSummary, LostGame, lost_by_least, lost_by_most, score_of
from salvo_lab.intervals import percent
from salvo_lab.simulation import Seats, stream
from salvo_lab.time_limits import TURN_SECONDS

if TYPE_CHECKING:
    from salvo_lab.cluster import Cluster

#: The chance that any verdict is wrong, unless a caller says otherwise.
ERROR = 0.05
#: Shares of the largest stake that cannot lose everything. The middle ones are best for differences of some per cent.
STAKES = (0.02, 0.06, 0.15, 0.3, 0.6, 0.9)
#: More games than this count as never.
MAX_NEEDED = 10_000_000

#: Number of pairs by score; scores are 0..1.
Scores = Mapping[float, float]


class Verdict(StrEnum):
    """What is known of the first bot."""

    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"


def log_capital(scores: Scores, mean: float) -> float:
    """Return the logarithm of a bet's capital, against "the mean score is at most ``mean``", starting from 1.

    Args:
        mean: above 0 and below 1.
    """
    logs = [
        math.fsum(count * math.log1p(stake * (score - mean) / mean) for score, count in scores.items())
        for stake in STAKES
    ]
    largest = max(logs)
    return largest + math.log(math.fsum(math.exp(log - largest) for log in logs) / len(logs))


def mirrored(scores: Scores) -> dict[float, float]:
    """Return the scores of the other bot."""
    return {1 - score: count for score, count in scores.items()}


def interval(scores: Scores, error: float) -> tuple[float, float]:
    """Return bounds of the mean score.

    They hold at all times simultaneously with a probability of at least 1 - ``error``, so stopping is allowed any time.
    """
    return _lower(scores, error / 2), 1 - _lower(mirrored(scores), error / 2)


def _lower(scores: Scores, error: float) -> float:
    low, high = 1e-9, 1 - 1e-9
    if log_capital(scores, low) < -math.log(error):
        return 0.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if log_capital(scores, middle) >= -math.log(error) else (low, middle)
    return low


@dataclass(slots=True)
class SequentialTest:
    """Judges pairs one by one.

    Both verdicts are wrong with a probability of at most ``error`` together, at whatever pair it stops.

    Attributes:
        error: 0..1, both excluded.
        margin: also stop when the mean is certainly within 1/2 +- margin, which is wrong with at most ``error``; None
            never does.
        scores: number of pairs by score.
    """

    error: float = 0.05
    margin: float | None = None
    scores: Counter[float] = field(default_factory=Counter)

    def add(self, score: float) -> None:
        """Count a pair: 0, 1/4, 1/2, 3/4 or 1."""
        self.scores[score] += 1

    @property
    def pairs(self) -> int:
        """How many pairs were counted."""
        return self.scores.total()

    @property
    def mean(self) -> float:
        """The mean score, the first bot's win rate; 1/2 before the first pair."""
        return math.fsum(score * count for score, count in self.scores.items()) / self.pairs if self.pairs else 0.5

    @property
    def verdict(self) -> Verdict:
        """The verdict of the pairs so far."""
        if _is_above(self.scores, 0.5, self.error / 2):
            return Verdict.BETTER
        if _is_above(mirrored(self.scores), 0.5, self.error / 2):
            return Verdict.WORSE
        return Verdict.UNDECIDED

    @property
    def is_within_margin(self) -> bool:
        """Whether the bots certainly differ by less than the margin."""
        return self.margin is not None and _is_within(self.scores, self.margin, self.error)

    @property
    def is_decided(self) -> bool:
        """Whether no more pairs are needed."""
        return self.verdict is not Verdict.UNDECIDED or self.is_within_margin

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds of the win rate, see :func:`interval`."""
        return interval(self.scores, self.error)

    def pairs_needed(self) -> int | None:
        """Return how many more pairs like these would decide; None for more than ten million.

        This is an estimate: near 1/2, the mean is hardly known.
        """
        if not self.pairs:
            return None

        def decides(factor: float) -> bool:
            scaled = {score: count * factor for score, count in self.scores.items()}
            grown = SequentialTest(self.error, self.margin, Counter(scaled))
            return grown.is_decided

        low, high = 1.0, 2.0
        if decides(low):
            return 0
        while not decides(high):
            low, high = high, 2 * high
            if high * self.pairs > MAX_NEEDED:
                return None
        while (high - low) * self.pairs > 1:
            middle = (low + high) / 2
            low, high = (low, middle) if decides(middle) else (middle, high)
        return math.ceil((high - 1) * self.pairs)


def _is_above(scores: Scores, mean: float, error: float) -> bool:
    return log_capital(scores, mean) >= -math.log(error)


def _is_within(scores: Scores, margin: float, error: float) -> bool:
    # Both claims must be refuted, so they need not share the error.
    return _is_above(scores, 0.5 - margin, error) and _is_above(mirrored(scores), 0.5 - margin, error)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of :func:`compare`, from the first bot's point of view.

    Attributes:
        verdict: wrong with a probability of at most ``error`` if it is better or worse.
        within_margin: it was stopped because the bots differ by less than the margin; the same error.
        games: played and counted, an even number.
        rate: the first bot's win rate, 0..1; a tie is half a win.
        low: bound of the win rate, with the same error.
        high: likewise.
        games_needed: how many more would probably decide; 0 when it is decided, None for more than ten million.
        pairs: number of pairs by score.
        failures: of both bots; a game with one counts as it ended.
        lost: the first bot's lost games that are worth a look: that with the largest margin, and that with the
            smallest.
    """

    bots: tuple[str, str]
    verdict: Verdict
    within_margin: bool
    games: int
    rate: float
    low: float
    high: float
    error: float
    margin: float | None
    games_needed: int | None
    seed: int | str
    pairs: dict[float, int]
    failures: tuple[Failure, ...]
    lost: tuple[LostGame, ...] = ()

    @property
    def in_words(self) -> str:
        """The verdict as a sentence, with its error."""
        name, other = self.bots
        if self.verdict is not Verdict.UNDECIDED:
            return f"{name} is {self.verdict} than {other}; {self._wrong}"
        if self.within_margin:
            margin = self.margin or 0.0
            low, high = percent(0.5 - margin), percent(0.5 + margin)
            wins = f"it wins between {low} and {high} of games"
            return f"{name} is as good as {other}, within {100 * margin:g} points: {wins}; {self._wrong}"
        more = "millions of" if self.games_needed is None else f"about {self.games_needed:,}"
        return f"undecided: {more} more games would probably be needed"

    @property
    def _wrong(self) -> str:
        return f"the chance that this is wrong is at most {percent(self.error)}"


def compare(
    first: str | type[Bot],
    second: str | type[Bot],
    *,
    games: int = 20_000,
    seed: int | str = 0,
    rules: RuleBook | str = "salvo",
    confidence: float = 1 - ERROR,
    margin: float | None = 0.02,
    jobs: int | None = None,
    turn_seconds: float = TURN_SECONDS,
    progress: Callable[[SequentialTest], object] | None = None,
    waiting: Callable[[], object] | None = None,
    cluster: Cluster | None = None,
) -> Comparison:
    """Find out whether the first bot is better than the second, in as few games as it takes.

    The same seed gives the same answer, whatever the number of processes. Bots that place their fleets deliberately
    keep them; all others play the same two fleets from both sides.

    Args:
        games: at most this many.
        confidence: 1 - error, above 0.5 and below 1.
        margin: smaller differences of the win rate from 1/2 do not matter, above 0 and below 0.5; None looks for any.
        progress: called after every pair.
        waiting: as in :func:`salvo_lab.simulation.stream`.
        cluster: as in :func:`salvo_lab.simulation.simulate`.

    Raises:
        BotError: ``bad_comparison``: a number out of range; else as in :func:`salvo_lab.simulation.simulate`.
    """
    if not 0.5 < confidence < 1:
        raise BotError("bad_comparison", f"confidence {confidence!r}; above 0.5 and below 1")
    if margin is not None and not 0 < margin < 0.5:
        raise BotError("bad_comparison", f"margin {margin!r}; above 0 and below 0.5")
    if games < 2:
        raise BotError("bad_comparison", f"games {games!r}; 2 or more, since they are played in pairs")
    test = SequentialTest(1 - confidence, margin)
    names: tuple[str, str] | None = None
    failures: list[Failure] = []
    scores: list[DuelSummary] = []
    played = stream(
        [first, second],
        games=games // 2 * 2,
        seed=seed,
        rules=rules,
        jobs=jobs,
        seats=Seats.PAIRED,
        turn_seconds=turn_seconds,
        waiting=waiting,
        cluster=cluster,
    )
    with closing(played):
        for game in played:
            names = names or (next(iter(game.stats)), list(game.stats)[1])
            failures += game.failures
            scores.append(score_of(game, names[0]))
            if len(scores) % 2:
                continue
            test.add((scores[-2].worth + scores[-1].worth) / 2)
            if progress is not None:
                progress(test)
            if test.is_decided:
                break
    assert names is not None
    low, high = test.interval
    needed = test.pairs_needed()
    return Comparison(
        names,
        test.verdict,
        test.is_within_margin,
        2 * test.pairs,
        test.mean,
        low,
        high,
        test.error,
        margin,
        None if needed is None else 2 * needed,
        seed,
        dict(sorted(test.scores.items())),
        tuple(failures),
        _worth_seeing(scores),
    )


def _worth_seeing(scores: Sequence[DuelSummary]) -> tuple[LostGame, ...]:
    most, least = lost_by_most(scores), lost_by_least(scores)
    if most is None or least is None:
        return ()
    return (most,) if most.score == least.score else (most, least)
