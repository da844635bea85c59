// The same as bot.py, on the SDK in JavaScript.

import { appendFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import * as salvo from "battleship-salvo";

class Witness extends salvo.Bot {
  async chooseSalvo(view) {
    await setTimeout(1000 * Number(process.env.WITNESS_SLEEP ?? "0.05"));
    const shots = view.untouched.sample(view.shots);
    const chosen = shots.map(({ player, x, y }) => [player, x, y]);
    appendFileSync(process.env.WITNESS_FILE, `${JSON.stringify({ me: view.me, game: view.game, turn: view.turn, shots: chosen })}\n`);
    return shots;
  }
}

salvo.run(Witness);
