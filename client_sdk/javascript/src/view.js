// What one player may know of a game, and nothing else.

import { SalvoError } from "./errors.js";

/**
 * A shot at a player's board: column and row, both from 1.
 *
 * @typedef {{readonly player: string, readonly x: number, readonly y: number}} Shot
 */

/** @typedef {import("./announcements.js").Result} Result */
/** @typedef {import("./announcements.js").Tally} Tally */
/** @typedef {{turn: number, shots: Shot[], result: Result}} OwnSalvo a salvo of the player that asks */

/** Cards shuffled at a time: a bot that draws only once does not pay for a whole deck. */
const BATCH = 24;

/** @param {Shot} shot */
const keyOf = ({ player, x, y }) => `${player} ${x} ${y}`;

/** @param {string} player @param {import("./rules.js").Grid} grid @returns {Shot[]} */
const boardShots = (player, grid) => Array.from({ length: grid.size }, (_, cell) => {
  const [x, y] = grid.xy(cell);
  return Object.freeze({ player, x, y });
});

/** The cells of standing opponents that this player has not fired at yet, as shots, board by board. */
export class Untouched {
  /** @type {Map<string, Map<string, Shot>>} */
  #boards;
  /** @type {Shot[] | null} */
  #deck = null;
  #unshuffled = 0;
  #drawn = 0;

  /**
   * @param {string[]} players
   * @param {import("./rules.js").Grid} grid
   * @param {import("./random.js").Random} random
   */
  constructor(players, grid, random) {
    this.#boards = new Map(players.map((player) => [player, new Map(boardShots(player, grid).map((shot) => [keyOf(shot), shot]))]));
    /** The bot's own source of randomness. */
    this.random = random;
  }

  /** How many there are. */
  get length() {
    return [...this.#boards.values()].reduce((sum, board) => sum + board.size, 0);
  }

  *[Symbol.iterator]() {
    for (const board of this.#boards.values()) yield* board.values();
  }

  /** Whether a cell is untouched. @param {Shot} shot */
  has(shot) {
    return this.#boards.get(shot.player)?.has(keyOf(shot)) ?? false;
  }

  /** Return the shots at one player's board. @param {string} player */
  of(player) {
    return [...(this.#boards.get(player)?.values() ?? [])];
  }

  /** Return different shots drawn with the bot's own randomness, or all of them if there are fewer. @param {number} count */
  sample(count) {
    let deck = this.#deck;
    if (deck === null || this.#drawn) {
      deck = this.#deck ??= [...this];
      this.#unshuffled = deck.length;
    }
    const rest = Math.max(0, deck.length - count);
    if (rest < this.#unshuffled) this.#shuffle(deck, rest);
    this.#drawn = deck.length - rest;
    return deck.slice(rest);
  }

  /** @param {Shot[]} deck @param {number} rest how many cards may stay unshuffled */
  #shuffle(deck, rest) {
    const top = Math.min(this.#unshuffled, deck.length);
    this.#unshuffled = Math.max(0, Math.min(rest, top - BATCH));
    for (let place = top - 1; place >= this.#unshuffled; place--) {
      const other = this.random.below(place + 1);
      [deck[place], deck[other]] = [deck[other], deck[place]];
    }
  }

  /** Take shots out, wherever they are. @internal @param {readonly Shot[]} shots */
  discard(shots) {
    for (const shot of shots) this.#boards.get(shot.player)?.delete(keyOf(shot));
    const top = this.#deck?.slice(-shots.length) ?? [];
    if (this.#deck?.length && shots.length === top.length && shots.every((shot, at) => keyOf(shot) === keyOf(top[at]))) {
      this.#deck.length -= shots.length;
      this.#drawn -= shots.length;
    } else if (shots.length) {
      this.#deck = null;
    }
  }

  /** Take out shots, which may be out already. @internal @param {readonly Shot[]} shots */
  discardThoseLeft(shots) {
    const fresh = shots.filter((shot) => this.has(shot));
    if (fresh.length) this.discard(fresh);
  }

  /** Put shots back that did not count. @internal @param {readonly Shot[]} shots */
  restore(shots) {
    for (const shot of shots) {
      this.#boards.get(shot.player)?.set(keyOf(shot), shot);
      if (this.#boards.has(shot.player)) this.#deck = null;
    }
  }

  /** Take out the whole board of a defeated player. @internal @param {string} player */
  discardPlayer(player) {
    if (this.#boards.delete(player)) this.#deck = null;
  }

  /** Draw on as an earlier set of the same game would have. @internal @param {Untouched} former */
  continueFrom(former) {
    const [own, others] = [[...this].map(keyOf).toSorted(), [...former].map(keyOf).toSorted()];
    if (own.join() !== others.join()) return;
    this.#deck = former.#deck;
    this.#unshuffled = former.#unshuffled;
    this.#drawn = former.#drawn;
  }
}

const NO_TALLY = { turns: 0, shots: 0, hits: 0 };

/** One player's knowledge of one game. */
export class View {
  /** @type {Shot[]} */
  #fired = [];
  /** @type {Map<string, Map<string, {x: number, y: number, hit: boolean}>>} */
  #marks = new Map();
  /** @type {Map<string, string[]>} */
  #sunk;
  /** @type {import("./announcements.js").Earlier | null} */
  #earlier = null;
  /** @type {Shot[]} own shots of salvos whose results are lost */
  #untold = [];

  /**
   * @param {import("./rules.js").RuleBook} rules
   * @param {string} me
   * @param {string[]} players in play order
   * @param {number} game
   * @param {import("./rules.js").Fleet} fleet
   * @param {import("./random.js").Random} random
   */
  constructor(rules, me, players, game, fleet, random) {
    /** The ruleset that is played. */
    this.rules = rules;
    /** The player's own name. */
    this.me = me;
    /** All names in play order. */
    this.players = [...players];
    /** The game's number at the table. */
    this.game = game;
    /** The running number of the turn, from 1; 0 before the first. */
    this.turn = 0;
    /** How many shots may be fired now; 0 in another player's turn. */
    this.shots = 0;
    /** The own ships. */
    this.fleet = fleet;
    /** The only source of randomness to use. */
    this.random = random;
    /** The other players that are still in the game, in play order. */
    this.opponents = this.players.filter((player) => player !== me);
    /** Cells of opponents not fired at yet; where cells are announced, by any player. */
    this.untouched = new Untouched(this.opponents, rules.grid, random);
    /** The players that are out, in the order of their defeat. @type {string[]} */
    this.defeated = [];
    /** The own salvos with their results. @type {OwnSalvo[]} */
    this.salvos = [];
    /** The results of all salvos, in order. @type {Result[]} */
    this.results = [];
    /** Cells of the own board that were shot at, in order. @type {{x: number, y: number}[]} */
    this.incoming = [];
    /** All fleets by player, once the game is over, if the rules show them. @type {Map<string, import("./rules.js").Fleet>} */
    this.revealed = new Map();
    /** When the turn ends, in milliseconds of `performance.now()`; null without a clock. @type {number | null} */
    this.deadline = null;
    /** The code of what ends the turn then. */
    this.limitedBy = "turn_timeout";
    this.#sunk = new Map(this.players.map((player) => [player, []]));
  }

  /** Time until the turn's deadline in seconds; null without a clock. */
  get secondsLeft() {
    return this.deadline === null ? null : Math.max(0, this.deadline - performance.now()) / 1000;
  }

  /** Own shots of this turn, whose result is not known yet. @returns {readonly Shot[]} */
  get firedThisTurn() {
    return this.#fired;
  }

  /** The last turn that has ended; 0 before the first has. */
  get resolvedTurn() {
    return this.results.at(-1)?.turn ?? this.#earlier?.turns ?? 0;
  }

  /** Number of turns whose result is known. */
  get turnsKnown() {
    return (this.#earlier?.turns ?? 0) + this.results.length;
  }

  /** Turns, shots and hits by player. @returns {Map<string, Tally>} */
  get tallies() {
    const tallies = new Map(this.players.map((player) => [player, this.#earlier?.tallies.get(player) ?? NO_TALLY]));
    for (const { player, shots, hits } of this.results) {
      const had = tallies.get(player);
      if (had !== undefined) tallies.set(player, { turns: had.turns + 1, shots: had.shots + shots, hits: had.hits + hits });
    }
    return tallies;
  }

  /** Points by player, if the rules have points. @returns {Map<string, number>} */
  get points() {
    if (this.rules.ending !== "goal") throw this.#notTold("points", "view.results has the hits of every salvo");
    return new Map([...this.tallies].map(([player, { hits }]) => [player, hits]));
  }

  /** Names of the ships sunk, by player. @returns {ReadonlyMap<string, readonly string[]>} */
  get sunk() {
    if (this.rules.sinkings === "untold") {
      throw this.#notTold("which ships sank", this.rules.announce === "count" ? "count hits" : "view.marks(player) has the hits");
    }
    return this.#sunk;
  }

  /** How many ships are afloat, by player. @returns {Map<string, number>} */
  get shipsAfloat() {
    return new Map([...this.sunk].map(([player, ships]) => [player, this.rules.fleet.length - ships.length]));
  }

  /** Return the names of a player's ships that are afloat. @param {string} player */
  afloat(player) {
    const sunk = this.sunk.get(player) ?? [];
    return this.rules.fleet.map((ship) => ship.name).filter((name) => !sunk.includes(name));
  }

  /**
   * Return the cells of a board that are known to have been shot at, and whether each was a hit.
   *
   * @param {string} player
   * @returns {{x: number, y: number, hit: boolean}[]}
   */
  marks(player) {
    if (player === this.me) {
      const cells = new Map(this.incoming.map(({ x, y }) => [this.rules.grid.cell(x, y), { x, y }]));
      return [...cells].map(([cell, place]) => ({ ...place, hit: this.fleet.cells.includes(cell) }));
    }
    if (this.rules.announce === "count") {
      throw this.#notTold("which shot was a hit", "view.salvos has every own salvo with its number of hits");
    }
    return [...(this.#marks.get(player)?.values() ?? [])];
  }

  /** The winners according to the results: several after a tie, none while the game is running. */
  get winners() {
    if (this.rules.ending === "goal") return this.#winnersByPoints();
    const standing = this.players.filter((player) => !this.defeated.includes(player));
    if (standing.length) return standing.length === 1 ? standing : [];
    const had = new Set(); // a turn in the last round; players that fell in it were standing when it began
    for (const { player } of this.results.toReversed()) {
      if (had.has(player)) break;
      had.add(player);
    }
    return this.players.filter((player) => had.has(player));
  }

  #winnersByPoints() {
    const { points, results, players } = this;
    const most = Math.max(...points.values());
    const unfired = players.length <= results.length && !results.slice(-players.length).some((result) => result.shots);
    const ended = this.turnsKnown % players.length === 0 && (most >= (this.rules.goal ?? 0) || unfired);
    return ended ? players.filter((player) => points.get(player) === most) : [];
  }

  /** @param {string} what @param {string} instead */
  #notTold(what, instead) {
    return new SalvoError("not_told", `the rules "${this.rules.name}" do not reveal ${what}; ${instead}`);
  }

  // --- the news, from a session or a line of standard input; a bot has no use for them ------------------------------

  /** Begin a turn. @param {number} turn @param {number} shots @param {number | null} deadline @internal */
  beginTurn(turn, shots, deadline) {
    this.turn = turn;
    this.shots = shots;
    this.deadline = deadline;
  }

  /** Note own shots of this turn. @param {readonly Shot[]} shots @internal */
  fire(shots) {
    this.#fired = [...this.#fired, ...shots];
    this.untouched.discard(shots);
  }

  /** Draw from another source from now on. @param {import("./random.js").Random} random @internal */
  reseed(random) {
    this.random = this.untouched.random = random;
  }

  /** Start from a summary of the oldest turns. @param {import("./announcements.js").Earlier} earlier @internal */
  sumUp(earlier) {
    const at = (/** @type {number} */ cell) => {
      const [x, y] = this.rules.grid.xy(cell);
      return { x, y };
    };
    this.#earlier = earlier;
    this.#untold = [...earlier.aimed].flatMap(([player, cells]) => cells.map((cell) => ({ player, ...at(cell) })));
    this.untouched.discard(this.#untold);
    this.incoming.push(...earlier.struck.map(at));
    for (const [player, cells] of earlier.met === null ? [] : earlier.aimed) {
      for (const cell of cells) this.#mark({ player, ...at(cell) }, earlier.met?.get(player)?.includes(cell) ?? false);
    }
    this.#lose(earlier.sunk, earlier.defeated);
  }

  /** Take in all that a recap has. @param {import("./announcements.js").Recap} recap @internal */
  recall(recap) {
    if (recap.earlier !== null) this.sumUp(recap.earlier);
    for (const result of recap.results) {
      this.fire(recap.shots.filter(({ turn }) => turn === result.turn).map(({ shot }) => shot));
      this.resolve(result);
    }
    this.fire(recap.shots.filter(({ turn }) => turn > recap.resolvedTurn).map(({ shot }) => shot));
    this.incoming.push(...recap.landed.map(([x, y]) => ({ x, y })));
    this.turn = recap.turn;
  }

  /** Take in a result. @param {Result} result @internal */
  resolve(result) {
    this.results.push(result);
    let fired = this.#fired;
    if (result.player === this.me) {
      this.#takeBack(fired.slice(result.shots), (fired = fired.slice(0, result.shots)));
      this.salvos.push({ turn: result.turn, shots: fired, result });
    }
    const aims = result.aims ?? (result.player === this.me ? fired : []);
    result.outcomes?.slice(0, aims.length).forEach((hit, number) => this.#mark(aims[number], hit));
    if (result.outcomes !== null) this.untouched.discardThoseLeft(aims);
    this.#lose(result.sunk, result.defeated);
    if (result.player === this.me) {
      this.shots = 0;
      this.#fired = [];
    }
  }

  /** @param {Shot} shot @param {boolean} hit a repeated shot that is announced as a miss undoes no hit */
  #mark(shot, hit) {
    const { player, x, y } = shot;
    const board = this.#marks.get(player) ?? new Map();
    board.set(keyOf(shot), { x, y, hit: hit || (board.get(keyOf(shot))?.hit ?? false) });
    this.#marks.set(player, board);
  }

  /** @param {{player: string, ship: string}[]} sunk @param {string[]} defeated */
  #lose(sunk, defeated) {
    for (const { player, ship } of sunk) this.#sunk.get(player)?.push(ship);
    for (const player of defeated) {
      this.defeated.push(player);
      this.opponents = this.opponents.filter((other) => other !== player);
      this.untouched.discardPlayer(player);
    }
  }

  /** Forget the last shots of a salvo, which did not count. @param {Shot[]} lost @param {Shot[]} counted */
  #takeBack(lost, counted) {
    if (!lost.length) return;
    const known = new Set([...this.salvos.flatMap((salvo) => salvo.shots), ...counted, ...this.#untold].map(keyOf));
    this.untouched.restore(lost.filter((shot) => !known.has(keyOf(shot)) && !this.#marks.get(shot.player)?.has(keyOf(shot))));
  }
}
