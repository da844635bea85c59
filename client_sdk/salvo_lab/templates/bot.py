"""Search every second cell, then fire beside the hits: `salvo play bot.py hunter`.

A result has the number of hits of a salvo, not which shots hit. After a salvo without a hit, all its cells are water.
After 2 hits with 5 shots, each of the five cells is a hit with a chance of 0.4, and its neighbours are worth a shot.
"""

from collections.abc import Sequence

import salvo


class HuntAndTarget(salvo.Bot):
    def choose_salvo(self, view: salvo.View) -> Sequence[salvo.Shot]:
        # Fire at the opponent whose board has the most untouched cells. A second shot at a cell gains nothing, and some
        # rulesets refuse it.
        target = max(view.opponents, key=lambda player: len(view.untouched.of(player)))
        cells = view.untouched.of(target)
        self.random.shuffle(cells)  # the bot's own randomness: the same seed plays the same game again
        chances = self.chances(view, target)
        cells.sort(key=lambda shot: self.worth(shot, chances), reverse=True)
        return cells[: view.shots]  # fewer are allowed, more are refused

    def chances(self, view: salvo.View, target: str) -> dict[tuple[int, int], float]:
        """Return the chance of a hit for each cell of the target that was fired at."""
        chances: dict[tuple[int, int], float] = {}
        for own in view.salvos:
            for player, x, y in own.shots:
                if player == target:
                    chances[x, y] = own.result.hits / len(own.shots)
        return chances

    def worth(self, shot: salvo.Shot, chances: dict[tuple[int, int], float]) -> float:
        """Return the best chance among a cell's neighbours, and a little more for every second cell."""
        _, x, y = shot
        neighbours = ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
        every_second = 0.1 if (x + y) % 2 else 0.0  # enough to find a ship of two cells, the smallest
        return max(chances.get(cell, 0.0) for cell in neighbours) + every_second


salvo.run(HuntAndTarget)
