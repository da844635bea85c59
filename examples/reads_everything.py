"""A bot that uses all of a view: what sank, who is dangerous, what everybody hit, and how its own fleet stands.

It counts the places where the ships afloat can lie, as good players of the one-shot game do, and weights them by the
hits of its salvos.
"""

from collections.abc import Iterator, Sequence

import salvo

Cell = tuple[int, int]


class ReadsEverything(salvo.Bot):
    def choose_salvo(self, view: salvo.View) -> Sequence[salvo.Shot]:
        target = self.target(view)
        weights = self.weights(view, target)
        self.random.shuffle(fresh := view.untouched.of(target))
        best = sorted(fresh, key=lambda shot: weights.get((shot.x, shot.y), 0.0), reverse=True)[: view.shots]
        # When the board has fewer cells than the salvo has shots, fire the rest at another board.
        spare = [shot for shot in view.untouched if shot.player != target]
        return best + spare[: view.shots - len(best)]

    def target(self, view: salvo.View) -> str:
        """Finish the weakest; or stop whoever hits most, once half of our own cells are hit."""
        if self.damage(view) < 0.5:
            return min(view.opponents, key=lambda player: (view.ships_afloat[player], -self.hits_by(view, player)))
        return max(view.opponents, key=lambda player: self.hits_by(view, player) * view.ships_afloat[player])

    def damage(self, view: salvo.View) -> float:
        """Return the share of our ships' cells that were hit; `incoming` has every shot at our board."""
        struck = {view.rules.grid.cell(x, y) for x, y in view.incoming}
        ours = [cell for cell, ship in enumerate(view.fleet.board) if ship]
        return sum(cell in struck for cell in ours) / len(ours)

    def hits_by(self, view: salvo.View, player: str) -> int:
        """Return a player's hits so far; `results` has everybody's salvos, but not their targets."""
        return sum(result.hits for result in view.results if result.player == player)

    def weights(self, view: salvo.View, target: str) -> dict[Cell, float]:
        """Return what a shot at each cell is worth."""
        likely = self.likely(view, target)
        weights: dict[Cell, float] = {}
        afloat = view.afloat(target)  # the names of its ships
        for ship in view.rules.fleet:
            if ship.name not in afloat:
                continue
            for cells in self.places(view, ship.length):
                # Water at one of its cells rules a place out; likely hits make it more likely.
                chance = 1.0
                for cell in cells:
                    chance *= likely.get(cell, 0.15) / 0.15
                for cell in cells:
                    weights[cell] = weights.get(cell, 0.0) + chance
        return weights

    def likely(self, view: salvo.View, target: str) -> dict[Cell, float]:
        """Return the share of hits of each cell's salvo: 0 is certainly water, 1 certainly a hit."""
        likely: dict[Cell, float] = {}
        for fired in view.salvos:
            for player, x, y in fired.shots:
                if player == target:
                    likely[x, y] = fired.result.hits / len(fired.shots)
        return likely

    def places(self, view: salvo.View, length: int) -> Iterator[list[Cell]]:
        """Yield every place for a ship of this length on an empty board."""
        grid = view.rules.grid
        for x in range(1, grid.width + 1):
            for y in range(1, grid.height + 1):
                if x + length - 1 <= grid.width:
                    yield [(x + step, y) for step in range(length)]
                if y + length - 1 <= grid.height:
                    yield [(x, y + step) for step in range(length)]

    def on_game_over(self, winner: str | None, stats: object) -> None:
        # In contests and in the arena alike; for example to log or to learn.
        self.last_winner = winner


salvo.run(ReadsEverything)
