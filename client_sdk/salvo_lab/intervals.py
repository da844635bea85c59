"""Confidence intervals of a mean score. A score is 0..1, for a game or a pair of games."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev

#: Standard errors on either side that make 95 % of a normal distribution.
DEVIATIONS = 1.96


def percent(share: float) -> str:
    """Return a share as text, such as ``97.5%``, with four digits at most."""
    return f"{100 * share:.4g}%"


def rate_and_error(pairs: Sequence[float]) -> tuple[float, float]:
    """Return the mean score and half the width of its 95 % interval.

    As if two pairs more had been won and two lost (A. Agresti and B. Coull, 1998): who wins all of them may lose, too.
    """
    return fmean(pairs), _deviation([*pairs, 0, 0, 1, 1])


def change_and_error(new: Sequence[float], old: Sequence[float]) -> tuple[float, float]:
    """Return by how much the same pairs went better, and half the width of the 95 % interval.

    As if two pairs more had been played and half of that had changed, either way (A. Agresti and Y. Min, 2005): what
    has not changed yet may still.
    """
    moved = [after - before for after, before in zip(new, old, strict=True)]
    return fmean(moved), _deviation([*moved, -math.sqrt(0.5), math.sqrt(0.5)])


def _deviation(scores: Sequence[float]) -> float:
    return DEVIATIONS * stdev(scores) / math.sqrt(len(scores))
