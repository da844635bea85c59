"""Hunts like a person with pencil and paper: a chequered search, then the neighbours of hits, or of what may be hits.

If a salvo's answer is a number, no hit is certain: after 2 hits out of 5, each of the five cells is a hit with 40 %.
Neighbours of such cells are worth that much more than the rest. If the rules tell hit or miss, it is certain, and if
ships keep their distance, the cells around them are water.
"""

from __future__ import annotations

from collections.abc import Sequence

from salvo.bots.player import Bot
from salvo.rules import Announce, Sinkings, Spacing
from salvo.view import Shot, View

#: Value of a cell on the right colour of the chequer, relative to the suspicion raised by its neighbours.
PARITY_WORTH = 0.15

Cell = tuple[int, int]


class Hunter(Bot):
    """Fires whole salvos at one opponent, where hits are likeliest.

    Of several it takes the one farthest from defeat, and draws among equals, regardless of their order. Firing at the
    weakest helps the strongest: against two random bots, that won 9 games in 100, and this wins 90.
    """

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        cells: list[Shot] = []
        for target in self._rivals(view):
            cells = view.untouched.of(target)
            if cells:  # else it is completely shot, which is announced after the salvo
                break
        if not cells:
            return ()
        suspicion = self._suspicion(view, target)
        water = self._water(view, target)
        cells = [shot for shot in cells if (shot.x, shot.y) not in water] or cells
        ranked = sorted(
            ((self._worth(shot, suspicion), self.random.random(), shot) for shot in cells), key=lambda item: item[:2]
        )
        return [shot for _, _, shot in ranked[-view.shots :]]

    def _rivals(self, view: View) -> Sequence[str]:
        """The opponents, the strongest first; a single one uses none of the bot's randomness."""
        rivals = view.opponents
        if len(rivals) < 2:
            return rivals
        return sorted(rivals, key=lambda player: (-self._left(view, player), self.random.random()))

    def _left(self, view: View, player: str) -> float:
        """How far a player is from defeat: its ships afloat, or if these are not announced, the cells not hit yet."""
        if view.rules.sinkings is Sinkings.TOLD:
            return view.ships_afloat[player]
        if view.rules.announce is Announce.COUNT:
            return 0
        return -sum(view.marks(player).values())

    def _worth(self, shot: Shot, suspicion: dict[Cell, float]) -> float:
        _, x, y = shot
        worth = max(suspicion.get(cell, 0.0) for cell in _beside((x, y)))
        return worth + PARITY_WORTH * ((x + y) % 2)

    def _suspicion(self, view: View, target: str) -> dict[Cell, float]:
        """How likely each cell fired at was a hit, by the answers alone."""
        if view.rules.announce is not Announce.COUNT:
            return {cell: float(hit) for cell, hit in view.marks(target).items()}
        suspicion: dict[Cell, float] = {}
        for salvo in view.salvos:
            share = salvo.result.hits / max(1, salvo.result.shots)
            for player, x, y in salvo.shots:
                if player == target:
                    suspicion[x, y] = max(suspicion.get((x, y), 0.0), share)
        return suspicion

    def _water(self, view: View, target: str) -> set[Cell]:
        """Cells where no ship can be, because it would be too close to what was hit."""
        if view.rules.spacing is Spacing.TOUCH or view.rules.announce is not Announce.CELLS:
            return set()
        hits = {cell for cell, hit in view.marks(target).items() if hit}
        water: set[Cell] = set()
        if view.rules.spacing is Spacing.APART:
            water |= {(x + dx, y + dy) for x, y in hits for dx in (-1, 1) for dy in (-1, 1)}
        for result in view.results:
            if result.aims_if_announced and any(ship.player == target for ship in result.sunk):
                _, x, y = result.aims_if_announced[-1]
                water |= {beside for cell in _group((x, y), hits) for beside in _beside(cell)}
        return water


def _beside(cell: Cell) -> tuple[Cell, ...]:
    x, y = cell
    return (x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)


def _group(cell: Cell, hits: set[Cell]) -> set[Cell]:
    """The hits connected to one."""
    group, edge = {cell}, [cell]
    while edge:
        fresh = [beside for beside in _beside(edge.pop()) if beside in hits and beside not in group]
        group.update(fresh)
        edge += fresh
    return group
