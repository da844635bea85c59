"""Why a game of two ended as it did: the winner's lead in hits, in parts that add up to it.

For each player, A is the number of shots that its turns allowed, U those left unfired, P the expected hits of its shots
on fresh cells, E those including repeated shots, and H its hits (:mod:`.explain`). Its shots promised r = P /
(A - U) each, so H = r (A - U) + (E - P) + (H - E). The difference of a product is split evenly between its factors, and
the lead of one player over the other is

    shooting  the difference of r, times the mean of A - U: shots that were aimed better, or by better knowledge
    shots     the difference of A, times the mean of r: more turns, or more ships to fire with
    unfired   the difference of U, times the mean of r: negative for the player that left more
    repeats   the difference of E - P: hits on cells that were fired at before
    luck      the difference of H - E

How close shots were to the best ones is no factor here: a good shot that is left still exists in the next turn, which
would make the player's chances look better.

This is an account of one game, and says nothing about others: the luckier player shoots no worse in the next. A fleet
that is hard to find is bad luck for its seeker; :func:`clearing_cost` says how hard it is to find for a neutral bot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, hypot
from typing import Final, NamedTuple

from salvo.rules import Fleet, RuleBook
from salvo_lab.bots.density import Density
from salvo_lab.explaining.explain import Account, Estimate, Explanation, account
from salvo_lab.solo import clear, summary

#: A figure is certain if it is this many standard errors away from 0: wrong in one case of 80.
SURE: Final = 2.5
#: Boards on which the cost of a fleet is counted: takes about half a second, and is right within 2 shots.
BOARDS: Final = 48


class Side(NamedTuple):
    """Totals of one player's salvos.

    Attributes:
        rate: expected hits per shot, on fresh cells.
        allowed: shots that its turns allowed.
        unfired: those that it did not fire.
        repeats: expected hits on cells that it had fired at.
    """

    account: Account
    rate: Estimate
    allowed: int
    unfired: int
    repeats: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """Where the winner's lead comes from.

    Attributes:
        lead: in hits.
        parts: by name, the hits gained; they add up to the lead.
        by: the largest of them, and those that cannot be distinguished from it; none if none is certainly above 0.
        decisive: whether there would have been no lead without these.
        usual_luck: standard deviation of the difference in luck between two players that fire these salvos.
    """

    winner: Side
    loser: Side
    lead: int
    parts: Mapping[str, Estimate]
    by: tuple[str, ...]
    decisive: bool
    usual_luck: float


def verdict(winner: Iterable[Explanation], loser: Iterable[Explanation]) -> Verdict | None:
    """Return where the lead comes from.

    Args:
        winner: all its salvos.
        loser: likewise.

    Returns:
        None if there is no lead, or the chances are not known well enough: an answer was left out, or they were
        estimated without an error.
    """
    each = [list(winner), list(loser)]
    if any(not one.exact or any(known.unused for known in one.known.values()) for salvos in each for one in salvos):
        return None
    first, second = (_side(salvos) for salvos in each)
    lead = first.account.hits - second.account.hits
    if lead <= 0:
        return None
    parts = _parts(first, second)
    by = _largest(parts)
    rest = _sum([part for name, part in parts.items() if name not in by])
    decisive = bool(by) and rest.value + SURE * rest.error <= 0
    usual = hypot(first.account.spread, second.account.spread)
    return Verdict(first, second, lead, parts, by, decisive, usual)


def _side(salvos: Sequence[Explanation]) -> Side:
    own = account(salvos)
    # The best of a salvo has as many shots as were allowed, or as it needed to end the game.
    allowed = sum(max(len(one.best), len(one.shots)) for one in salvos)
    promised = fsum(one.promised for one in salvos)
    rate = Estimate(promised / own.shots, own.luck.error / own.shots) if own.shots else Estimate(0.0, 0.0)
    return Side(own, rate, allowed, allowed - own.shots, own.expected - promised)


def _parts(one: Side, other: Side) -> dict[str, Estimate]:
    rate, fired = _mean(one.rate, other.rate), (one.account.shots + other.account.shots) / 2
    return {
        "shooting": _times(_less(one.rate, other.rate), fired),
        "shots": _times(rate, one.allowed - other.allowed),
        "unfired": _times(rate, other.unfired - one.unfired),
        "repeats": Estimate(one.repeats - other.repeats, 0.0),
        "luck": _less(one.account.luck, other.account.luck),
    }


def _largest(parts: Mapping[str, Estimate]) -> tuple[str, ...]:
    sure = {name: part for name, part in parts.items() if part.value > SURE * part.error}
    if not sure:
        return ()
    most = max(sure.values(), key=lambda part: part.value)
    near = {name: _less(most, part) for name, part in sure.items()}
    return tuple(name for name, gap in near.items() if gap.value <= SURE * gap.error)


def _less(one: Estimate, other: Estimate) -> Estimate:
    return Estimate(one.value - other.value, hypot(one.error, other.error))


def _mean(one: Estimate, other: Estimate) -> Estimate:
    return Estimate((one.value + other.value) / 2, hypot(one.error, other.error) / 2)


def _times(one: Estimate, factor: float) -> Estimate:
    return Estimate(one.value * factor, one.error * abs(factor))


def _sum(parts: Sequence[Estimate]) -> Estimate:
    return Estimate(fsum(part.value for part in parts), hypot(*(part.error for part in parts)))


def clearing_cost(book: RuleBook, fleet: Fleet | None, *, seed: int | str, boards: int = BOARDS) -> Estimate:
    """Return how many shots ``density`` needs to clear a fleet that never shoots back.

    Args:
        fleet: None draws one evenly from all, a new one for each board.
        seed: decides the draws.
        boards: number of repetitions; 2 or more.
    """
    shots = summary([clear(Density, board, seed=seed, book=book, fleet=fleet).shots for board in range(1, boards + 1)])
    return Estimate(shots.mean, shots.error)
