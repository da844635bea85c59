"""Search a chequer of cells, then fire around what was hit: `salvo play bot.py hunter`.

The catch of Salvo: you hear how many shots of a salvo hit, never which ones. When a salvo hit nothing, all its cells
are water; when it hit, the neighbours of all its cells are worth a shot.
"""

from collections.abc import Sequence

import salvo


class HuntAndTarget(salvo.Bot):
    def choose_salvo(self, view: salvo.View) -> Sequence[salvo.Shot]:
        # `untouched` is what you have not fired at yet; firing at a cell twice is useless, and not even legal by every
        # ruleset. One target a salvo, the one you know least of: who beats one rival after the other has a rested one
        # at the end.
        target = max(view.opponents, key=lambda player: len(view.untouched.of(player)))
        fresh = view.untouched.of(target)
        # Drawn with the bot's own randomness and no other: then the same seed plays the same game again.
        self.random.shuffle(fresh)
        heat = self.heat(view, target)
        fresh.sort(key=lambda shot: self.worth(shot, heat), reverse=True)
        # Fewer than `view.shots` are allowed, more are refused.
        return fresh[: view.shots]

    def heat(self, view: salvo.View, target: str) -> dict[tuple[int, int], float]:
        """How likely each cell that was fired at is a hit: 2 hits in a salvo of 5 make 0.4 for each of its cells."""
        heat: dict[tuple[int, int], float] = {}
        for salvo_fired in view.salvos:
            share = salvo_fired.result.hits / len(salvo_fired.shots) if salvo_fired.shots else 0.0
            for player, x, y in salvo_fired.shots:
                if player == target:
                    heat[x, y] = share
        return heat

    def worth(self, shot: salvo.Shot, heat: dict[tuple[int, int], float]) -> float:
        """A cell is worth what its hottest neighbour promises, and a little more on the chequer."""
        _, x, y = shot
        neighbours = ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
        # The smallest ship has two cells, so every second cell is enough to find them all.
        on_chequer = 0.1 if (x + y) % 2 else 0.0
        return max(heat.get(cell, 0.0) for cell in neighbours) + on_chequer


salvo.run(HuntAndTarget)
