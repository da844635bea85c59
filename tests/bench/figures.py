"""The table that comes out of a run, how often something can be done in a second, and how far figures spread."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import NamedTuple

Row = tuple[str, str, str]
ROWS: list[Row] = []


def row(what: str, figure: str, beside: str = "") -> None:
    """Take down a figure, and show it as it comes."""
    ROWS.append((what, figure, beside))
    print(f"{what:66} {figure:>22}   {beside}", flush=True)


class Spread(NamedTuple):
    """A figure of several rounds of one run."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread:
        """Sum rounds up."""
        return cls(min(figures), statistics.median(figures), max(figures))

    def written(self, unit: str, digits: int = 2) -> str:
        """The median, and from where to where the rounds are."""
        low, median, high = (f"{figure:,.{digits}f}" for figure in self)
        return f"{median} {unit} ({low} to {high})"

    def at_most(self, goal: float, unit: str = "x") -> str:
        """A goal, which is missed where all rounds are beyond it."""
        return f"goal: at most {goal:g} {unit}, {_verdict(self.median <= goal, self.low <= goal)}"

    def at_least(self, goal: float, unit: str = "x") -> str:
        """The same from below."""
        return f"goal: at least {goal:g} {unit}, {_verdict(self.median >= goal, self.high >= goal)}"


def _verdict(met: bool, reached: bool) -> str:
    return "met" if met else "within the spread" if reached else "missed"


def percentiles(taken: list[float]) -> tuple[float, float]:
    """p50 and p99 in milliseconds."""
    quantiles = statistics.quantiles(taken, n=100)
    return quantiles[49] * 1000, quantiles[98] * 1000
