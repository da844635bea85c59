// Search a chequer of cells, then fire around what was hit: `salvo play bot.js hunter`.
//
// The catch of Salvo: you hear how many shots of a salvo hit, never which ones. When a salvo hit nothing, all its cells
// are water; when it hit, the neighbours of all its cells are worth a shot.

import * as salvo from "battleship-salvo";

class HuntAndTarget extends salvo.Bot {
  chooseSalvo(view) {
    // `untouched` is what you have not fired at yet; firing at a cell twice is useless, and not even legal by every
    // ruleset. One target a salvo, the one you know least of: who beats one rival after the other has a rested one at
    // the end.
    const target = view.opponents.map((player) => view.untouched.of(player)).reduce(longer);
    const heat = heatOf(view);
    // Drawn with the bot's own randomness and no other: then the same seed plays the same game again.
    const fresh = this.random.sample(target, target.length);
    fresh.sort((one, other) => worth(other, heat) - worth(one, heat));
    // Fewer than `view.shots` are allowed, more are refused.
    return fresh.slice(0, view.shots);
  }
}

const longer = (one, other) => (other.length > one.length ? other : one);

const key = (player, x, y) => `${player} ${x} ${y}`;

// How likely each cell that was fired at is a hit: 2 hits in a salvo of 5 make 0.4 for each of its cells.
function heatOf(view) {
  const heat = new Map();
  for (const { shots, result } of view.salvos) {
    for (const { player, x, y } of shots) heat.set(key(player, x, y), result.hits / shots.length);
  }
  return heat;
}

// A cell is worth what its hottest neighbour promises, and a little more on the chequer.
function worth({ player, x, y }, heat) {
  const neighbours = [[x + 1, y], [x - 1, y], [x, y + 1], [x, y - 1]];
  // The smallest ship has two cells, so every second cell is enough to find them all.
  const onChequer = (x + y) % 2 ? 0.1 : 0;
  return Math.max(...neighbours.map(([column, row]) => heat.get(key(player, column, row)) ?? 0)) + onChequer;
}

salvo.run(HuntAndTarget);
