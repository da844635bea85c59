"""Hunts like a person with pencil and paper: a chequered search, then the neighbours of what may be hits.

A salvo's answer is a number, so a hit is never certain: after 2 hits out of 5 each of the five cells is a hit with
40 %. Neighbours of such cells are worth that much more than the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from salvo.player import Bot
from salvo.view import Shot, View

#: What a cell of the right colour of the chequer is worth beside the suspicion that its neighbours raise.
PARITY_WORTH = 0.15


class Hunter(Bot):
    """Fires whole salvos at one opponent, the one nearest to defeat, where hits are likeliest."""

    def choose_salvo(self, view: View) -> Sequence[Shot]:
        nearest = sorted(view.opponents, key=lambda player: (view.ships_afloat[player], view.players.index(player)))
        for target in nearest:
            cells = view.untouched.of(target)
            if cells:  # else it is shot to pieces, which is told after the salvo
                break
        suspicion = self._suspicion(view, target)
        ranked = sorted(
            ((self._worth(shot, suspicion), self.random.random(), shot) for shot in cells), key=lambda item: item[:2]
        )
        return [shot for _, _, shot in ranked[-view.shots :]]

    def _worth(self, shot: Shot, suspicion: dict[tuple[int, int], float]) -> float:
        _, x, y = shot
        around = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
        worth = max(suspicion.get(cell, 0.0) for cell in around)
        return worth + PARITY_WORTH * ((x + y) % 2)

    def _suspicion(self, view: View, target: str) -> dict[tuple[int, int], float]:
        """How likely each cell fired at was a hit, by the answers alone."""
        suspicion: dict[tuple[int, int], float] = {}
        for salvo in view.salvos:
            share = salvo.result.hits / max(1, salvo.result.shots)
            for player, x, y in salvo.shots:
                if player == target:
                    suspicion[x, y] = max(suspicion.get((x, y), 0.0), share)
        return suspicion
