"""Weights every place of every ship, and corrects the weights until they agree with the answers.

The chances of a salvo with 2 hits must add up to 2 over its cells, those of a cell announced as a hit to 1, those of a
ship's places to 1. Each round corrects one of these after the other, by a factor on all places concerned, and keeps
every ship away from where the others probably are. The ships stay independent of each other, which is the approximation
of a mean field; it never needs to look at a whole fleet.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from salvo.view import View
from salvo_lab.bots.clues import cells_of, cells_of_shots, chart, clues, is_alone
from salvo_lab.bots.density import Density
from salvo_lab.bots.posterior import learned

#: Rounds of correction; more change little.
ROUNDS = 6
#: The largest factor by which one round corrects a cell; its inverse is the smallest.
_MAX_FACTOR = 8.0
#: The largest chance that other ships take a cell; certainty could leave a ship no place.
_MAX_TAKEN = 0.95

#: A place's cells, and the cells that it takes from others; the same object if ships may touch.
Place = tuple[Sequence[int], Sequence[int]]


class MeanField(Density):
    """Estimates the places of each ship so that they agree with the answers; the admiral, where ships are too many."""

    def density(self, view: View, target: str) -> list[float]:
        known_clues = clues(view, target)
        sea = chart(view.rules)
        candidates = learned(view.rules, known_clues, is_alone(view))
        if not all(candidates.places):  # a player fired at itself, say: the chances of single ships are still right
            return super().density(view, target)
        ships = [[(sea.cells[mask], sea.reach[mask]) for mask, _ in places] for places in candidates.places]
        answers = [(cells_of_shots(clue), clue.hits) for clue in known_clues if clue.hits is not None]
        answers += [([cell], 1) for cell in cells_of(candidates.struck)]
        return chances(sea.size, ships, answers)


def chances(size: int, ships: Sequence[Sequence[Place]], answers: Sequence[tuple[Sequence[int], int]]) -> list[float]:
    """Return by cell the chance that a ship lies there.

    Args:
        size: number of cells of the board.
        ships: by ship, the places where it may lie; each has at least one.
        answers: pairs of a salvo's cells and its number of hits, 1 or more.
    """
    correction = [1.0] * size  # by cell, a factor
    found = [_shares(places, correction) for places in ships]
    for _ in range(ROUNDS):
        lies = [fsum(shares) for shares in zip(*[lies for lies, _ in found], strict=True)]
        for cells, hits in answers:
            expected = fsum([lies[cell] for cell in cells])
            factor = min(_MAX_FACTOR, max(1 / _MAX_FACTOR, hits / expected)) if expected else 1.0
            for cell in cells:
                correction[cell] *= factor
        taken = [fsum(shares) for shares in zip(*[taken for _, taken in found], strict=True)]
        for ship, places in enumerate(ships):
            own = found[ship][1]
            clear = [1.0 - min(_MAX_TAKEN, max(0.0, every - mine)) for every, mine in zip(taken, own, strict=True)]
            found[ship] = _shares(places, [a * b for a, b in zip(correction, clear, strict=True)])
            taken = [every - mine + now for every, mine, now in zip(taken, own, found[ship][1], strict=True)]
    return [fsum(shares) for shares in zip(*[lies for lies, _ in found], strict=True)]


def _shares(places: Sequence[Place], worth: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return by cell the chances that a ship lies there, and that it takes the cell from others.

    Args:
        worth: by cell, its weight; a place's weight is the product of its cells'.
    """
    lies, taken = [0.0] * len(worth), [0.0] * len(worth)
    apart, total = False, 0.0
    for cells, reach in places:
        weight = 1.0
        for cell in cells:
            weight *= worth[cell]
        total += weight
        for cell in cells:
            lies[cell] += weight
        if reach is not cells:
            apart = True
            for cell in reach:
                taken[cell] += weight
    if not total:
        return lies, taken
    lies = [lie / total for lie in lies]
    return lies, [weight / total for weight in taken] if apart else lies
