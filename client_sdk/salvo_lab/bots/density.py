"""A bot that fires at the cells with the highest probability density.

For every cell it counts the placements of ships afloat that cover it; those that explain hits weigh more. Each ship is
counted independently, as if the others took up no room. With one shot a turn that is nearly as good as enumerating all
fleets; with salvos that are answered by a number it is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from salvo.rules import Sinkings
from salvo.view import Shot, View
from salvo_lab.bots.clues import Clue, ShipPlaces, cells_of, cells_of_shots, chart, clues
from salvo_lab.bots.hunter import Hunter

#: The factor by which each hit that a placement explains makes it more likely.
_HIT_WEIGHT = 12.0
#: The assumed share of occupied cells before any shot; a salvo with a larger share of hits makes its cells more likely.
_PRIOR_SHARE = 0.17


class Density(Hunter):
    """Fires at the cells that the most placements cover, weighted by the hits that they explain."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        rivals = [player for player in self._rivals(view) if view.untouched.of(player)]
        return self.choose_at(view, rivals[0]) if rivals else ()

    def choose_at(self, view: View, target: str) -> Sequence[Shot]:
        """Return a salvo at one rival, which must have untouched cells; ties are broken at random."""
        density = self.density(view, target)
        grid = view.rules.grid
        ranked = sorted(
            view.untouched.of(target),
            key=lambda shot: (density[grid.cell(shot.x, shot.y)], self.random.random()),
            reverse=True,
        )
        return ranked[: view.shots]

    def density(self, view: View, target: str) -> list[float]:
        """Return the weighted number of placements that cover each cell, row by row."""
        sea, known = chart(view.rules), clues(view, target)
        struck, water, suspicion = _summary(known)
        sunk = {ship for clue in known for ship in clue.sunk}
        told = view.rules.sinkings is Sinkings.TOLD
        if told:
            struck, water = _without_sunk(sea, known, struck, water)
        density = [0.0] * sea.size
        for ship, length in enumerate(sea.lengths):
            if ship not in sunk:
                for placement in sea.places[length]:
                    # A ship does not lie beside a hit on another one; where sinkings are told, that gains nothing.
                    beside = 0 if told else sea.margin[placement] & ~placement & struck
                    if not placement & water and not beside:
                        weight = _HIT_WEIGHT ** (placement & struck).bit_count()
                        for cell in sea.cells[placement]:
                            weight *= suspicion.get(cell, 1.0)
                        for cell in cells_of(placement & ~struck):
                            density[cell] += weight
        return density


def _summary(known: Sequence[Clue]) -> tuple[int, int, dict[int, float]]:
    """Return the masks of hits and misses, and by cell a factor for its weight, from salvos answered by a number."""
    struck = water = 0
    suspicion: dict[int, float] = {}
    for clue in known:
        struck |= clue.struck
        water |= clue.misses
        if clue.hits is not None:
            cells = cells_of_shots(clue)
            for cell in cells:
                suspicion[cell] = max(suspicion.get(cell, 0.0), clue.hits / len(cells) / _PRIOR_SHARE)
    return struck, water, suspicion


def _without_sunk(sea: ShipPlaces, known: Sequence[Clue], struck: int, water: int) -> tuple[int, int]:
    """Turn hits on sunk ships, with the margin around them, into water, where only one placement explains them."""
    so_far = 0
    for clue in known:
        so_far |= clue.struck
        for ship in clue.sunk:
            length = sea.lengths[ship]
            fits = [p for p in sea.places[length] if not p & ~so_far and p & clue.struck and not p & water]
            if len(fits) == 1:
                struck &= ~fits[0]
                water |= sea.margin[fits[0]]
    return struck, water & ~struck
