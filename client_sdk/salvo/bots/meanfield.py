"""Gives every place of every ship a weight, and bends the weights until they agree with the answers.

Of a salvo with 2 hits the chances of its cells have to add up to 2, of a cell that is told as a hit to 1, of a ship's
places to 1. Each round puts one of these right after the other, by a factor on all places concerned, and lets every
ship keep clear of where the others probably are. The ships stay independent of each other, which is what a mean field
leaves out; it never has to look at a whole fleet.
"""

from __future__ import annotations

from collections.abc import Sequence

from salvo.bots.clues import cells_of, cells_of_shots, chart, clues, is_alone
from salvo.bots.density import Density
from salvo.bots.posterior import Candidates
from salvo.view import View

#: Rounds of putting right; more change little.
ROUNDS = 8
#: The most by which one round bends a cell, and the chance that the other ships never seem to exceed.
_MOST, _SUREST = 8.0, 0.95


class MeanField(Density):
    """Bends the chances of each ship's places until they agree with the answers, and fires where they add up to most."""

    def density(self, view: View, target: str) -> list[float]:
        told = clues(view, target)
        sea = chart(view.rules)
        candidates = Candidates(view.rules, alone=is_alone(view))
        for clue in told:
            candidates.learn(clue)
        if not all(candidates.places):  # somebody fired at itself, say: what a single ship tells is still right
            return super().density(view, target)
        ships = [[sea.cells[mask] for mask, _ in places] for places in candidates.places]
        answers = [(cells_of_shots(clue), clue.hits) for clue in told if clue.hits is not None]
        answers += [([cell], 1) for cell in cells_of(candidates.struck)]
        return chances(sea.size, ships, answers)


def chances(
    size: int, ships: Sequence[Sequence[Sequence[int]]], answers: Sequence[tuple[Sequence[int], int]]
) -> list[float]:
    """Return by cell the chance that a ship lies there.

    Args:
        size: number of cells of the board.
        ships: by ship, the places where it may lie, each as its cells; at least one.
        answers: of each salvo, its cells and the number of hits, above 0.
    """
    bend = [1.0] * size  # what the answers make of a cell
    shares = [_share(places, bend) for places in ships]
    for _ in range(ROUNDS):
        together = [sum(each) for each in zip(*shares, strict=True)]
        for cells, hits in answers:
            expected = sum([together[cell] for cell in cells])
            factor = min(_MOST, max(1 / _MOST, hits / expected)) if expected else 1.0
            for cell in cells:
                bend[cell] *= factor
        for ship, places in enumerate(ships):
            own = shares[ship]
            clear = [1.0 - min(_SUREST, max(0.0, all_ - mine)) for all_, mine in zip(together, own, strict=True)]
            worth = [a * b for a, b in zip(bend, clear, strict=True)]
            shares[ship] = _share(places, worth)
            together = [t - old + new for t, old, new in zip(together, own, shares[ship], strict=True)]
    return [sum(each) for each in zip(*shares, strict=True)]


def _share(places: Sequence[Sequence[int]], worth: Sequence[float]) -> list[float]:
    """Return by cell the chance that a ship is there, whose places weigh as much as their cells multiplied."""
    share = [0.0] * len(worth)
    total = 0.0
    for cells in places:
        weight = 1.0
        for cell in cells:
            weight *= worth[cell]
        total += weight
        for cell in cells:
            share[cell] += weight
    return [each / total for each in share] if total else share
