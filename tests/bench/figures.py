"""The table that comes out of a run, and how often something can be done in a second."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

Row = tuple[str, str, str]
ROWS: list[Row] = []


def row(what: str, figure: str, beside: str = "") -> None:
    """Take down a figure, and show it as it comes."""
    ROWS.append((what, figure, beside))
    print(f"{what:66} {figure:>22}   {beside}", flush=True)


def rate(act: Callable[[int], object], seconds: float) -> float:
    """How often ``act`` runs in a second of processor time; the best of three."""
    best = 0.0
    for _ in range(3):
        count, start = 0, time.process_time()
        while time.process_time() - start < seconds / 3:
            act(count)
            count += 1
        best = max(best, count / (time.process_time() - start))
    return best


def percentiles(taken: list[float]) -> tuple[float, float]:
    """p50 and p99 in milliseconds."""
    quantiles = statistics.quantiles(taken, n=100)
    return quantiles[49] * 1000, quantiles[98] * 1000
