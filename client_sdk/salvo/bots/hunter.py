"""Hunts like a person with pencil and paper: a chequered search, then the neighbours of hits, or of what may be hits.

Where a salvo's answer is a number, a hit is never certain: after 2 hits out of 5 each of the five cells is a hit with
40 %. Neighbours of such cells are worth that much more than the rest. Where the rules tell hit or miss, it is certain.
"""

from __future__ import annotations

from collections.abc import Sequence

from salvo.player import Bot
from salvo.rules import Announce, Sinkings
from salvo.view import Shot, View

#: What a cell of the right colour of the chequer is worth beside the suspicion that its neighbours raise.
PARITY_WORTH = 0.15


class Hunter(Bot):
    """Fires whole salvos at one opponent, the one nearest to defeat, where hits are likeliest."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        nearest = sorted(view.opponents, key=lambda player: (self._left(view, player), view.players.index(player)))
        cells: list[Shot] = []
        for target in nearest:
            cells = view.untouched.of(target)
            if cells:  # else it is shot to pieces, which is told after the salvo
                break
        if not cells:
            return ()
        suspicion = self._suspicion(view, target)
        ranked = sorted(
            ((self._worth(shot, suspicion), self.random.random(), shot) for shot in cells), key=lambda item: item[:2]
        )
        return [shot for _, _, shot in ranked[-view.shots :]]

    def _left(self, view: View, player: str) -> int:
        """How far a player is from defeat: its ships afloat, or where nobody is told of them the cells not hit yet."""
        if view.rules.sinkings is Sinkings.TOLD:
            return view.ships_afloat[player]
        if view.rules.announce is Announce.COUNT:
            return 0
        return -sum(view.marks(player).values())

    def _worth(self, shot: Shot, suspicion: dict[tuple[int, int], float]) -> float:
        _, x, y = shot
        around = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
        worth = max(suspicion.get(cell, 0.0) for cell in around)
        return worth + PARITY_WORTH * ((x + y) % 2)

    def _suspicion(self, view: View, target: str) -> dict[tuple[int, int], float]:
        """How likely each cell fired at was a hit, by the answers alone."""
        if view.rules.announce is not Announce.COUNT:
            return {cell: float(hit) for cell, hit in view.marks(target).items()}
        suspicion: dict[tuple[int, int], float] = {}
        for salvo in view.salvos:
            share = salvo.result.hits / max(1, salvo.result.shots)
            for player, x, y in salvo.shots:
                if player == target:
                    suspicion[x, y] = max(suspicion.get((x, y), 0.0), share)
        return suspicion
