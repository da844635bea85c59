// A bot as a program on standard streams: JSON lines come in, answers go out (SALVO-EXEC).

import { readPlacement, readResult, readStats, writePlacement } from "./announcements.js";
import { call, fleetOf, salvoOf } from "./bot.js";
import { toBytes } from "./bytes.js";
import { WireError } from "./errors.js";
import { Fleet, RuleBook } from "./rules.js";
import * as shape from "./shape.js";
import { parseJson } from "./strictJson.js";
import { View } from "./view.js";

const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 6;

const SHOT = shape.object({ player: shape.text, x: shape.count, y: shape.count });
const CELL = shape.object({ x: shape.count, y: shape.count });
const HEARD = shape.list(shape.object({ from: shape.text, text: shape.text, private: shape.flag }));
/** @type {shape.Shape<{result: import("./view.js").Result, fired: import("./view.js").Shot[] | null}>} */
const RESULT = (value, at) => ({ result: readResult(value, at), fired: shape.optional(shape.list(SHOT), null)(value.fired, at) });
const GAME = shape.object({ game: shape.count, me: shape.text, seed_text: shape.text });
const TURN = shape.object({
  id: shape.count, game: shape.count, milliseconds: shape.optional(shape.count, null), turn: shape.count, shots: shape.count,
  players: shape.list(shape.text), fleet: shape.list(readPlacement), fired: shape.list(SHOT), results: shape.list(RESULT),
  landed: shape.list(CELL), heard: HEARD,
});
const OVER = shape.object({ stats: shape.record((value) => value), results: shape.list(RESULT), heard: HEARD });

/** One game of a bot: the lines that it gets become its view. */
class Game {
  /** @type {View | null} */
  #view = null;

  /** @param {import("./bot.js").Bot} bot @param {any} told */
  constructor(bot, told) {
    this.bot = bot;
    this.rules = new RuleBook(told.rules);
  }

  /** @param {any} told */
  async prepare(told) {
    const { me, seed_text: seed, game } = GAME(told, "");
    await call("prepare", () => this.bot.prepare(me, seed, game));
  }

  async fleet() {
    const { placements } = await fleetOf(this.bot, this.rules);
    return { fleet: placements.map(writePlacement) };
  }

  /** @param {any} told */
  async turn(told) {
    const asked = TURN(told, "");
    this.#view ??= new View(this.rules, this.bot.name, asked.players, asked.game, new Fleet(this.rules, asked.fleet), this.bot.random);
    const view = this.#view;
    await this.#hear(asked);
    view.incoming.push(...asked.landed);
    view.fire(asked.fired.slice(view.firedThisTurn.length));
    view.beginTurn(asked.turn, asked.shots, asked.milliseconds === null ? null : performance.now() + asked.milliseconds);
    const shots = await salvoOf(this.bot, view);
    view.fire(shots);
    return shots.length ? { shots } : { skip: true };
  }

  /** @param {any} told */
  async end(told) {
    const over = OVER(told, "");
    await this.#hear(over);
    const stats = new Map(Object.entries(over.stats).map(([player, figures]) => [player, readStats({ ...figures, player })]));
    const winner = Array.isArray(told.winner) ? "" : (told.winner ?? null);
    await call("onGameOver", () => this.bot.onGameOver(winner, stats));
  }

  /** @param {Pick<ReturnType<typeof TURN>, "results" | "heard">} news */
  async #hear({ results, heard }) {
    for (const { result, fired } of results) {
      // Shots from before this process was started are not in the view yet.
      if (fired !== null && !this.#view?.firedThisTurn.length) this.#view?.fire(fired);
      this.#view?.resolve(result);
      await call(`turn ${result.turn}, onResult`, () => this.bot.onResult(result));
    }
    for (const line of heard) await call("onMessage", () => this.bot.onMessage(line.from, line.text, line.private));
  }
}

/**
 * Answer lines until there are no more, with a new bot for every game.
 *
 * @param {import("./bot.js").BotClass} Player
 * @param {AsyncIterable<string>} lines
 * @param {(answer: string) => void} write
 */
export async function answerLines(Player, lines, write) {
  /** @type {Game | null} */
  let game = null;
  for await (const line of lines) {
    const told = parseJson(toBytes(line), MAX_BYTES, MAX_DEPTH);
    if (told.type === "game") {
      await close(game);
      game = new Game(new Player(), told);
      await game.prepare(told);
      continue;
    }
    if (game === null) throw new WireError("wrong_shape", "the first line has the type game");
    if (told.type === "end") {
      await game.end(told);
      continue;
    }
    const answer = told.type === "fleet" ? await game.fleet() : await game.turn(told);
    const say = game.bot.unsaid.map(({ text, to }) => (to ? { text, to } : { text }));
    game.bot.unsaid = [];
    // `stays`: nothing is carried from one game to the next, so one process may play many.
    write(JSON.stringify({ id: told.id, ...answer, ...(say.length ? { say } : {}), stays: true }));
  }
  await close(game);
}

/** @param {Game | null} game */
async function close(game) {
  if (game !== null) await call("close", () => game.bot.close());
}
