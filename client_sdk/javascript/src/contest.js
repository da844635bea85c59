// Play a bot in a contest, game after game: its session on a connection.

import { readEvening } from "./announcements.js";
import { BotError, call, fleetOf, salvoOf } from "./bot.js";
import { sodium, toBase64, toHex } from "./bytes.js";
import { BrokerUrl, Connection } from "./connection.js";
import { SalvoError, WireError } from "./errors.js";
import { KnownServers } from "./knownServers.js";
import { LeagueNews } from "./leagueNews.js";
import { generator, ownSeed } from "./random.js";
import { fingerprint } from "./seal.js";
import { Session } from "./session/session.js";
import { checkName, LEAGUE } from "./topics.js";

/** @typedef {import("./session/session.js").SessionEvent} SessionEvent */
/** @typedef {import("./announcements.js").Seat} Seat */

/** Refusals that no retry of the same program cures. */
const FINAL = new Set(["name_taken", "bad_name", "not_in_roster", "sealed_required"]);
/** In seconds: between two looks at what is due; for the last log; until the server has struck a player off, who moves, who goes; of a lost broker. */
const TICK = 0.25;
const LAST_WORDS = 3;
const LEAVING = 5;
const GOODBYE = 2;
const LOST = 10;

/**
 * How a game ended; `winner` is empty after a tie and in an aborted game.
 *
 * @typedef {{game: number, winner: string, place: number, aborted: boolean,
 *   stats: Map<string, import("./announcements.js").Stats>}} GameReport
 */

/**
 * @typedef {object} ContestOptions
 * @property {string | null} [secret] the team's; null draws one, for a server that admits everyone
 * @property {string} [table] its name; without one, the bot follows the seats that a host gives
 * @property {number | null} [games] how many; null for as many as there are
 * @property {string} [seed] of everything random in the bot: keep it secret
 * @property {Uint8Array | null} [ca] PEM of the authority that signed the broker's certificate (Node.js)
 * @property {boolean} [pin] whether to remember the server's key
 * @property {boolean} [strict] whether an error of the bot ends everything; otherwise it loses the turn
 * @property {(event: SessionEvent) => void} [listener] gets every event first
 * @property {(text: string) => void} [log]
 * @property {AbortSignal | null} [signal] ends it: in the lobby the team leaves the list, in a game it may come back
 */

/** Return the report as a line. @param {GameReport} report @param {string} team */
export const reportLine = ({ game, winner, place, aborted }, team) =>
  aborted ? `game ${game}: the host has aborted it` : `game ${game}: ${winner || "no one alone"} wins, ${team} is number ${place}`;

/**
 * Play games in a contest, until `games` are over or without end.
 *
 * @param {import("./bot.js").BotClass} Player
 * @param {string} url of the broker: `mqtt://HOST:PORT`, or `wss://HOST/mqtt` in a browser
 * @param {string} team
 * @param {ContestOptions} [options]
 * @returns {Promise<GameReport[]>}
 * @throws {SalvoError} the broker or the server refuses the team, or is not the one that it was
 */
export async function play(Player, url, team, options = {}) {
  const known = (options.pin ?? true) ? await KnownServers.ofUser() : null;
  const contestant = new Contestant(new Player(), new BrokerUrl(url), checkName(team), known, options);
  try {
    return await contestant.play();
  } finally {
    await contestant.close();
  }
}

class Contestant {
  /** @type {GameReport[]} */
  #reports = [];
  /** @type {Promise<void>} what is being done, one thing after the other */
  #work = Promise.resolve();
  /** @type {(error: unknown) => void} */
  #fail = () => {};
  /** @type {() => void} */
  #finish = () => {};
  /** @type {(() => void) | null} while the team leaves */
  #gone = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;
  #ownSeed = "";
  /** @type {number | null} */
  #settleBy = null;
  #closed = false;
  #secretShown = false;

  // seats (SALVO-SEAT)
  /** @type {Seat | null} what was said last */
  #seat = null;
  /** @type {string[]} where its seat is said, the next one first */
  #brokers = [];
  /** Whether only a host can have said it. */
  #guarded = false;
  /** @type {number | null} */
  #leavingSince = null;
  #connectedAt = now();
  #staysUntil = now();
  #league;

  /**
   * @param {import("./bot.js").Bot} bot @param {BrokerUrl} url @param {string} team @param {KnownServers | null} known @param {ContestOptions} options
   */
  constructor(bot, url, team, known, options) {
    this.bot = bot;
    this.team = team;
    this.known = known;
    this.options = options;
    this.log = options.log ?? ((/** @type {string} */ text) => console.warn(text));
    this.seed = options.seed ?? toHex(sodium.randombytes_buf(16));
    this.secret = options.secret != null ? withoutGaps(options.secret) : toBase64(sodium.randombytes_buf(16)).replace(/[+/=]/g, "");
    if (options.secret == null && url.password !== null) { // it would open the broker, and not the contest
      throw new SalvoError("bad_url", `an address takes no team's secret: give ${url.text}, the name in SALVO_TEAM, the secret in SALVO_SECRET`);
    }
    this.username = url.username ?? (options.secret == null ? null : team);
    this.password = url.password ?? (options.secret == null ? null : this.secret);
    this.wanted = { table: options.table ?? "", broker: "" };
    this.#league = new LeagueNews(team);
    this.session = this.#sessionAt(url, this.wanted.table);
    this.connection = this.#connect(url);
  }

  async play() {
    /** @type {Promise<void>} */
    const ended = new Promise((finish, fail) => {
      this.#finish = finish;
      this.#fail = fail;
    });
    this.options.signal?.addEventListener("abort", () => this.#finish());
    // What has arrived is read first: a process that was held up would take a server for silent whose messages wait.
    const later = globalThis.setImmediate ?? setTimeout;
    this.#timer = setInterval(() => later(() => this.#do(() => this.#tick())), TICK * 1000);
    try {
      await ended;
    } catch (error) {
      if (error instanceof BotError) await this.#leave();
      throw error; // else it was refused, or trusts no server
    }
    await this.#leave();
    return this.#reports;
  }

  /** Leave the lobby, and wait for that, but not for long (SALVO-JOIN-15); in a game, or without a connection, do nothing. */
  async #leave() {
    if (!this.connection.connected) return;
    /** @type {Promise<void>} */
    const gone = new Promise((finish) => (this.#gone = finish));
    this.session.leave(); // at once: the bot may be at work for long
    this.#send();
    this.#lookWhetherGone();
    let timer;
    await Promise.race([gone, new Promise((done) => (timer = setTimeout(done, GOODBYE * 1000)))]);
    clearTimeout(timer);
  }

  #lookWhetherGone() {
    if (!this.connection.connected || this.session.state !== "lobby" || !this.session.listed) this.#gone?.();
  }

  async close() {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.connection.close();
    await call("close", () => this.bot.close()).catch((error) => this.#blame(error, "nothing is lost"));
  }

  /** Do something after everything before it. @param {() => void | Promise<void>} work */
  #do(work) {
    this.#work = this.#work.then(() => (this.#closed ? undefined : work())).catch((error) => this.#fail(error));
  }

  // --- the connection -----------------------------------------------------------------------------------------------

  /** @param {BrokerUrl} url @param {string} table */
  #sessionAt(url, table) {
    const alwaysSeal = this.known !== null && this.known.keyOf(url.address) !== null;
    return new Session(this.team, this.secret, generator(ownSeed(this.seed, this.team, 1), this.team, 1), { table, alwaysSeal });
  }

  /** @param {BrokerUrl} url */
  #connect(url) {
    const clientId = `salvo-${this.team}${this.options.table ? `-${this.options.table}` : ""}`;
    const { username, password } = this;
    /** @type {Connection} */
    const connection = new Connection(url, { clientId, username, password, ca: this.options.ca ?? null }, {
      connected: () => this.#do(() => this.#connected(connection)),
      message: (topic, payload, retained) => this.#do(() => this.#message(connection, topic, payload, retained)),
      failed: (error) => this.#do(() => this.#lost(error)),
      log: this.log,
    });
    return connection;
  }

  /** @param {Connection} connection */
  #connected(connection) {
    if (connection !== this.connection) return undefined;
    connection.subscribe(this.#filters());
    return this.#tell(this.session.connected(now()));
  }

  /** @param {SalvoError} error */
  #lost(error) {
    if (!this.#brokers.length) throw error;
    this.log(`${this.team}: ${error.message}`);
    this.#connectedAt = -Infinity;
  }

  /** @param {Connection} connection @param {string} topic @param {Uint8Array} payload @param {boolean} retained */
  async #message(connection, topic, payload, retained) {
    if (connection !== this.connection) return;
    let events;
    try {
      events = topic === LEAGUE ? this.#leagueNews(payload) : this.session.receive(topic, payload, retained, now());
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.log(`ignored noise on ${topic}: ${error.message}`);
      return;
    }
    await this.#tell(events);
  }

  /** Only who follows seats also follows the league. */
  #filters() {
    return this.options.table ? this.session.filters() : [...this.session.filters(), LEAGUE];
  }

  /** @param {Uint8Array} payload @returns {SessionEvent[]} */
  #leagueNews(payload) {
    return this.#league.lines(readEvening(payload)).map((text) => ({ type: "leagueSeen", text }));
  }

  /** @param {SessionEvent[]} events */
  async #tell(events) {
    for (const event of events) await this.#handle(event);
    this.#send();
    this.#lookWhetherGone();
  }

  #send() {
    for (const message of this.session.takeOutbox()) this.connection.publish(message);
  }

  // --- what is due --------------------------------------------------------------------------------------------------

  async #tick() {
    if (this.connection.connected) this.#connectedAt = now();
    if (this.#gone !== null) return this.#tell(this.connection.connected ? this.session.handleTimer(now()) : []);
    const { games = 1 } = this.options;
    if (games !== null && this.#reports.length >= games) return this.#settle();
    await this.#followSeat();
    if (this.connection.connected) await this.#tell(this.session.handleTimer(now()));
  }

  /** Wait for the rest of the last log, but not for long. */
  #settle() {
    this.#settleBy ??= now() + LAST_WORDS;
    if (!this.#awaitsLog() || now() >= this.#settleBy) return this.#finish();
    this.session.askForLog(now());
    this.#send();
  }

  #awaitsLog() {
    const last = this.#reports.at(-1);
    return last !== undefined && this.session.witness.awaits(last.game);
  }

  // --- seats --------------------------------------------------------------------------------------------------------

  async #followSeat() {
    const [time, { wanted, session }] = [now(), this];
    if (this.#brokers.length && time - this.#connectedAt >= LOST) {
      this.#brokers.push(/** @type {string} */ (this.#brokers.shift()));
      this.#staysUntil = time + LOST;
      await this.#go({ table: "", broker: /** @type {string} */ (this.#brokers.at(-1)) });
    } else if (wanted.broker ? this.#guarded && time >= this.#staysUntil : wanted.table !== session.table) {
      await this.#leaveFor(wanted, time);
    } else {
      this.#leavingSince = null;
      session.wantsToPlay = true;
    }
  }

  /**
   * Go to another table: after the game, with the last of its log, or off the list of the lobby. A seat at another broker
   * in mid-game means that the host has given up the game here (SALVO-SEAT-5).
   *
   * @param {{table: string, broker: string}} place @param {number} time
   */
  async #leaveFor(place, time) {
    const { session } = this;
    const plays = session.view !== null && session.state !== "over";
    if (plays && !place.broker) return;
    if (this.#leavingSince === null) {
      this.#leavingSince = time;
      session.leave();
      this.#send();
    }
    const waits = plays || (session.state === "lobby" && session.listed);
    if ((waits || this.#awaitsLog()) && time - this.#leavingSince < (waits ? LEAVING : LAST_WORDS)) return;
    await this.#go(place);
  }

  /** @param {{table: string, broker: string}} place */
  async #go(place) {
    this.#leavingSince = null;
    this.#connectedAt = now();
    const here = this.connection.url;
    const there = place.broker ? new BrokerUrl(place.broker) : here;
    if (here.encrypted && !there.encrypted) {
      this.log(`${this.team}: the seat at ${there.text} is not encrypted, as ${here.text} is: no secret is sent there`);
      this.wanted = { table: this.session.table, broker: "" };
      return;
    }
    const former = this.#filters();
    this.session = this.#sessionAt(there, place.table);
    this.wanted = { table: place.table, broker: "" };
    if (there.address !== here.address) {
      this.connection.close();
      this.connection = this.#connect(there);
    } else if (this.connection.connected) {
      const wanted = this.#filters();
      this.connection.unsubscribe(former.filter((topic) => !wanted.includes(topic)));
      await this.#connected(this.connection);
    }
  }

  /** @param {Seat | null} seat */
  #seated(seat) {
    if (!this.options.table) {
      this.wanted = seat ?? { table: "", broker: "" };
      this.#brokers = seat?.brokers.length ? [...seat.brokers] : this.#brokers;
    }
    if (JSON.stringify(seat) === JSON.stringify(this.#seat)) return;
    this.#seat = seat;
    if (this.#league.isOn) return; // whose lines name the table
    const where = seat === null ? "waits for its next seat" : `has a seat at ${seat.table ? `table ${seat.table}` : "the default table"}${seat.broker ? ` of ${seat.broker}` : ""}`;
    this.log(`${this.team}: ${where}`);
  }

  // --- what happens at the table ------------------------------------------------------------------------------------

  /** @param {SessionEvent} event */
  async #handle(event) {
    this.options.listener?.(event);
    const { session, team } = this;
    switch (event.type) {
      case "serverMet": return this.#met(event);
      case "fleetWanted":
        await this.#prepare(event.game);
        const fleet = await this.#fleet(event.rules);
        if (this.#gone !== null) break;
        session.place(fleet, now());
        this.log(`${team}: listed for game ${event.game}, fleet sent`);
        break;
      case "gameTakenUp":
        await this.#prepare(event.game);
        this.log(`${team}: back in game ${event.game}`);
        break;
      case "salvoWanted":
        await this.#answer(event.view);
        break;
      case "salvoHeard":
        await this.#call(`turn ${event.result.turn}, onResult`, () => this.bot.onResult(event.result));
        break;
      case "gameEnded": {
        await this.#call("onGameOver", () => this.bot.onGameOver(event.aborted ? null : event.winner, event.stats));
        const report = { ...event, place: event.stats.get(team)?.place ?? 0 };
        if (!event.missed) this.#reports.push(report);
        this.log(`${team}: ${reportLine(report, team)}${event.missed ? "; this was over already" : ""}`);
        break;
      }
      case "seated": return this.#seated(event.seat);
      case "leagueSeen": this.log(`${team}: ${event.text}`); break;
      case "refused":
        if (FINAL.has(event.code)) throw new SalvoError(event.code, event.text);
        this.log(`${team}: ${event.code}: ${event.text}`);
        break;
      case "said":
        if (event.from === team) break;
        this.log(`${team}: ${event.from || "the server"} says${event.private ? " to us" : ""}: ${event.text}`);
        await this.#call("onMessage", () => this.bot.onMessage(event.from, event.text, event.private));
        break;
      case "waits": this.log(`${team}: ${event.text}`); break;
      case "logDoubted": this.log(`${team}: ${event.text}; asked the server how the game stands`); break;
      case "gameVerified":
        if (event.whole) this.log(`${team}: game ${event.game} was as the server had committed to it`);
        break;
      case "hostSeen": this.log(`${team}: host ${event.by}: ${event.do}${event.text ? `: ${event.text}` : ""}`); break;
      case "serverSeen": this.log(`the server is ${event.presence}`); break;
    }
    this.#passOn();
  }

  /** @param {Extract<SessionEvent, {type: "serverMet"}>} event */
  #met({ keys, profile }) {
    this.known?.meet(this.connection.url.address, keys?.sign ?? null);
    this.#guarded = profile !== "open";
    if (keys !== null) this.log(`the server is ${fingerprint(keys.sign)}`);
    if (this.options.secret == null && this.#guarded && profile) {
      throw new SalvoError("secret_wanted", `the server's profile is ${profile}, and no secret was given: put ${this.team}'s into SALVO_SECRET`);
    }
  }

  /** @param {number} game */
  async #prepare(game) {
    this.#ownSeed = ownSeed(this.seed, this.team, game);
    if (this.options.secret == null && !this.#secretShown) this.log(`secret of ${this.team}: ${this.secret} (put it into SALVO_SECRET to come back)`);
    this.#secretShown = true;
    await this.#call("prepare", () => this.bot.prepare(this.team, this.#ownSeed, game));
    this.session.reseed(this.bot.random);
  }

  /** @param {import("./rules.js").RuleBook} rules */
  async #fleet(rules) {
    try {
      return await fleetOf(this.bot, rules);
    } catch (error) {
      this.#blame(error, "a drawn fleet is placed instead");
      return rules.randomFleet(generator(this.#ownSeed, "fleet"));
    }
  }

  /** Ask until the turn's shots are used up or the bot gives up the rest. @param {import("./view.js").View} view */
  async #answer(view) {
    while (view.shots) {
      const shots = await salvoOf(this.bot, view).catch((error) => {
        this.#blame(error, "the turn is lost");
        return [];
      });
      if (shots.length) {
        this.session.fire(shots);
        continue;
      }
      // With nothing left to shoot at, the shots on their way win the game.
      if (view.untouched.length) this.log(`${this.team}: turn ${view.turn}: ${view.shots} shots given up`);
      if (view.untouched.length || view.rules.skipping) this.session.skip();
      return;
    }
  }

  /** @param {string} where @param {() => void | Promise<void>} method */
  async #call(where, method) {
    await call(where, method).catch((error) => this.#blame(error, "the game goes on"));
  }

  /** @param {unknown} error @param {string} consequence */
  #blame(error, consequence) {
    if (this.options.strict || !(error instanceof BotError)) throw error;
    this.log(`${error.code}: ${this.team}, ${error.text}; ${consequence}`);
  }

  /** Send the bot's chat lines, if chat is on. */
  #passOn() {
    for (const { text, to } of this.bot.unsaid) {
      try {
        if (this.session.chat) this.session.say(text, to);
      } catch (error) {
        this.#blame(new BotError("bad_text", String(error)), "the game goes on");
      }
    }
    this.bot.unsaid = [];
  }
}

/**
 * Return the secret of a card that was typed with blanks or hyphens between its groups; any other as it is.
 *
 * @param {string} secret
 */
export function withoutGaps(secret) {
  const typed = secret.replace(/[\s-]+/g, "");
  return /^[0-9a-hjkmnp-tv-z]{26}$/.test(typed) ? typed : secret;
}

/** Seconds that never go back. */
function now() {
  return performance.now() / 1000;
}
