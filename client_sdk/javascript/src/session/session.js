// One player's side of the protocol, without a socket and without a clock: what arrived goes in, events come out.

import { readAnnouncement, readRecap, readSeat } from "../announcements.js";
import { sameBytes } from "../bytes.js";
import { SalvoError, TrustError, WireError } from "../errors.js";
import { generator } from "../random.js";
import { Fleet } from "../rules.js";
import { fingerprint } from "../seal.js";
import { checkName, filters, parseTopic } from "../topics.js";
import { View } from "../view.js";
import { Witness } from "../witness.js";
import { Outbox } from "./outbox.js";
import { Reports } from "./reports.js";
import { begin, next } from "./tables.js";

/** @typedef {import("../announcements.js").Turn} Turn */
/** @typedef {import("../announcements.js").Recap} Recap */
/** @typedef {import("../announcements.js").Stats} Stats */
/** @typedef {import("../announcements.js").ServerKeys} ServerKeys */
/** @typedef {import("../rules.js").RuleBook} RuleBook */
/** @typedef {import("../view.js").Shot} Shot */

/**
 * What a session reports: what to ask the player, and what it may learn.
 *
 * @typedef {{type: "fleetWanted", rules: RuleBook, game: number}
 *   | {type: "gameTakenUp", game: number}
 *   | {type: "salvoWanted", view: View}
 *   | {type: "salvoHeard", result: import("../announcements.js").Result}
 *   | {type: "gameEnded", game: number, winner: string, stats: Map<string, Stats>, aborted: boolean, missed: boolean}
 *   | {type: "hostSeen", by: string, do: string, text: string}
 *   | {type: "seated", seat: import("../announcements.js").Seat | null}
 *   | {type: "refused", code: string, text: string}
 *   | {type: "serverSeen", online: boolean}
 *   | {type: "serverMet", keys: ServerKeys | null, profile: string}
 *   | {type: "waits", code: string, text: string}
 *   | {type: "said", from: string, text: string, private: boolean}
 *   | {type: "logDoubted", text: string}
 *   | {type: "leagueSeen", text: string}
 *   | {type: "gameVerified", game: number, whole: boolean}} SessionEvent
 */

/** How long a placement, a salvo or a request for the recap may go unanswered, in seconds. */
const PATIENCE = 3;
/** The shortest and the longest pause between two requests to take part (SALVO-JOIN-16). */
const ASK_AGAIN = /** @type {const} */ ([3, 8]);
/** How long to wait for `/game/server`, which says whether to seal the request. */
const SERVER_SECONDS = 2;
/** A salvo is sent again after at most this share of the turn's time. */
const PATIENCE_SHARE = 1 / 3;

/** Refusals by which the server says that it has every ship of the team. */
const WHOLE_FLEET = new Set(["fleet_final", "wrong_state"]);

/** One team at one table. */
export class Session {
  #states = begin();
  /** @type {SessionEvent[]} */
  #events = [];
  /** What a host did last has this text. @type {string | undefined} */
  #hostSaid;
  /** @type {string | undefined} what a host did last */
  #hostDid;
  #now = 0;
  #outbox;
  #reports;
  #random;
  #alwaysSeal;
  /** Not the bot's: a lost message must not change what it draws. */
  #pauses;

  // joining
  #awaitsRecap = false;
  #met = false;
  /** @type {ServerKeys | null} */
  #keys = null;
  #entered = 0;
  /** @type {number | null} when to ask again; null until the first call with the time */
  #askDue = null;
  /** @type {number | null} */
  #unansweredSince = null;
  /** @type {SessionEvent | null} */
  #refusal = null;

  // placing
  #approved = new Set();
  #sentAt = 0;

  // playing
  /** @type {Map<string, Stats>} */
  #stats = new Map();
  /** @type {string[] | null} */
  #winners = null;
  /** Whether the game was over when the session took it up. */
  #missed = false;
  /** @type {Turn | null} */
  #turn = null;
  #deadline = 0;
  /** @type {{game: number, turn: number} | null} the turn that the view is in */
  #begun = null;
  /** @type {number | null} when to send the salvo again */
  #salvoDue = null;

  // the table
  #wantsToPlay = true;
  #turnMs = 0;
  /** @type {Recap | null} of this game */
  #newestRecap = null;
  /** @type {number | null} */
  #connectedAt = null;

  /**
   * Time is given in seconds of any steady clock.
   *
   * @param {string} name
   * @param {string} secret
   * @param {import("../random.js").Random} random source of the bot's draws
   * @param {{table?: string, sealer?: import("../seal.js").Sealer | null, alwaysSeal?: boolean}} [options] `alwaysSeal`:
   *   never send the secret openly, because this server is known to have keys
   * @throws {WireError} `bad_name`
   */
  constructor(name, secret, random, { table = "", sealer = null, alwaysSeal = false } = {}) {
    this.name = checkName(name);
    this.table = table;
    /** Whether the server lets players chat. */
    this.chat = true;
    /** The table's rules; null before they were heard. @type {RuleBook | null} */
    this.rules = null;
    /** The number of the table's game; 0 before it was heard. */
    this.game = 0;
    /** The names on the table's list. @type {string[]} */
    this.players = [];
    /** Whether the list has this player. */
    this.listed = false;
    /** The fleet of this game; null before there is one. @type {Fleet | null} */
    this.fleet = null;
    /** What the player knows of the game in play; null between games. @type {View | null} */
    this.view = null;
    /** @internal */
    this.witness = new Witness(name);
    this.#outbox = new Outbox(table, name, secret, sealer, this.witness);
    this.#reports = new Reports(this);
    this.#random = random;
    this.#alwaysSeal = alwaysSeal;
    this.#pauses = generator(name, "pauses");
  }

  /** The states of the machines, by name. @returns {Readonly<{[machine: string]: string}>} */
  get states() {
    return { ...this.#states };
  }

  /** Whether to ask for a seat, in the lobby that is open or in the next one. */
  get wantsToPlay() {
    return this.#wantsToPlay;
  }

  set wantsToPlay(wants) {
    const again = wants && !this.#wantsToPlay;
    this.#wantsToPlay = wants;
    if (again && this.state === "lobby" && !this.#hasPlace) this.#ask();
  }

  /** The state of the table; null before it was heard. @returns {import("../announcements.js").State | null} */
  get state() {
    const state = this.#states.following;
    return state === "unheard" ? null : state === "doubted" ? "turn" : /** @type {any} */ (state);
  }

  /** Return the topics to subscribe to. */
  filters() {
    return filters(this.table, this.name);
  }

  /** Return the messages to publish, and clear them. */
  takeOutbox() {
    return this.#outbox.take();
  }

  /** Use another source of randomness from now on. @param {import("../random.js").Random} random */
  reseed(random) {
    this.#random = random;
    this.view?.reseed(random);
  }

  // --- the machines -------------------------------------------------------------------------------------------------

  /** @param {string} machine @param {string} event */
  #handle(machine, event) {
    const { state, action } = next(machine, this.#states[machine], event);
    this.#states[machine] = state;
    if (action !== null) this.#actions[action]();
  }

  /** @type {{[action: string]: () => void}} */
  #actions = {
    wait: () => {
      this.#forgetRequest();
      this.#entered = this.#now;
    },
    request: () => {
      this.#askDue = this.#now + (this.#awaitsRecap ? PATIENCE : this.#pauses.uniform(...ASK_AGAIN));
      this.#unansweredSince ??= this.#now;
      this.#outbox.request(this.#keys?.seal ?? null);
    },
    leave: () => {
      this.#forgetRequest();
      this.#askDue = null;
      this.#outbox.leave(this.game);
    },
    forgetRequest: () => this.#forgetRequest(),
    dispute: () => {
      this.#entered = this.#askDue = this.#now;
    },
    reportRefusal: () => {
      if (this.#refusal !== null) this.#events.push(this.#refusal);
      this.#refusal = null;
    },
    requestLater: () => {
      this.#forgetRequest();
      this.#askDue = this.#now + PATIENCE;
    },
    askFleet: () => {
      if (this.rules !== null) this.#events.push({ type: "fleetWanted", rules: this.rules, game: this.game });
    },
    sendShips: () => {
      const missing = this.fleet?.placements.filter(({ ship }) => !this.#approved.has(ship)) ?? [];
      this.#sentAt = this.#now;
      this.#outbox.place(this.game, missing);
    },
    forgetFleet: () => {
      this.fleet = null;
      this.#approved = new Set();
    },
    askShots: () => {
      if (this.view !== null) this.#events.push({ type: "salvoWanted", view: this.view });
    },
    repeatShots: () => this.#repeatShots(),
    repeatSkip: () => this.#repeatSkip(),
    repeatAll: () => {
      this.#repeatShots();
      this.#repeatSkip();
    },
    reportEnd: () => this.#reportEnd(),
    forgetView: () => {
      this.view = this.#turn = this.#begun = this.#winners = null;
      this.#stats = new Map();
      this.#missed = false;
    },
    askRecap: () => this.#ask(),
    openLobby: () => {
      this.#forgetGame();
      if (this.wantsToPlay) this.#ask();
    },
    forgetGame: () => this.#forgetGame(),
    serverBack: () => {
      if (this.view !== null) this.#connected(); // it may repeat old news: only the recap counts
      else if (this.wantsToPlay) this.#askAnew();
    },
    serverHere: () => {
      const settled = this.state === "over" || (this.state === "lobby" && this.listed);
      if (this.view !== null) {
        if (this.view.game === this.game) this.#connected();
      } else if (this.wantsToPlay && !settled) this.#askAnew();
    },
  };

  /** Do something at a time, and return what came of it. @param {number} now @param {() => void} work */
  #at(now, work) {
    this.#now = now;
    this.#events = [];
    work();
    return this.#events;
  }

  // --- the owner's side ---------------------------------------------------------------------------------------------

  /** The connection is up and the topics are subscribed. @param {number} now @returns {SessionEvent[]} */
  connected(now) {
    return this.#at(now, () => this.#connected());
  }

  #connected() {
    this.#connectedAt = this.#now;
    this.listed = false;
    this.witness.connectedAnew();
    this.#handle("returning", this.view !== null || this.fleet !== null ? "connected" : "connectedNew");
    if (this.#wanted) this.#ask();
    else this.#handle("joining", "unwanted");
  }

  /** Place a fleet, ship by ship. @param {Fleet} fleet @param {number} now */
  place(fleet, now) {
    this.#now = now;
    this.fleet = fleet;
    this.#approved = new Set();
    this.#handle("placing", "chosen");
  }

  /** Fire shots of the current turn. @param {readonly Shot[]} shots @throws {SalvoError} `wrong_state` */
  fire(shots) {
    const view = this.#playing();
    this.#sendOn(view, shots);
    view.shots -= shots.length;
    this.#salvoDue = null;
    this.#handle("playing", "fired");
  }

  /** End the current turn with the shots fired so far. @throws {SalvoError} `wrong_state` */
  skip() {
    const view = this.#playing();
    view.shots = 0;
    this.#salvoDue = null;
    this.#outbox.skip(view.game, view.turn);
    this.#handle("playing", "skipped");
  }

  #playing() {
    if (this.view === null) throw new SalvoError("wrong_state", `${this.name} plays no game; fire and skip answer salvoWanted`);
    return this.view;
  }

  /** Leave the lobby, even with a complete fleet (SALVO-JOIN-15); in a game nothing is sent. */
  leave() {
    this.wantsToPlay = false;
    if (this.state !== null && this.state !== "lobby") return this.#handle("joining", "unwanted"); // null: it may have asked already
    this.#handle("placing", "dropped");
    this.#handle("joining", this.listed ? "left" : "leftUnlisted");
  }

  /** Say a line to everybody, or to one player. @param {string} text @param {string} [to] @throws {WireError} `bad_text` or `chat_off` */
  say(text, to = "") {
    if (!this.chat) throw new WireError("chat_off", "the operator has turned the chat off");
    this.#outbox.say(text, to);
  }

  /** Ask for missed entries of the log, if there are any (SALVO-LOG-12). @param {number} now */
  askForLog(now) {
    if ((this.state !== "turn" && this.state !== "over") || !this.players.includes(this.name)) return;
    const first = this.witness.missed(now);
    if (first !== null) this.#outbox.resend(first);
  }

  /** Send again what the server has not answered; call it several times a second. @param {number} now @returns {SessionEvent[]} */
  handleTimer(now) {
    return this.#at(now, () => {
      const doubts = this.witness.doubts(now);
      this.#events.push(...doubts);
      this.#tickPlacing();
      this.#tickJoining();
      this.#tickPlaying();
      if (doubts.length && this.view !== null) this.#handle("returning", "doubted");
      this.askForLog(now);
      this.#reportWaiting();
    });
  }

  #tickPlacing() {
    const listed = this.state === "lobby" && this.listed;
    if (listed && this.#now - this.#sentAt > PATIENCE) this.#handle("placing", "noAnswer");
  }

  #tickJoining() {
    const [lobby, here] = [this.state === "lobby", this.#states.server === "here"];
    const wanted = this.#states.joining === "leaving" ? lobby && this.listed : this.#wanted;
    const waited = this.#now - this.#entered;
    if (this.#states.joining === "meeting" && waited > SERVER_SECONDS && !this.#alwaysSeal) this.#handle("joining", "serverSilent");
    this.#askDue ??= this.#now + PATIENCE;
    if (this.#now > this.#askDue && here && wanted && this.state !== null) this.#handle("joining", "noAnswer");
    if (lobby && !this.#hasPlace && waited > PATIENCE) this.#handle("joining", "stillRefused");
  }

  #tickPlaying() {
    const due = this.#salvoDue;
    const maySend = this.#states.server === "here" && this.#states.returning === "current";
    if (this.#turn === null || !maySend || this.#now >= this.#deadline) {
      this.#salvoDue = null;
    } else if (due === null || this.#now > due) {
      this.#salvoDue = this.#now + Math.min(PATIENCE, (PATIENCE_SHARE * (this.#turn.deadline - this.#turn.now)) / 1000);
      if (due !== null) this.#handle("playing", "noResult");
    }
  }

  #reportWaiting() {
    if (this.#connectedAt === null || this.listed || this.view !== null) return;
    const unanswered = this.#states.server === "here" && this.#unansweredSince !== null
      ? this.#now - this.#unansweredSince : 0;
    this.#events.push(...this.#reports.silence(this.#now - this.#connectedAt, unanswered));
  }

  // --- what arrives -------------------------------------------------------------------------------------------------

  /**
   * Take in one message.
   *
   * @param {string} topic
   * @param {Uint8Array} payload
   * @param {boolean} retained
   * @param {number} now
   * @returns {SessionEvent[]}
   * @throws {WireError} it is not of our server, and changes nothing
   * @throws {TrustError} `impostor` or `unfair`
   * @throws {SalvoError} `other_protocol`
   */
  receive(topic, payload, retained, now) {
    return this.#at(now, () => {
      const address = parseTopic(topic, this.table, this.name);
      if (address === null) return;
      if (address.topic === "seat") this.#events.push({ type: "seated", seat: readSeat(payload) });
      else if (address.topic === "recap") this.#openRecap(payload);
      else if (address.topic === "log") this.#events.push(...this.witness.logged(payload, now));
      else this.#announced(readAnnouncement(address, payload), retained);
    });
  }

  /** @param {Uint8Array} payload */
  #openRecap(payload) {
    let recap;
    try {
      recap = readRecap(this.#outbox.sealer.openFromServer(payload));
    } catch {
      return; // not for this team's secret, or forged
    }
    this.#recalled(recap);
  }

  /** @param {import("../announcements.js").Announcement | null} said @param {boolean} retained */
  #announced(said, retained) {
    this.#reports.heardOfTable = true;
    if (said === null) return;
    if (!retained) this.witness.heard(said, this.#now);
    switch (said.kind) {
      case "rules":
        this.rules = said.book;
        this.#turnMs = said.turnSeconds * 1000;
        break;
      case "server": return this.#serverSeen(said, retained);
      case "state": return this.#stateChanged(said.state, retained);
      case "players": return this.#playersListed(said.names, retained);
      case "turn":
        this.#turnBegan(said);
        if (this.#states.returning === "current") this.#beginTurn();
        break;
      case "landed":
        this.view?.incoming.push({ x: said.x, y: said.y });
        break;
      case "result": return this.#resolved(said.result);
      case "stats":
        this.#stats.set(said.stats.player, said.stats);
        return this.#end();
      case "won":
        this.#winners = said.tied.length ? said.tied : said.winner ? [said.winner] : [];
        return this.#end();
      case "revealed": return this.#reveal(said.player, said.fleet);
      case "hosted": {
        // What a host announced while the connection was down, such as why a game does not go on, is news.
        // A server that comes back publishes again what was done last; nobody pauses or resumes twice in a row.
        const repeated = said.do === this.#hostDid && (said.do === "pause" || said.do === "resume");
        if ((!retained && !repeated) || (said.do === "announce" && said.text !== this.#hostSaid)) {
          this.#events.push({ type: "hostSeen", by: said.by, do: said.do, text: said.text });
        }
        this.#hostSaid = said.text;
        this.#hostDid = said.do;
        break;
      }
      case "said":
        if (!retained) this.#events.push({ type: "said", from: said.from, text: said.text, private: said.private });
        break;
      case "judged":
        if (said.approved) this.#approve(said.spelling);
        break;
      case "placementRefused": return this.#placementRefused(said);
      case "refused": return this.#refused(said.code, said.text);
    }
  }

  /** Whether a place, or what happened in its game, is worth asking for. */
  get #wanted() {
    return this.wantsToPlay || this.view !== null;
  }

  get #hasPlace() {
    return this.listed || this.fleet !== null || this.view !== null;
  }

  #ask() {
    this.#awaitsRecap = this.#states.returning !== "current";
    this.#handle("joining", "wanted");
    if (this.#met) this.#handle("joining", "serverMet");
  }

  #forgetRequest() {
    this.#unansweredSince = this.#refusal = null;
  }

  /** Ask a server that may have lost its list; otherwise it answers with the recap. */
  #askAnew() {
    this.listed = false;
    this.#doubtFleet([]);
    this.#ask();
  }

  // --- the server and the table -------------------------------------------------------------------------------------

  /** @param {import("../announcements.js").ServerStatus} status @param {boolean} retained */
  #serverSeen(status, retained) {
    this.chat = status.chat;
    this.witness.follow(status.keys?.sign ?? null, status.protocol.minor);
    this.#meet(status.keys, status.profile);
    if (status.keys !== null) this.#outbox.meet(status.keys.sign);
    if (status.game) this.#noteGame(status.game);
    if (status.presence === "elsewhere") { // a further table's message has no status, but comes after every connection as well
      if (!retained) this.#handle("server", "onlineNews");
    } else {
      const here = status.presence === "here";
      this.#handle("server", !here ? "offline" : retained ? "online" : "onlineNews");
      this.#events.push({ type: "serverSeen", online: here });
    }
    if (this.#met) this.#handle("joining", "serverMet");
  }

  /** Take in the server's identity, which is fixed for the length of the session. @param {ServerKeys | null} keys @param {string} profile */
  #meet(keys, profile) {
    if (this.#keys !== null && (keys === null || !sameBytes(keys.sign, this.#keys.sign))) {
      const now = keys === null ? "has no key" : `is ${fingerprint(keys.sign)}`;
      throw new TrustError("impostor", `the server is ${fingerprint(this.#keys.sign)}, but what publishes in its place now ${now}; `
        + "start again if the operator says that the server has a new identity");
    }
    if (keys === null && this.#alwaysSeal) {
      this.#events.push({ type: "serverMet", keys, profile }); // and the request keeps waiting
      return;
    }
    const known = this.#met && (keys === null) === (this.#keys === null);
    this.#met = true;
    this.#keys = keys;
    if (!known) this.#events.push({ type: "serverMet", keys, profile });
  }

  /** @param {number} game */
  #noteGame(game) {
    const former = this.game;
    if (game !== former) this.#handle("following", "confirmed");
    if (former && game !== former && this.state === "lobby") this.#handle("placing", "dropped");
    this.game = game;
  }

  /** @param {import("../announcements.js").State} state @param {boolean} retained */
  #stateChanged(state, retained) {
    const old = state === "lobby" && retained && this.view !== null && this.view.game === this.game;
    this.#handle("following", old ? "oldLobby" : state);
    this.#end();
  }

  #forgetGame() {
    this.#handle("playing", "forgotten");
    this.#handle("placing", "dropped");
    this.#handle("returning", "forgotten");
    this.#handle("joining", "unwanted");
    this.#newestRecap = null;
    this.players = [];
    this.listed = false;
  }

  /** @param {string[]} names @param {boolean} retained */
  #playersListed(names, retained) {
    const named = !retained && names.includes(this.name);
    if (named) this.#handle("following", "confirmed");
    const wasListed = this.listed;
    this.players = names;
    this.listed = names.includes(this.name);
    const struckOff = wasListed && !this.listed;
    if (struckOff) this.witness.struckOff(this.game);
    if (this.state !== "lobby") return;
    if (named && this.view === null) this.#handle("returning", "nothingMissed");
    if (struckOff) {
      this.#handle("joining", "struckOff");
      this.#handle("placing", "dropped");
      if (this.wantsToPlay) this.#ask();
    } else if (named && !wasListed) {
      // A retained list that already has the name means that the team comes back; then the recap has what to place.
      this.#handle("joining", "answered");
      this.#handle("placing", "needed");
    }
  }

  // --- refusals -----------------------------------------------------------------------------------------------------

  /** @param {string} code @param {string} text */
  #refused(code, text) {
    this.#unansweredSince = null;
    const event = /** @type {SessionEvent} */ ({ type: "refused", code, text });
    switch (code) {
      case "not_in_roster":
      case "sealed_required":
        if (!this.#hasPlace) this.#refuseName(event);
        return;
      case "name_taken":
        if (!this.listed && this.fleet === null) break;
        if (this.fleet === null && this.#states.joining !== "idle") this.#events.push(...this.#reports.nameInUse());
        return; // else another program asked for this name and was refused; the name is ours
      case "wrong_state": return this.#refusedByState(event);
      case "table_full":
      case "not_invited":
      case "removed":
        if (this.listed) break;
        this.#events.push(...this.#reports.once(code, this.game, event));
        return;
      case "unknown_player":
        if (this.listed) break;
        return; // what it sent has crossed the news that it is off the list, and is for a place that it had
      case "placement_timeout":
        this.#reports.leftOutOf = this.game;
        this.#events.push({ type: "refused", code, text: "the fleet was not complete when the game began, or its time ended" });
        return;
      case "turn_timeout":
      case "bank_empty":
        this.#handle("playing", "timeUp");
    }
    this.#events.push(event);
  }

  /** @param {SessionEvent} event */
  #refuseName(event) {
    this.#handle("joining", "nameRefused");
    if (this.#states.joining === "disputed") this.#refusal = event;
  }

  /** @param {SessionEvent} event */
  #refusedByState(event) {
    if (this.view === null) {
      this.#handle("joining", "gameOn");
      this.#handle("returning", "nothingMissed");
    }
    if (this.listed) this.#events.push(event);
    else if (this.view === null) this.#events.push(...this.#reports.gameOn());
  }

  /** @param {{ship: string, code: string, text: string}} refusal */
  #placementRefused({ ship, code, text }) {
    this.witness.refused(this.game);
    if (WHOLE_FLEET.has(code)) this.#approve(ship);
    if (!this.#approved.has(ship)) this.#events.push({ type: "refused", code, text });
  }

  // --- the fleet ----------------------------------------------------------------------------------------------------

  /** @param {string} ship */
  #approve(ship) {
    this.#approved.add(ship);
    if (this.fleet?.placements.every((placement) => this.#approved.has(placement.ship))) this.#handle("placing", "approved");
  }

  /** Take no ships for approved but those that the server says it has. @param {import("../rules.js").Placement[]} placed */
  #doubtFleet(placed) {
    if (this.fleet !== null) {
      const own = new Set(this.fleet.placements.map((placement) => JSON.stringify(placement)));
      this.#approved = new Set(placed.filter((placement) => own.has(JSON.stringify(placement))).map(({ ship }) => ship));
    }
    this.#handle("placing", "doubted");
  }

  // --- the turns ----------------------------------------------------------------------------------------------------

  /** @param {Turn} turn */
  #turnBegan(turn) {
    const last = this.#turn;
    const order = last === null ? 1 : turn.game - last.game || turn.turn - last.turn;
    if (order < 0) return;
    this.#turn = turn;
    this.#deadline = this.#now + (turn.deadline - turn.now) / 1000;
    if (order === 0) {
      if (this.view !== null) this.view.deadline = this.#viewDeadline(); // repeated, or its time began again
      return;
    }
    const known = this.view !== null && this.view.game === turn.game;
    if (!known && this.fleet !== null && this.rules !== null && this.players.includes(this.name)) {
      this.view = new View(this.rules, this.name, this.players, turn.game, this.fleet, this.#random);
      this.#handle("playing", "takenUp");
    }
  }

  #viewDeadline() {
    return performance.now() + (this.#deadline - this.#now) * 1000;
  }

  /** Begin the last turn that was heard, once: ask the player for the shots that it has not fired yet. */
  #beginTurn() {
    const [turn, view] = [this.#turn, this.view];
    if (turn === null || view === null || view.game !== turn.game) return;
    if (this.#isBegun(turn) || view.resolvedTurn >= turn.turn) return;
    this.#begun = { game: turn.game, turn: turn.turn };
    const left = turn.player === this.name ? turn.shots - view.firedThisTurn.length : 0;
    this.#putInTurn(view, turn, left);
    this.#handle("playing", left ? "ownTurn" : "othersTurn");
  }

  /** @param {Turn} turn */
  #isBegun(turn) {
    return this.#begun !== null && this.#begun.game === turn.game && this.#begun.turn === turn.turn;
  }

  /** @param {View} view @param {Turn} turn @param {number} left */
  #putInTurn(view, turn, left) {
    view.beginTurn(turn.turn, left, this.#viewDeadline());
    view.limitedBy = turn.deadline - turn.now < this.#turnMs ? "bank_empty" : "turn_timeout";
  }

  /** @param {import("../announcements.js").Result} result */
  #resolved(result) {
    const view = this.view;
    if (view !== null && result.game === view.game && result.turn > view.resolvedTurn) {
      view.resolve(result);
      if (this.#turn === null || result.turn >= this.#turn.turn) this.#handle("playing", "resolved");
      this.#events.push({ type: "salvoHeard", result });
    }
    this.#end();
  }

  /** @param {string} player @param {import("../rules.js").Placement[]} ships */
  #reveal(player, ships) {
    if (!this.view?.players.includes(player)) return;
    try {
      this.view.revealed.set(player, new Fleet(this.view.rules, ships));
    } catch {
      // from another game: a broker that was killed may have kept it
    }
  }

  /** Report how the game ended, once everything about its end is there and agrees with the view. */
  #end() {
    const view = this.view;
    if (this.state !== "over" || view === null || this.#winners === null) return;
    const same = new Set([...view.winners, ...this.#winners]).size === this.#winners.length && view.winners.length === this.#winners.length;
    if (this.#winners.length && !same) return;
    // The view may have begun with an old list of players; a recap has the whole one.
    if (!this.#winners.length && [...this.#stats.keys()].some((player) => !view.players.includes(player))) return;
    if (view.players.every((player) => this.#stats.has(player))) this.#handle("playing", "ended");
  }

  #reportEnd() {
    if (this.view === null) return;
    const winners = this.#winners ?? [];
    const stats = new Map([...this.#stats].filter(([player]) => this.view?.players.includes(player)));
    const winner = winners.length === 1 ? winners[0] : "";
    this.#events.push({ type: "gameEnded", game: this.view.game, winner, stats, aborted: winners.length === 0, missed: this.#missed });
  }

  /** Send shots after those of this turn that the view has as fired. @param {View} view @param {readonly Shot[]} shots */
  #sendOn(view, shots) {
    const first = view.firedThisTurn.length + 1;
    shots.forEach((shot, number) => this.#outbox.fire(view.game, view.turn, first + number, shot));
    view.fire(shots);
  }

  #repeatShots() {
    const view = this.view;
    view?.firedThisTurn.forEach((shot, number) => this.#outbox.fire(view.game, view.turn, number + 1, shot));
  }

  #repeatSkip() {
    if (this.#begun !== null) this.#outbox.skip(this.#begun.game, this.#begun.turn);
  }

  // --- recaps -------------------------------------------------------------------------------------------------------

  /** Take up the game where the server has it. @param {Recap} recap */
  #recalled(recap) {
    const awaited = this.#states.returning !== "current";
    if (this.#isOld(recap)) return;
    if (recap.players.length) this.players = recap.players;
    const rules = this.rules;
    if (rules === null || (recap.turn && !this.players.length)) return this.#awaitRecap();
    this.#handle("following", recap.turn ? "denied" : "confirmed");
    this.#newestRecap = recap;
    if (recap.players.length) this.players = recap.players;
    this.listed = true;
    this.game = recap.game;
    if (!recap.turn) this.witness.cameBack(recap.game);
    let fleet = null;
    try {
      if (recap.fleet.length === rules.fleet.length) fleet = new Fleet(rules, recap.fleet);
    } catch {
      return this.#awaitRecap(); // forged rules on an open broker; the server's come again
    }
    this.#handle("returning", "takenUp");
    this.#handle("joining", "answered");
    if (fleet === null) return this.#completeFleet(recap);
    if (this.state === "over" && this.fleet === null) this.#missed = true;
    this.fleet = fleet;
    this.#approved = new Set(rules.fleet.map((ship) => ship.name));
    this.#handle("placing", "recalled");
    if (recap.turn) this.#takeUp(recap, rules, fleet, awaited);
  }

  #awaitRecap() {
    this.#handle("returning", "unusable");
    this.#awaitsRecap = true;
    this.#handle("joining", "unusable");
  }

  /** Send what the recap lacks, unless it has only just been sent. @param {Recap} recap */
  #completeFleet(recap) {
    this.#doubtFleet(recap.fleet);
    const onItsWay = this.fleet !== null && this.#sentAt >= (this.#connectedAt ?? 0);
    if (!onItsWay && this.state === "lobby") this.#handle("placing", "needed");
  }

  /** @param {Recap} recap @param {RuleBook} rules @param {Fleet} fleet @param {boolean} awaited */
  #takeUp(recap, rules, fleet, awaited) {
    const known = this.view;
    if (known === null) {
      this.witness.tookUp(recap.game, recap.turn);
      this.#events.push({ type: "gameTakenUp", game: recap.game });
    }
    const view = new View(rules, this.name, this.players, recap.game, fleet, this.#random);
    view.recall(recap);
    this.view = view;
    if (known === null || known.game !== view.game) {
      this.#begun = null;
      this.#handle("playing", "takenUp");
    } else {
      this.#goOn(known, view, awaited);
    }
    if (this.state === "over") this.#end();
    else this.#beginTurn();
  }

  /** @param {View} known @param {View} view @param {boolean} awaited */
  #goOn(known, view, awaited) {
    this.#takeOverShots(known, view, awaited);
    view.untouched.goOnFrom(known.untouched);
    const turn = this.#turn;
    if (turn === null || !this.#isBegun(turn) || view.resolvedTurn >= turn.turn) return this.#handle("playing", "resolved");
    // The player may still be thinking: it is not asked again, and its answer stays valid.
    this.#putInTurn(view, turn, Math.min(known.shots, turn.shots - view.firedThisTurn.length));
    if (awaited) this.#handle("playing", "recalled");
  }

  /** Take over shots on their way, which the recap lacks. @param {View} known @param {View} view @param {boolean} awaited */
  #takeOverShots(known, view, awaited) {
    const onTheirWay = known.firedThisTurn.slice(view.firedThisTurn.length);
    if (known.turnsKnown !== view.turnsKnown) return;
    // A broker that was killed may have lost them, so they are signed again; game, turn and number keep each from
    // counting twice. What a second recap lacks, requested before the first came, is sent already.
    if (awaited) this.#sendOn(view, onTheirWay);
    else view.fire(onTheirWay);
  }

  /**
   * Whether a recap is late, or replayed by an attacker (SALVO-JOIN-14). The server never knows less than it has
   * announced: if a view is ahead of a recap, the team's own state says which of them to trust.
   *
   * @param {Recap} recap
   */
  #isOld(recap) {
    const [newest, view] = [this.#newestRecap, this.view];
    const order = newest === null ? 1 : compare(recap.progress, newest.progress);
    if (order < 0) return true;
    if (view === null) return this.state === "lobby" && recap.game < this.game;
    if (recap.game !== view.game) return recap.game < view.game;
    const less = recap.resolvedTurn < view.resolvedTurn;
    if (this.#states.returning === "doubting") return false;
    if (this.#states.returning === "returning") return less && newest !== null && order === 0;
    if (recap.resolvedTurn !== view.resolvedTurn) return less;
    return recap.turn < view.turn || recap.progress[3] < view.incoming.length;
  }
}

/** @param {number[]} one @param {number[]} other */
const compare = (one, other) => one.map((number, at) => number - other[at]).find((difference) => difference !== 0) ?? 0;
