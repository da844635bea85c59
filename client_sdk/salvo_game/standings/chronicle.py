"""The results of a contest in their order, counted over all and by evening, however they come."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping
from typing import Final

from salvo import messages as m
from salvo_game.journal_interface import Result, ResultAnnulled, when
from salvo_game.standings.points_and_ratings import Counting, Meeting, Score

#: Between two results of different evenings (SALVO-STAND-5).
EVENING_GAP_MS: Final = 6 * 3_600_000
#: What is published at most of each: teams, and games that do not count.
MOST_ROWS: Final = 100
MOST_UNCOUNTED: Final = 40


class Standings:
    """The standings after some results.

    Attributes:
        results: in their order, also those that do not count.
    """

    def __init__(self) -> None:
        """Begin without results.

        Raises:
            MissingExtra: OpenSkill is not installed.
        """
        self.results: list[Result] = []
        self._counting = Counting(Score)

    def add(self, result: Result) -> None:
        """Count a result that is later than all before."""
        self.results.append(result)
        if result.counts:
            figures = zip(
                *((player.player, player.place, player.shots, player.hits) for player in result.players), strict=True
            )
            self._counting.add(*figures)

    @property
    def counted(self) -> int:
        """How many results count."""
        return sum(result.counts for result in self.results)

    @property
    def uncounted(self) -> list[Result]:
        """Those that do not count, in their order."""
        return [result for result in self.results if not result.counts]

    @property
    def meetings(self) -> Mapping[str, Mapping[str, Meeting]]:
        """What each team scored against each opponent."""
        return self._counting.meetings

    def ranked(self) -> list[Score]:
        """Return all teams, best first."""
        return self._counting.ranked()

    def shown(self) -> m.StandingsTable:
        """Return what is published of them."""
        ranked, uncounted = self.ranked(), self.uncounted[-MOST_UNCOUNTED:]
        return m.StandingsTable(
            since=self.results[0].at if self.results else 0,
            until=self.results[-1].at if self.results else 0,
            games=self.counted,
            teams=len(ranked),
            rows=tuple(map(_standing, ranked[:MOST_ROWS])),
            uncounted=tuple(
                m.Uncounted(each.table, each.number, each.at, each.annulled_by or "") for each in uncounted
            ),
        )


def _standing(score: Score) -> m.Standing:
    rating = score.rating
    worth = (score.points, score.opposition, rating.mu, rating.low, rating.high)
    points, opposition, mu, low, high = (round(1000 * each) for each in worth)
    counts = (score.games, score.wins, score.ties, score.losses)
    return m.Standing(score.place, score.name, points, *counts, opposition, score.shots, score.hits, mu, low, high)


class Chronicle:
    """All results, and the standings after them.

    A result that is later than all before is counted on top of them; anything else has all of them counted anew, which
    takes half a second for five thousand games.

    Attributes:
        results: all, in their order.
    """

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self.results = sorted(results, key=when)
        self._counted: tuple[Standings, Standings] | None = None

    def add(self, result: Result) -> None:
        """Take a result."""
        insort(self.results, result, key=when)
        if self._counted is not None and result is self.results[-1]:
            self._count(result)
        else:
            self._counted = None

    def annul(self, annulled: ResultAnnulled) -> None:
        """Let the latest result that is meant no longer count, if there is one and it still does."""
        for place, result in reversed(list(enumerate(self.results))):
            same = (result.table, result.number) == (annulled.table, annulled.number)
            if same and result.at <= annulled.at:
                if result.annulled_at is None:
                    self.results[place] = result._replace(annulled_at=annulled.at, annulled_by=annulled.by)
                    self._counted = None
                return

    def standings(self) -> tuple[Standings, Standings]:
        """Return the standings of the latest evening and over all.

        Raises:
            MissingExtra: OpenSkill is not installed.
        """
        if self._counted is None:
            first = Standings()
            self._counted = first, first
            for result in self.results:
                self._count(result)
        return self._counted

    def _count(self, result: Result) -> None:
        assert self._counted is not None
        evening, overall = self._counted
        if overall.results and result.at - overall.results[-1].at >= EVENING_GAP_MS:
            evening = Standings()
        self._counted = evening, overall
        overall.add(result)
        if evening is not overall:  # it is no longer the first one
            evening.add(result)

    def shown(self) -> m.StandingsShown:
        """Return what is published.

        Raises:
            MissingExtra: OpenSkill is not installed.
        """
        evening, overall = self.standings()
        return m.StandingsShown(evening.shown(), overall.shown())
