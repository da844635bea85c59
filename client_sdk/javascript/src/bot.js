// What a team writes: a function, or a class with a few methods. Nothing here knows of MQTT or of secrets.

import { SalvoError } from "./errors.js";
import { isBundled } from "./node.js";
import { generator, Random } from "./random.js";
import { Fleet } from "./rules.js";

/** @typedef {import("./view.js").View} View */
/** @typedef {import("./view.js").Shot} Shot */
/** @typedef {import("./rules.js").RuleBook} RuleBook */
/** @typedef {readonly Shot[] | Promise<readonly Shot[]>} Answer what a bot fires */

/** The most unsent chat lines that a bot may have. */
const MOST_UNSAID = 5;

/** A player. Overriding `chooseSalvo` is enough; any method may be `async`. */
export class Bot {
  /** The name at the table. */
  name = "bot";
  /** The only source of randomness that a bot should use: same seed, same game. */
  random = new Random("bot");
  /** Lines that are not sent yet. @type {{text: string, to: string}[]} */
  unsaid = [];

  /**
   * Take a seat; called before each game.
   *
   * @param {string} name
   * @param {string} seed for this player and this game alone
   * @param {number} game
   * @returns {void | Promise<void>}
   */
  prepare(name, seed, game) {
    this.name = name;
    this.random = generator(seed, name, game);
  }

  /** Return the fleet to play with; by default a random one. @param {RuleBook} rules @returns {Fleet | Promise<Fleet>} */
  placeFleet(rules) {
    return rules.randomFleet(this.random);
  }

  /** Return up to `view.shots` shots; none gives up the rest of the turn. @param {View} _view @returns {Answer} */
  chooseSalvo(_view) {
    throw new SalvoError("bad_bot", `${this.constructor.name} has no chooseSalvo(view)`);
  }

  /** Learn the result of any player's salvo; the view already has it. @param {import("./view.js").Result} _result @returns {void | Promise<void>} */
  onResult(_result) {}

  /**
   * Learn how the game ended.
   *
   * @param {string | null} _winner empty after a tie, null if the host has aborted the game
   * @param {Map<string, import("./announcements.js").Stats>} _stats by player
   * @returns {void | Promise<void>}
   */
  onGameOver(_winner, _stats) {}

  /** Receive another player's chat line. @param {string} _sender @param {string} _text @param {boolean} _private @returns {void | Promise<void>} */
  onMessage(_sender, _text, _private) {}

  /** Release resources, after the last game. @returns {void | Promise<void>} */
  close() {}

  /** Send a line to everybody, or to one player; it goes when the calling method has returned. @param {string} text @param {string} [to] */
  say(text, to = "") {
    this.unsaid = [...this.unsaid, { text, to }].slice(-MOST_UNSAID);
  }
}

/** @typedef {new () => Bot} BotClass */

/** Make a bot of a function that takes a view and returns shots. @param {(view: View) => Answer} fire @returns {BotClass} */
export function bot(fire) {
  return class extends Bot {
    /** @override @param {View} view */
    chooseSalvo(view) {
      return fire(view);
    }
  };
}

/** Return the class of what somebody calls a bot. @param {BotClass | ((view: View) => Answer)} given @returns {BotClass} */
export function botClass(given) {
  if (typeof given !== "function") throw new SalvoError("bad_bot", "run takes a function, fire(view), or a class derived from Bot");
  return given.prototype instanceof Bot ? /** @type {BotClass} */ (given) : bot(/** @type {(view: View) => Answer} */ (given));
}

/**
 * Call a bot's method; what it throws has the place in the bot's file.
 *
 * @template T
 * @param {string} where
 * @param {() => T | Promise<T>} method
 * @returns {Promise<T>}
 */
export async function call(where, method) {
  try {
    return await method();
  } catch (error) {
    if (error instanceof BotError) throw error;
    const code = error instanceof SalvoError ? error.code : "bot_raised";
    throw new BotError(code, `${where}: ${error instanceof SalvoError ? error.text : error}${placeOf(error)}`);
  }
}

/** What a bot did wrong. */
export class BotError extends SalvoError {}

/** Return where an error comes from in the bot's file; in a bundle, which has the SDK too, the place of the error itself. @param {unknown} error */
function placeOf(error) {
  const lines = (error instanceof Error && error.stack ? error.stack : "").split("\n");
  const sdk = isBundled ? null : new URL(".", import.meta.url).href;
  const own = lines.find((line) => /^\s+at /.test(line) && !(sdk && line.includes(sdk)) && !line.includes("node:"));
  return own === undefined ? "" : ` ${own.trim()}`;
}

/** Return the bot's fleet. @param {Bot} player @param {RuleBook} rules @throws {BotError} `bad_fleet` */
export async function fleetOf(player, rules) {
  const fleet = await call("placeFleet", () => player.placeFleet(rules));
  if (!(fleet instanceof Fleet) || fleet.book !== rules) throw new BotError("bad_fleet", "placeFleet returned no fleet of these rules");
  return fleet;
}

/** Return the bot's shots. @param {Bot} player @param {View} view @throws {BotError} `bad_salvo`: it may not fire them */
export async function salvoOf(player, view) {
  const shots = await call(`turn ${view.turn}, chooseSalvo`, () => player.chooseSalvo(view));
  return checkSalvo(shots, view);
}

/**
 * Return a bot's answer as shots.
 *
 * @param {unknown} shots
 * @param {View} view
 * @returns {Shot[]}
 */
function checkSalvo(shots, view) {
  if (!Array.isArray(shots)) {
    throw bad(`a salvo is a list of {player, x, y}, not ${shown(shots)}${shots === undefined ? "; did you forget return?" : ""}`);
  }
  if (shots.length > view.shots) throw bad(`${shots.length} shots; this turn has ${view.shots}`);
  const checked = shots.map((shot) => checkShot(shot, view));
  if (view.rules.repeats === "refused") checkRepeats(checked, view);
  return checked;
}

/** @param {any} shot @param {View} view @returns {Shot} */
function checkShot(shot, view) {
  const { player, x, y } = shot ?? {};
  if (!view.players.includes(player)) throw bad(`no player ${shown(player)} in ${shown(shot)}; the players are ${view.players.join(", ")}`);
  if (player === view.me && view.rules.targets === "others") throw bad(`the rules "${view.rules.name}" do not allow shots at your own board`);
  try {
    view.rules.grid.cell(x, y);
  } catch (error) {
    throw bad(error instanceof SalvoError ? error.text : String(error));
  }
  return { player, x, y };
}

/** @param {Shot[]} shots @param {View} view */
function checkRepeats(shots, view) {
  const seen = [...view.firedThisTurn];
  for (const shot of shots) {
    const same = (/** @type {{x: number, y: number}} */ other) => other.x === shot.x && other.y === shot.y;
    if (seen.some((other) => other.player === shot.player && same(other)) || view.marks(shot.player).some(same)) {
      throw bad(`${view.rules.grid.nameAt(shot.x, shot.y)} of ${shot.player} was shot at before; view.untouched has what was not`);
    }
    seen.push(shot);
  }
}

/** @param {string} text */
const bad = (text) => new BotError("bad_salvo", text);

/** @param {unknown} value */
const shown = (value) => String(JSON.stringify(value)).slice(0, 80);
