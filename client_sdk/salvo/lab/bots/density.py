"""Counts, for every cell, the places of ships afloat that cover it, with more weight for hits.

It counts one ship at a time, and ignores that the others must lie somewhere, too. For one shot a turn that is nearly as
good as knowing all fleets; for salvos whose answer is a number it is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from salvo.lab.bots.clues import Chart, Clue, cells_of, cells_of_shots, chart, clues
from salvo.lab.bots.hunter import Hunter
from salvo.rules import Sinkings
from salvo.view import Shot, View

#: How much likelier each hit that it explains makes a place.
WORTH_OF_A_HIT = 12.0
#: Assumed share of occupied cells without any information, to compare a salvo's share of hits with.
_USUAL_SHARE = 0.17


class Density(Hunter):
    """Fires where most places of ships cover a cell, and hits make a place likelier."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        rivals = [player for player in self._rivals(view) if view.untouched.of(player)]
        return self.choose_at(view, rivals[0]) if rivals else ()

    def choose_at(self, view: View, target: str) -> Sequence[Shot]:
        """Return a salvo at one rival that has cells left."""
        density = self.density(view, target)
        grid = view.rules.grid
        ranked = sorted(
            view.untouched.of(target),
            key=lambda shot: (density[grid.cell(shot.x, shot.y)], self.random.random()),
            reverse=True,
        )
        return ranked[: view.shots]

    def density(self, view: View, target: str) -> list[float]:
        """Return, by cell, how many places cover it, weighted."""
        sea, told = chart(view.rules), clues(view, target)
        struck, water, suspicion = _summed_up(told)
        sunk = {ship for clue in told for ship in clue.sunk}
        if view.rules.sinkings is Sinkings.TOLD:
            struck, water = _without_sunk(sea, told, struck, water)
        density = [0.0] * sea.size
        for ship, length in enumerate(sea.lengths):
            if ship not in sunk:
                for place in sea.places[length]:
                    if not place & water:
                        worth = WORTH_OF_A_HIT ** (place & struck).bit_count()
                        for cell in sea.cells[place]:
                            worth *= suspicion.get(cell, 1.0)
                        for cell in cells_of(place & ~struck):
                            density[cell] += worth
        return density


def _summed_up(told: Sequence[Clue]) -> tuple[int, int, dict[int, float]]:
    """Return the hits, the misses, and how much likelier than usual cells are that only have a number of hits."""
    struck = water = 0
    suspicion: dict[int, float] = {}
    for clue in told:
        struck |= clue.struck
        water |= clue.misses
        if clue.hits is not None:
            cells = cells_of_shots(clue)
            for cell in cells:
                suspicion[cell] = max(suspicion.get(cell, 0.0), clue.hits / len(cells) / _USUAL_SHARE)
    return struck, water, suspicion


def _without_sunk(sea: Chart, told: Sequence[Clue], struck: int, water: int) -> tuple[int, int]:
    """Turn the hits of sunken ships into water, if they can only have been in one place."""
    so_far = 0
    for clue in told:
        so_far |= clue.struck
        for ship in clue.sunk:
            length = sea.lengths[ship]
            fits = [p for p in sea.places[length] if not p & ~so_far and p & clue.struck and not p & water]
            if len(fits) == 1:
                struck &= ~fits[0]
                water |= sea.margin[fits[0]]
    return struck, water & ~struck
