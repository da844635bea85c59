// Search every second cell, then fire beside the hits: `salvo play bot.js hunter`.
//
// A result has the number of hits of a salvo, not which shots hit. After a salvo without a hit, all its cells are water.
// After 2 hits with 5 shots, each of the five cells is a hit with a chance of 0.4, and its neighbours are worth a shot.

import * as salvo from "battleship-salvo";

class HuntAndTarget extends salvo.Bot {
  chooseSalvo(view) {
    // Fire at the opponent whose board has the most untouched cells. A second shot at a cell gains nothing, and some
    // rulesets refuse it.
    const board = view.opponents.map((player) => view.untouched.of(player)).reduce(longer);
    const cells = this.random.sample(board, board.length); // shuffled: the same seed plays the same game again
    const chances = chancesOf(view);
    cells.sort((one, other) => worth(other, chances) - worth(one, chances));
    return cells.slice(0, view.shots); // fewer are allowed, more are refused
  }
}

const longer = (one, other) => (other.length > one.length ? other : one);

const key = (player, x, y) => `${player} ${x} ${y}`;

// The chance of a hit for each cell that was fired at.
function chancesOf(view) {
  const chances = new Map();
  for (const { shots, result } of view.salvos) {
    for (const { player, x, y } of shots) chances.set(key(player, x, y), result.hits / shots.length);
  }
  return chances;
}

// The best chance among a cell's neighbours, and a little more for every second cell.
function worth({ player, x, y }, chances) {
  const neighbours = [[x + 1, y], [x - 1, y], [x, y + 1], [x, y - 1]];
  const everySecond = (x + y) % 2 ? 0.1 : 0; // enough to find a ship of two cells, the smallest
  return Math.max(...neighbours.map(([column, row]) => chances.get(key(player, column, row)) ?? 0)) + everySecond;
}

salvo.run(HuntAndTarget);
