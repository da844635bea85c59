"""How long a game will take, before it is played: turns by ruleset and number of teams."""

from __future__ import annotations

from itertools import pairwise
from math import exp, log
from statistics import NormalDist
from typing import Final

#: Turns of a game, all teams together, by ruleset and number of teams: means of hunters against each other. Between
#: two numbers, and beyond the last, a power of the number of teams is close enough. Measured; a test plays some again.
TURNS: Final[dict[str, dict[int, int]]] = {
    "salvo": {2: 41, 3: 136, 4: 234, 5: 339, 6: 464, 7: 583, 8: 703, 12: 1250, 16: 1800, 32: 4650, 64: 12_000},
    "smackdown": {2: 38, 4: 170, 8: 520, 16: 1430, 64: 9300},
    "xbs": {2: 111, 4: 191, 8: 340, 16: 590, 64: 2370},
    "streak": {2: 109, 4: 225, 8: 467, 16: 930, 48: 2780},
    "alternate": {2: 112, 4: 227, 8: 466},
    "spaced": {2: 99, 4: 206, 8: 430},
    "standard": {2: 111, 4: 238, 8: 483},
    "apart": {2: 82, 4: 168, 8: 348},
    "scattered": {2: 81, 4: 173, 8: 354},
}
#: Standard deviation of the turns of a game of two to four, as a part of their mean; measured likewise.
SPREAD: Final = 0.22


def turns_of(rules: str, teams: int) -> int | None:
    """Return how many turns a game of two teams or more has; None where nobody knows, as by a ruleset of one's own."""
    known = TURNS.get(rules)
    if known is None:
        return None
    first, last = next((knots for knots in pairwise(known) if teams <= knots[1]), list(known)[-2:])
    power = log(known[last] / known[first]) / log(last / first)
    return round(known[first] * exp(power * log(teams / first)))


def longest(games: int) -> float:
    """Return how many times as long as a mean one the longest of some games is, which a round waits for."""
    if games < 2:
        return 1.0
    return 1 + SPREAD * NormalDist().inv_cdf((games - 0.375) / (games + 0.25))  # Blom's approximation


def duration(seconds: float) -> str:
    """Return a time for people."""
    minutes = round(seconds / 60)
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 3600:.1f} hours" if minutes >= 90 else f"{minutes} minutes" if minutes > 1 else "a minute"
