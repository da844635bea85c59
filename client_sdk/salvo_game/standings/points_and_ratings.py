"""Counts games one by one: points, the table, who beat whom, and OpenSkill ratings with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Generic, TypeVar

from salvo.errors import MissingExtra

#: The middle 95 % of a normal distribution, in standard deviations to either side.
_INTERVAL: Final = 1.96


@dataclass(frozen=True, slots=True)
class Rating:
    """How good somebody is by OpenSkill, where all begin at 25 +- 8.33; low..high is a 95 % interval."""

    mu: float = 25.0
    sigma: float = 25.0 / 3

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mu - _INTERVAL * self.sigma

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mu + _INTERVAL * self.sigma


@dataclass(slots=True)
class Score:
    """A line of the table.

    Attributes:
        points: 1 a win, 1/2 a tie of two; among n players for each that is beaten 1/(n-1), half that for a tie.
        opposition: the points of the opponents of all games, which decide between equal points.
    """

    name: str
    place: int = 0
    points: float = 0.0
    games: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0
    opposition: float = 0.0
    shots: int = 0
    hits: int = 0
    rating: Rating = field(default_factory=Rating)


@dataclass(slots=True)
class Meeting:
    """What one scored against another: games, and points of 1 for each in which it was placed better."""

    games: int = 0
    points: float = 0.0

    @property
    def lean(self) -> str:
        """The class of its cell in a table: ``even`` at half of the points, else ``w1``..``w5`` or ``l1``..``l5``."""
        lean = round(5 * (2 * self.points / self.games - 1))
        return f"{'w' if lean > 0 else 'l'}{abs(lean)}" if lean else "even"


def points_of(places: Sequence[int]) -> list[float]:
    """Return what each seat of a game gets: the share of the others that it is placed before, a tie is half."""
    others = len(places) - 1
    return [
        sum((1.0 if own < other else 0.5) for seat, other in enumerate(places) if seat != mine and own <= other)
        / others
        for mine, own in enumerate(places)
    ]


_Score = TypeVar("_Score", bound=Score)


class Counting(Generic[_Score]):
    """Games that are counted, in their order.

    Attributes:
        scores: by name; places and opposition are those of the latest :meth:`ranked`.
        meetings: by name and opponent; of those who never met, one of no games.
    """

    def __init__(self, make: Callable[[str], _Score], names: Iterable[str] = ()) -> None:
        """Begin without games.

        Args:
            make: returns the score of somebody who has no games.
            names: who is listed without a game; the others are when they have one.

        Raises:
            MissingExtra: OpenSkill is not installed.
        """
        self._model = plackett_luce()
        self._make = make
        self._ratings: dict[str, Any] = {}
        self.scores: dict[str, _Score] = {}
        self.meetings: dict[str, defaultdict[str, Meeting]] = {}
        for name in names:
            self._enter(name)

    def _enter(self, name: str) -> _Score:
        if name not in self.scores:
            self.scores[name] = self._make(name)
            self.meetings[name] = defaultdict(Meeting)
            self._ratings[name] = self._model.rating(name=name)
        return self.scores[name]

    def add(self, names: Sequence[str], places: Sequence[int], shots: Sequence[int], hits: Sequence[int]) -> None:
        """Count a game of two or more; all arguments are by seat."""
        firsts = places.count(1)
        figures = zip(names, places, points_of(places), shots, hits, strict=True)
        for name, place, points, shot, hit in figures:
            score = self._enter(name)
            score.points += points
            score.games += 1
            score.wins += place == 1 and firsts == 1
            score.ties += place == 1 and firsts > 1
            score.losses += place > 1
            score.shots += shot
            score.hits += hit
            for other, others in zip(names, places, strict=True):
                if other != name:
                    met = self.meetings[name][other]
                    met.games += 1
                    met.points += 1.0 if place < others else 0.5 * (place == others)
        rated = self._model.rate([[self._ratings[name]] for name in names], ranks=[float(place) for place in places])
        for name, [rating] in zip(names, rated, strict=True):
            self._ratings[name] = rating
            self.scores[name].rating = Rating(float(rating.mu), float(rating.sigma))

    def ranked(self) -> list[_Score]:
        """Return all scores, best first, with their places."""
        scores = self.scores
        for name, score in scores.items():
            score.opposition = sum(met.games * scores[other].points for other, met in self.meetings[name].items())
        ordered = sorted(scores.values(), key=lambda score: (*(-each for each in _worth(score)), -score.rating.mu))
        above: _Score | None = None
        for number, score in enumerate(ordered, start=1):
            score.place = above.place if above is not None and _worth(above) == _worth(score) else number
            above = score
        return ordered


def _worth(score: Score) -> tuple[float, float]:
    return round(score.points, 6), round(score.opposition, 6)


def score_record(score: Score) -> dict[str, Any]:
    """Return what programs are told of a score, without the name."""
    rating = score.rating
    figures = {each.name: getattr(score, each.name) for each in fields(Score) if each.name not in ("name", "rating")}
    return figures | {"rating": {"mu": rating.mu, "sigma": rating.sigma, "low": rating.low, "high": rating.high}}


def score_cells(score: Score, *own: str, decimals: int | None = None) -> tuple[str, ...]:
    """Return the cells of a score in a table for people.

    Args:
        own: cells of this table alone, before the rating.
        decimals: of the points; None for as many as they have, up to six digits in all.
    """
    points = score.points if decimals is None else round(score.points, decimals)
    counts = (score.games, score.wins, score.ties, score.losses)
    rating = score.rating
    interval = f"{rating.low:.2f}..{rating.high:.2f}"
    return (str(score.place), score.name, f"{points:.6g}", *map(str, counts), *own, f"{rating.mu:.2f}", interval)


def plackett_luce() -> Any:
    """Return OpenSkill's model for players who do not change: nothing is added to what is unknown of them.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        from openskill.models import PlackettLuce
    except ModuleNotFoundError:
        raise MissingExtra("rating teams", "tournament") from None
    return PlackettLuce(tau=0.0)
