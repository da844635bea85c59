"""How long a game will take, and how long one in play still will: turns by ruleset and number of teams.

All screens take it from :func:`time_left`, so that they show the same words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import exp, log
from statistics import NormalDist
from typing import Final, NamedTuple

from salvo.rules import RuleBook, Sinkings
from salvo.table_state import TableState

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
    "pomcp": {2: 87, 4: 190, 8: 380},
}
#: Standard deviation of the turns of a game of two to four, as a part of their mean; measured likewise.
SPREAD: Final = 0.22
#: With so many fleets afloat beside the strongest, and a ship for each team, one figure is within 30 % for most games;
#: with fewer, chance decides.
_ONE_FIGURE: Final = 1.75
#: What is left, as parts of that figure, in about four of five games with fewer; and with the last ones, or where
#: nobody learns what sinks, in two of three.
_FEW: Final = (0.5, 1.5)
_LAST: Final = (0.4, 2.0)


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


class TimeLeft(NamedTuple):
    """How long something will still take, in seconds.

    Attributes:
        low: equal to ``high`` where one figure is good enough.
    """

    low: float
    high: float

    def __str__(self) -> str:
        """Return it for people, such as ``about 4 minutes left`` or ``4 to 7 minutes left``."""
        if self.high < 60:
            return "less than a minute left"
        if self.low < 60:
            return f"less than {duration(60 * (self.high // 60 + 1))} left"
        unit, seconds, places = ("hours", 3600, 1) if self.high >= 90 * 60 else ("minutes", 60, 0)
        low, high = (f"{value / seconds:.{places}f}" for value in self)
        return f"about {duration(self.high)} left" if low == high else f"{low} to {high} {unit} left"


def time_left(book: RuleBook, afloat: Sequence[int], turns: int, turn_seconds: float) -> TimeLeft | None:
    """Return how long a game in play will still take; None where nobody knows, as by a ruleset of one's own.

    The more has sunk, the more counts what is afloat: a game of the teams that are still in takes its mean, by the part
    of the rivals' ships that is afloat to a power that was fitted to played games, near 1 for the last two of two teams
    and small among many, who have a long hunt for single ships. Before that counts the mean less the turns played.

    Args:
        afloat: ships, by team, of all that began; of a team that is out none, and as far as they are announced.
        turns: those that are over, of all teams.
        turn_seconds: how long a turn takes, with the pause after it.
    """
    teams, whole = len(afloat), len(book.fleet)
    still_in = max(2, sum(ships > 0 for ships in afloat))
    mean, rest = turns_of(book.name, teams) if teams > 1 else None, turns_of(book.name, still_in)
    if mean is None or rest is None:
        return None
    to_sink = max(1, sum(afloat) - max(afloat))
    unharmed = to_sink / whole / (teams - 1)
    by_ships = rest * (to_sink / whole / (still_in - 1)) ** (1 / still_in + 1 / teams)
    left = turn_seconds * (unharmed * max(mean - turns, by_ships / 4) + (1 - unharmed) * by_ships)
    announced = book.sinkings is Sinkings.TOLD
    if announced and (turns < mean / 2 if unharmed == 1 else to_sink >= max(_ONE_FIGURE * whole, teams)):
        return TimeLeft(left, left)
    low, high = _FEW if announced and to_sink > 2 else _LAST
    return TimeLeft(low * left, high * left)


def time_left_at(table: TableState) -> TimeLeft | None:
    """Return how long the game at a table will still take; None where none is played, or little is known of it."""
    turn, game = table.playing, table.game
    seconds = game.turn_seconds([name for name in table.names if name not in game.out])
    if turn is None or seconds is None:
        return None
    lost = Counter(player for player, _ in game.sunk)
    ships = len(table.book.fleet)
    afloat = [0 if name in game.out else max(0, ships - lost[name]) for name in table.names]
    return time_left(table.book, afloat, max(game.last_turn, turn.turn - 1), seconds)
