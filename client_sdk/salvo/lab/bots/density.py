"""Counts, for every cell, the places of ships afloat that cover it; hits weigh.

What is counted is one ship at a time: that the others have to lie somewhere, too, is left out. For one shot a turn that
is nearly as good as knowing all fleets; for salvos whose answer is a number it is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from salvo.lab.bots.clues import Chart, Clue, cells_of, cells_of_shots, chart, clues
from salvo.lab.bots.hunter import Hunter
from salvo.rules import Sinkings
from salvo.view import Shot, View

#: How much likelier a place gets with each hit that it would explain.
WORTH_OF_A_HIT = 12.0
#: The share of cells that are taken where nothing is known, against which a salvo's share of hits is held.
_USUAL_SHARE = 0.17


class Density(Hunter):
    """Fires where most places of ships cover a cell, and hits make a place likelier."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        rivals = [player for player in self._rivals(view) if view.untouched.of(player)]
        return self.choose_at(view, rivals[0]) if rivals else ()

    def choose_at(self, view: View, target: str) -> Sequence[Shot]:
        """Return a salvo at one rival, that has cells left."""
        density = self.density(view, target)
        grid = view.rules.grid
        ranked = sorted(
            view.untouched.of(target),
            key=lambda shot: (density[grid.cell(shot.x, shot.y)], self.random.random()),
            reverse=True,
        )
        return ranked[: view.shots]

    def density(self, view: View, target: str) -> list[float]:
        """Return by cell how many places cover it, weighed."""
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
    """Return the hits, the misses, and how much likelier than usual cells are hits that only a number was told of."""
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
    """Take the hits of ships that sank out, where there is one place only where they can have been; that is water."""
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
