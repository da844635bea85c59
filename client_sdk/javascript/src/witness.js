// A team as a witness of its own games: compares what the server announces with what it signs (SALVO-LOG).

import { PROTOCOL, readPlacement, readResult, readStats, readTurn } from "./announcements.js";
import { sameBytes, toHex } from "./bytes.js";
import { TrustError, WireError } from "./errors.js";
import { entryDigest, forked, LogChain, LogError, notOpened, readHidden, readSigned } from "./log.js";
import { fingerprint } from "./seal.js";
import * as shape from "./shape.js";

/** How long the log may lag behind the news, in seconds. */
const CONFIRM = 10;
/** How long entries may be missing before a request, and the longest pause between requests. */
const ASK = 1;
const LONGEST_PAUSE = 8;
/** How far the log's clock may run ahead of the team's. */
const CLOCK = 5;
const MOST_GAMES = 4;
const MOST_PENDING = 256;

/** @typedef {import("./log.js").Entry} Entry */
/** @typedef {import("./log.js").Opening} Opening */
/** @typedef {import("./rules.js").Placement} Placement */
/** @typedef {import("./announcements.js").Announcement} Announcement */
/** @typedef {{type: "gameVerified", game: number, whole: boolean}} Verified */

/** How the log says what the plain topics say, too. @type {{[kind: string]: (body: any) => any[]}} */
const FACTS = {
  state: ({ state }) => ["state", state],
  players: ({ names }) => ["players", names],
  judged: ({ player, spelling, approved }) => ["judged", player, spelling, approved],
  turn: (body) => ["turn", readTurn(body, "turn")],
  turn_resumed: (body) => ["turn", readTurn(body, "turn")],
  result: (body) => ["result", readResult(body)],
  stats: (body) => ["stats", readStats(body)],
  won: ({ winner, tied = [] }) => ["won", winner, tied],
  revealed: ({ player, fleet }) => ["revealed", player, shape.list(readPlacement)(fleet, "fleet")],
};

/** @param {Announcement} said @returns {string | null} */
function factOf(said) {
  switch (said.kind) {
    case "judged": return said.approved ? JSON.stringify(FACTS.judged(said)) : null; // see SALVO-PLACE-9
    case "state": case "players": case "turn": case "won": return JSON.stringify(FACTS[said.kind](said));
    case "result": return JSON.stringify(["result", said.result]);
    case "stats": return JSON.stringify(["stats", said.stats]);
    case "revealed": return JSON.stringify(["revealed", said.player, said.fleet]);
    default: return null;
  }
}

/** What the team sent for one game. */
class Sent {
  constructor() {
    /** @type {Map<string, string>} by ship, the latest placement */
    this.fleet = new Map();
    /** @type {Set<string>} */
    this.placements = new Set();
    /** @type {Set<string>} digests of all placements that were sent */
    this.messages = new Set();
    this.refused = false;
    /** Whether an earlier run of this program may have sent placements, too. */
    this.elsewhere = false;
    /** @type {Map<number, Set<string>>} number and shot, by turn */
    this.shots = new Map();
    /** @type {Set<number>} turns that this program played from their first shot */
    this.fromFirstShot = new Set();
    /** @type {Set<number>} */
    this.skipped = new Set();
    this.takenUp = 0;
  }
}

/** The log of one game, as far as it was heard. */
class Game {
  /** @param {string} of */
  constructor(of) {
    this.of = of;
    this.chain = new LogChain();
    /** @type {Map<number, {bytes: Uint8Array, entry: Entry}>} entries after a missing one */
    this.early = new Map();
    this.at = 0;
    this.over = false;
    this.aborted = false;
    this.whole = false;
    /** Whether the last list lacks this team, so that its fleet is in no game. */
    this.excluded = false;
    /** @type {Set<string>} */
    this.confirmed = new Set();
    /** @type {Uint8Array[]} */
    this.hidden = [];
    /** @type {string[]} */
    this.texts = [];
    this.steps = 0;
    /** @type {Map<number, number>} shots of this team, by turn */
    this.shots = new Map();
    /** @type {NonNullable<Entry["reveal"]> | null} */
    this.revealed = null;
  }

  get number() {
    return this.chain.opening?.game ?? 0;
  }

  /** Keep an entry until all earlier ones are there; return whether it is new. @param {Uint8Array} bytes @param {Entry} entry */
  hold(bytes, entry) {
    if (entry.n < this.chain.nextNumber) return this.chain.link(bytes, entry);
    const known = this.early.get(entry.n);
    if (known === undefined) this.early.set(entry.n, { bytes, entry });
    else if (!sameBytes(known.bytes, bytes)) throw forked(entry.n);
    return known === undefined;
  }

  /** Return the next entry in order; null when it is missing. */
  takeReady() {
    const ready = this.early.get(this.chain.nextNumber);
    if (ready === undefined) return null;
    this.early.delete(this.chain.nextNumber);
    this.chain.link(ready.bytes, ready.entry);
    return ready.entry;
  }
}

/** Compares what one team hears and has sent with the server's signed log. */
export class Witness {
  /** @type {Uint8Array | null} */
  #key = null;
  #newer = false;
  #gaveUp = false;
  /** @type {Game[]} the latest first */
  #games = [];
  /** @type {Map<string, number>} facts, and when they were heard */
  #pending = new Map();
  /** @type {number | null} */
  #doubtedAt = null;
  #leastLag = Infinity;
  #ahead = 0;
  /** @type {Set<string>} sent since the comparison of clocks began */
  #asked = new Set();
  /** @type {Map<number, Sent>} */
  #sent = new Map();
  #behind = false;
  /** @type {number | null} */
  #askAt = null;
  #pause = ASK;

  /** @param {string} name */
  constructor(name) {
    this.name = name;
  }

  /** Follow a server's log: nothing is checked before its key is known. @param {Uint8Array | null} key @param {number} minor */
  follow(key, minor) {
    this.#key = key ?? this.#key;
    this.#newer = minor > PROTOCOL.minor;
  }

  /** Whether part of a game's log is still to come. @param {number} game */
  awaits(game) {
    return this.#games.some((each) => !each.whole && (each.number === 0 || each.number === game));
  }

  /** @returns {Game | undefined} */
  get #current() {
    return this.#games.toSorted((one, other) => other.at - one.at)[0];
  }

  /** Return the number of the first entry to request, if a request is due (SALVO-LOG-12). @param {number} now */
  missed(now) {
    const game = this.#current;
    const gap = this.#behind || (game !== undefined && !game.whole && game.early.size > 0);
    if (this.#key === null || this.#gaveUp || !gap) {
      this.#askAt = null;
      return null;
    }
    if (this.#askAt === null) {
      this.#askAt = now + ASK;
      this.#pause = ASK;
    }
    if (now < this.#askAt) return null;
    const inVain = this.#pause > ASK; // by now another game is on, with a shorter log, or there is no server
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    this.#askAt = now + this.#pause;
    return game === undefined || inVain ? 0 : Math.max(0, game.chain.nextNumber - 1);
  }

  // --- what the team does -------------------------------------------------------------------------------------------

  /** @param {number} game @param {Placement} placement @param {string} digest of the message */
  placed(game, placement, digest) {
    const sent = this.#of(game);
    sent.fleet.set(placement.ship, JSON.stringify(placement));
    sent.placements.add(JSON.stringify(placement));
    sent.messages.add(digest);
    this.#asked.add(digest);
  }

  /** Note that a placement was refused: a fleet of an earlier run may be in force. @param {number} game */
  refused(game) {
    this.#of(game).refused = true;
  }

  /** Note that the team left the list: its placements no longer count. @param {number} game */
  struckOff(game) {
    this.#of(game).fleet = new Map();
  }

  /** Note that the server knew the team before it had placed. @param {number} game */
  cameBack(game) {
    this.#of(game).elsewhere = true;
  }

  /** Note that an earlier run has played up to a turn. @param {number} game @param {number} turn */
  tookUp(game, turn) {
    this.#of(game).takenUp = turn;
  }

  /** @param {number} game @param {number} turn @param {number} number @param {import("./view.js").Shot} shot */
  fired(game, turn, number, { player, x, y }) {
    const sent = this.#of(game);
    this.#asked.add(`${game} ${turn}`);
    if (number === 1 && turn > sent.takenUp) sent.fromFirstShot.add(turn);
    const shots = sent.shots.get(turn) ?? new Set();
    sent.shots.set(turn, shots.add(`${number} ${player} ${x} ${y}`));
  }

  /** @param {number} game @param {number} turn */
  skipped(game, turn) {
    this.#asked.add(`${game} ${turn}`);
    this.#of(game).skipped.add(turn);
  }

  /** @param {number} game */
  #of(game) {
    for (const older of [...this.#sent.keys()].filter((number) => number < game - 1)) this.#sent.delete(older);
    const sent = this.#sent.get(game) ?? new Sent();
    this.#sent.set(game, sent);
    return sent;
  }

  // --- what it hears ------------------------------------------------------------------------------------------------

  /** Take in live news from a plain topic. @param {Announcement} said @param {number} now */
  receive(said, now) {
    const current = this.#current;
    if (current === undefined || current.over) return;
    const fact = factOf(said);
    if (fact === null || this.#games.some((game) => game.confirmed.has(fact)) || this.#pending.size >= MOST_PENDING) return;
    if (!this.#pending.has(fact)) this.#pending.set(fact, now);
  }

  /** Note that news and confirmations may have been missed. */
  connectedAnew() {
    this.#pending.clear();
    this.#behind = true;
    this.#beginComparingClocks();
  }

  /** Return what contradicts the log by now, each only once. @param {number} now @returns {{type: "logDoubted", text: string}[]} */
  doubts(now) {
    if (this.#ahead) {
      const text = `the clock of the server's log has run ${this.#ahead.toFixed(1)} s ahead of this team's`;
      this.#ahead = 0;
      return [{ type: "logDoubted", text: `${text}, which shortens turns, unless this machine slept` }];
    }
    const late = [...this.#pending].filter(([, since]) => now - since > CONFIRM).map(([fact]) => fact);
    late.forEach((fact) => this.#pending.delete(fact));
    if (!late.length || (this.#doubtedAt !== null && now - this.#doubtedAt < CONFIRM)) return [];
    this.#doubtedAt = now;
    const more = late.length > 1 ? ` and ${late.length - 1} more` : "";
    return [{ type: "logDoubted", text: `the server's log does not confirm within ${CONFIRM} s: ${late[0].slice(0, 200)}${more}` }];
  }

  /**
   * Take in a payload of `/game/log`.
   *
   * @param {Uint8Array} payload
   * @param {number} now
   * @returns {Verified[]}
   * @throws {TrustError} `impostor`: the server has not signed it; `unfair`: it has, and it is a contradiction
   * @throws {WireError} it cannot be read
   */
  logged(payload, now) {
    const key = this.#key;
    if (key === null || this.#gaveUp) return [];
    try {
      const { bytes, entry } = readSigned(payload, key);
      return this.#takeIn(bytes, entry, now);
    } catch (error) {
      if (!(error instanceof LogError)) throw error;
      if (this.#newer && (error.code === "log_wrong" || error.code === "unknown_version")) throw this.#giveUp();
      if (error.code === "log_forged") {
        throw new TrustError("impostor", `an entry of the log is not signed by the server ${fingerprint(key)}: it is from an impostor`);
      }
      if (error.fault === "server" || error.fault === "forked") throw new TrustError("unfair", `${error.code}: ${error.text}`);
      throw new WireError(error.code === "unknown_version" ? error.code : "wrong_shape", error.text);
    }
  }

  /** Compare nothing from now on: what cannot be read neither confirms nor contradicts (SALVO-VERSION-3). */
  #giveUp() {
    this.#gaveUp = true;
    this.#games = [];
    this.#pending.clear();
    return new WireError("unknown_version", "the server runs a later version, whose log this one cannot read: "
      + "this team's games are not compared with it any more; install the server's version of battleship-salvo");
  }

  /** @param {Uint8Array} bytes @param {Entry} entry @param {number} now */
  #takeIn(bytes, entry, now) {
    const game = this.#gameOf(bytes, entry);
    try {
      return this.#follow(game, bytes, entry, now);
    } catch (error) {
      const repeated = error instanceof LogError && (error.code === "log_forked" || error.code === "log_broken");
      if (!repeated || game.chain.opening?.draw !== "seed") throw error;
    }
    this.#games = this.#games.filter((each) => each !== game); // the same seed again: another game with an identical opening
    return this.#follow(this.#gameOf(bytes, entry), bytes, entry, now);
  }

  /** @param {Uint8Array} bytes @param {Entry} entry */
  #gameOf(bytes, entry) {
    const of = entry.of || entryDigest(bytes).slice(0, 16);
    const [opening, latest] = [entry.open, this.#current];
    if (opening !== null) {
      // An empty lobby may be opened again with other settings (SALVO-BACK-6).
      const isEmpty = (/** @type {Game} */ each) => each.chain.nextNumber === 1 && each.early.size === 0;
      this.#games = this.#games.filter((each) => each.of === of || each.number !== opening.game || !isEmpty(each));
    }
    const found = this.#games.find((game) => game.of === of);
    if (found !== undefined) return found;
    const game = new Game(of);
    if (opening !== null) {
      this.#pending.clear(); // about the lobby that just opened, or a game that is gone
      this.#beginComparingClocks(); // the operator may have set the server's clock
      if (latest !== undefined && opening.game > latest.number) game.at = latest.at;
    }
    this.#games.unshift(game);
    if (this.#games.length > MOST_GAMES) {
      const oldest = this.#games.slice(1).toSorted((one, other) => one.at - other.at)[0];
      this.#games = this.#games.filter((each) => each !== oldest);
    }
    return game;
  }

  /** Take in an entry of a game, and all entries that waited for it. @param {Game} game @param {Uint8Array} bytes @param {Entry} entry @param {number} now */
  #follow(game, bytes, entry, now) {
    const [end, gap] = [game.chain.nextNumber, game.early.size > 0];
    const news = game.hold(bytes, entry);
    if (news && entry.step !== null) {
      this.#confirm(game, entry.step);
      this.#compareClocks(entry.step, now);
    }
    /** @type {Verified[]} */
    const found = [];
    for (let ready = game.takeReady(); ready !== null; ready = game.takeReady()) {
      this.#askAt = null; // there is an answer
      found.push(...this.#account(game, ready));
    }
    if (game.early.size && !gap) this.#pending.clear(); // missing entries may have confirmed it
    if (!game.early.size && entry.n >= end - 1) this.#behind = false;
    if (news && entry.end !== null && !game.whole) {
      game.over = true;
      found.push({ type: "gameVerified", game: game.number, whole: false });
    }
    return found;
  }

  /** @param {Game} game @param {import("./log.js").Step} step */
  #confirm(game, step) {
    game.at = Math.max(game.at, step.at);
    for (const [kind, body] of step.said) {
      if (!(kind in FACTS)) continue;
      const fact = JSON.stringify(FACTS[kind](body));
      game.confirmed.add(fact);
      this.#pending.delete(fact);
    }
  }

  #beginComparingClocks() {
    this.#leastLag = Infinity;
    this.#asked.clear();
  }

  /** Hold a step's time against the team's clock (SALVO-LOG-13). @param {import("./log.js").Step} step @param {number} now */
  #compareClocks(step, now) {
    if (this.#leastLag === Infinity && !this.#answers(step)) return;
    const lag = now - step.at / 1000;
    if (this.#leastLag < Infinity && lag + CLOCK < this.#leastLag) this.#ahead = this.#leastLag - lag;
    this.#leastLag = Math.min(this.#leastLag, lag);
  }

  /** Whether a step follows from what this team has sent since the comparison began. @param {import("./log.js").Step} step */
  #answers({ message, said }) {
    const own = said.some(([kind, body]) => kind === "result" && body.player === this.name && this.#asked.has(`${body.game} ${body.turn}`));
    return own || (message !== null && this.#asked.has(toHex(message)));
  }

  /** Add an entry in its order; check the whole game after the last one. @param {Game} game @param {Entry} entry @returns {Verified[]} */
  #account(game, entry) {
    if (entry.step !== null) {
      game.steps += 1;
      game.hidden.push(...entry.step.hidden);
      for (const [kind, body] of entry.step.said) {
        if (kind === "result" && body.player === this.name) game.shots.set(body.turn, body.shots);
        if (kind === "players") game.excluded = !body.names.includes(this.name);
        if (kind === "won") game.aborted = !body.winner && !body.tied?.length;
      }
    }
    if (entry.reveal !== null) {
      game.texts.push(...entry.reveal.texts);
      game.revealed ??= entry.reveal;
    }
    if (entry.end === null) return [];
    game.over = game.whole = true;
    this.#pending.clear();
    return [this.#judge(game, entry.end)];
  }

  // --- the end ------------------------------------------------------------------------------------------------------

  /** Check what was revealed against the commitments, and against what this team has sent. @param {Game} game @param {{steps: number, hidden: number}} end @returns {Verified} */
  #judge(game, end) {
    const opening = game.chain.opening;
    if (opening === null) throw new WireError("wrong_shape", "a log without its opening");
    const { hidden, texts, steps, revealed } = game;
    if (end.steps !== steps || end.hidden !== texts.length || hidden.length !== texts.length) {
      throw unfair(opening, `it has ${steps} steps, ${hidden.length} commitments and ${texts.length} revealed texts, and its end `
        + `tells of ${end.steps} and ${end.hidden}`);
    }
    if (revealed === null) throw unfair(opening, "nothing was revealed");
    const wrong = notOpened(opening, revealed, hidden, texts);
    if (wrong !== null) throw unfair(opening, wrong);
    this.#checkOwn(game, opening);
    return { type: "gameVerified", game: opening.game, whole: true };
  }

  /** @param {Game} game @param {Opening} opening */
  #checkOwn(game, opening) {
    const sent = this.#sent.get(opening.game);
    if (sent === undefined) return;
    this.#sent.delete(opening.game);
    const inputs = game.texts.map((text) => {
      try {
        return readHidden(text);
      } catch (error) {
        throw unfair(opening, `a revealed text is not an input: ${error instanceof WireError ? error.text : error}`);
      }
    });
    if (!game.excluded) this.#checkPlacements(opening, sent, inputs.flatMap(({ place }) => (place?.player === this.name ? [place] : [])));
    const shots = inputs.flatMap(({ fire }) => (fire?.player === this.name ? [fire] : []));
    this.#checkShots(game, opening, sent, shots);
    for (const { skip } of inputs) {
      const turn = skip?.player === this.name ? (skip.context?.turn ?? 0) : 0;
      if (sent.fromFirstShot.has(turn) && !sent.skipped.has(turn)) throw unfair(opening, `turn ${turn}: a skip of ${this.name} counted that was never sent`);
    }
  }

  /**
   * Each ship's final placement must be one that was sent, in its own message, which influences the starter. A placement
   * does not say which game it is for: one for a lobby that a host replaced may count in the next game.
   *
   * @param {Opening} opening @param {Sent} sent @param {NonNullable<ReturnType<typeof readHidden>["place"]>[]} counted
   */
  #checkPlacements(opening, sent, counted) {
    if (sent.refused) return;
    const replaced = this.#sent.get(opening.game - 1) ?? new Sent(); // a game that ended is no longer there
    for (const [ship, placement] of sent.fleet) {
      const last = counted.findLast((each) => each.ship === ship);
      const told = last && JSON.stringify({ ship: last.ship, x: last.x, y: last.y, orientation: last.orientation });
      if (last === undefined || (told !== placement && !replaced.placements.has(/** @type {string} */ (told)))) {
        throw unfair(opening, `${told ?? `no ${ship}`} counted for ${this.name}, which sent ${placement}`);
      }
      const ours = sent.messages.has(last.message) || replaced.messages.has(last.message);
      if (opening.draw === "fair" && !sent.elsewhere && !ours) {
        throw unfair(opening, `the ${ship} of ${this.name} came with the message ${last.message}, which it never sent`);
      }
    }
  }

  /**
   * In every turn that this program played from its first shot, only its own shots may have counted. Shots without
   * context come from another program with the same secret; then this program does not know them all.
   *
   * @param {Game} game @param {Opening} opening @param {Sent} sent @param {NonNullable<ReturnType<typeof readHidden>["fire"]>[]} counted
   */
  #checkShots(game, opening, sent, counted) {
    if (counted.some((shot) => shot.context === null)) return;
    for (const turn of sent.fromFirstShot) {
      const shots = counted.filter((shot) => shot.context?.turn === turn);
      for (const { context, target, x, y } of shots) {
        if (!sent.shots.get(turn)?.has(`${context?.shot} ${target} ${x} ${y}`)) {
          throw unfair(opening, `turn ${turn}: a shot at ${target} (${x}, ${y}) counted that was never fired`);
        }
      }
      const announced = game.shots.get(turn) ?? 0;
      const unfinished = game.aborted && !game.shots.has(turn); // a host ended the game in it (SALVO-HOST-5)
      if (shots.length !== announced && !unfinished) throw unfair(opening, `turn ${turn}: it announced ${announced} shots, and revealed ${shots.length}`);
    }
  }
}

/** @param {Opening} opening @param {string} text */
const unfair = (opening, text) => new TrustError("unfair", `the log of game ${opening.game}, which the server signed: ${text}`);
