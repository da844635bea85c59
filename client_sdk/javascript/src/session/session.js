// The session of one team at one table, without a socket and without a clock.
//
// A `Session` is a reducer: what arrived and when changes its state, and brings about events, what to ask the player and
// what it may learn, and messages to publish. Read `tables.js` first: it says what follows from what. Here messages become
// calls of the functions in `joining`, `placing`, `playing`, `returning` and `following`, which turn them into the events
// of those tables, and do what the tables ask for. All that is known stands in `state.js`.

import { readAnnouncement, readSeat } from "../announcements.js";
import { WireError } from "../errors.js";
import { generator } from "../random.js";
import { checkName, filters, parseTopic } from "../topics.js";
import { Witness } from "../witness.js";
import * as following from "./following.js";
import * as joining from "./joining.js";
import { KnownTable } from "./news.js";
import { Outbox } from "./outbox.js";
import * as placing from "./placing.js";
import * as playing from "./playing.js";
import * as returning from "./returning.js";
import { SessionState } from "./state.js";
import { machines } from "./tables.js";

/** @typedef {import("../announcements.js").ServerKeys} ServerKeys */
/** @typedef {import("../rules.js").RuleBook} RuleBook */
/** @typedef {import("../view.js").View} View */

/**
 * What a session reports: what to ask the player, and what it may learn.
 *
 * @typedef {{type: "fleetWanted", rules: RuleBook, game: number}
 *   | {type: "gameTakenUp", game: number}
 *   | {type: "salvoWanted", view: View}
 *   | {type: "salvoHeard", result: import("../announcements.js").Result}
 *   | {type: "gameEnded", game: number, winner: string, stats: Map<string, import("../announcements.js").Stats>, aborted: boolean, missed: boolean}
 *   | {type: "hostSeen", by: string, do: string, text: string}
 *   | {type: "seated", seat: import("../announcements.js").Seat | null}
 *   | {type: "refused", code: string, text: string}
 *   | {type: "serverSeen", online: boolean, presence: string}
 *   | {type: "serverMet", keys: ServerKeys | null, profile: string}
 *   | {type: "waits", code: string, text: string}
 *   | {type: "said", from: string, text: string, private: boolean}
 *   | {type: "logDoubted", text: string}
 *   | {type: "leagueSeen", text: string}
 *   | {type: "gameVerified", game: number, whole: boolean}} SessionEvent
 */

/** One team at one table. */
export class Session {
  #state;

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
    const outbox = new Outbox(new KnownTable(table, name), secret, sealer, new Witness(name));
    this.#state = new SessionState(outbox, machines(), { pauses: generator(name, "pauses"), alwaysSeal }, random);
  }

  // --- what is known ------------------------------------------------------------------------------------------------

  /** Whether the server lets players chat. */
  get chat() { return this.#state.chat; }
  /** The table's rules; null before they were heard. */
  get rules() { return this.#state.table.rules; }
  /** The number of the table's game; 0 before it was heard. */
  get game() { return this.#state.table.game; }
  /** The names on the table's list. */
  get players() { return this.#state.table.players; }
  /** Whether the list has this player. */
  get listed() { return this.#state.table.listed; }
  /** The fleet of this game; null before there is one. */
  get fleet() { return this.#state.fleet; }
  /** What the player knows of the game in play; null between games. */
  get view() { return this.#state.view; }
  /** @internal */
  get witness() { return this.#state.witness; }
  /** The states of the machines, by name. @returns {Readonly<{[machine: string]: string}>} */
  get states() { return Object.fromEntries(Object.entries(this.#state.machines).map(([name, { state }]) => [name, state])); }
  /** Whether to ask for a seat, in the lobby that is open or in the next one. */
  get wantsToPlay() { return this.#state.wantsToPlay; }
  set wantsToPlay(wants) { following.wish(this.#state, wants); }
  /** The state of the table; null before it was heard. */
  get state() { return this.#state.tableState; }
  /** Return the topics to subscribe to. */
  filters() { return filters(this.table, this.name); }
  /** Return the messages to publish, and clear them. */
  takeOutbox() { return this.#state.outbox.take(); }

  /** Use another source of randomness from now on. @param {import("../random.js").Random} random */
  reseed(random) {
    this.#state.random = random;
    this.view?.reseed(random);
  }

  // --- the owner's side ---------------------------------------------------------------------------------------------

  /** The connection is up and the topics are subscribed. @param {number} now @returns {SessionEvent[]} */
  connected(now) {
    this.#state.now = now;
    returning.comeBack(this.#state);
    return this.#takeEvents();
  }

  /** Place a fleet, ship by ship. @param {import("../rules.js").Fleet} fleet @param {number} now */
  place(fleet, now) {
    this.#state.now = now;
    placing.choose(this.#state, fleet);
  }

  /** Fire shots of the current turn. @param {readonly import("../view.js").Shot[]} shots @throws {SalvoError} `wrong_state` */
  fire(shots) { playing.fire(this.#state, shots); }

  /** End the current turn with the shots fired so far. @throws {SalvoError} `wrong_state` */
  skip() { playing.skip(this.#state); }

  /** Leave the lobby, even with a complete fleet (SALVO-JOIN-15); in a game nothing is sent. */
  leave() { following.leave(this.#state); }

  /** Say a line to everybody, or to one player. @param {string} text @param {string} [to] @throws {WireError} `bad_text` or `chat_off` */
  say(text, to = "") {
    if (!this.chat) throw new WireError("chat_off", "the operator has turned the chat off");
    this.#state.outbox.say(text, to);
  }

  /** Ask for missed entries of the log, if there are any (SALVO-LOG-12). @param {number} now */
  askForLog(now) {
    if ((this.state !== "turn" && this.state !== "over") || !this.players.includes(this.name)) return;
    const first = this.witness.missed(now);
    if (first !== null) this.#state.outbox.resend(first);
  }

  /** Send again what the server has not answered; call it several times a second. @param {number} now @returns {SessionEvent[]} */
  handleTimer(now) {
    const state = this.#state;
    state.now = now;
    const doubts = this.witness.doubts(now);
    state.events.push(...doubts);
    placing.tick(state);
    joining.tick(state);
    playing.tick(state);
    if (doubts.length && state.inGame) state.take("returning", "doubted");
    this.askForLog(now);
    joining.reportWaiting(state);
    return this.#takeEvents();
  }

  // --- the news -----------------------------------------------------------------------------------------------------

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
    this.#state.now = now;
    const address = parseTopic(topic, this.table, this.name);
    if (address === null) return [];
    if (address.topic === "seat") return [{ type: "seated", seat: readSeat(payload) }];
    if (address.topic === "log") return this.witness.logged(payload, now);
    if (address.topic === "recap") returning.recalled(this.#state, payload);
    else this.#announced(readAnnouncement(address, payload), retained);
    return this.#takeEvents();
  }

  /** @param {import("../announcements.js").Announcement | null} announcement @param {boolean} retained */
  #announced(announcement, retained) {
    this.#state.reports.tableKnown = true;
    if (announcement === null) return;
    if (!retained) this.witness.receive(announcement, this.#state.now);
    apply(this.#state, announcement, retained);
  }

  #takeEvents() {
    const { events } = this.#state;
    this.#state.events = [];
    return events;
  }
}

/** @param {SessionState} session @param {import("../announcements.js").Announcement} announcement @param {boolean} retained */
function apply(session, announcement, retained) {
  const { table, play, events } = session;
  switch (announcement.kind) {
    case "rules":
      table.rules = announcement.book;
      table.turnMs = announcement.turnSeconds * 1000;
      break;
    case "server": return following.serverSeen(session, announcement, retained);
    case "state": return following.stateChanged(session, announcement.state, retained);
    case "players": return following.playersListed(session, announcement.names, retained);
    case "turn": return playing.turnBegan(session, announcement);
    case "landed": session.view?.incoming.push({ x: announcement.x, y: announcement.y }); break;
    case "result": return playing.resolved(session, announcement.result);
    case "stats":
      play.stats.set(announcement.stats.player, announcement.stats);
      return playing.end(session);
    case "won":
      play.winners = announcement.tied.length ? announcement.tied : announcement.winner ? [announcement.winner] : [];
      return playing.end(session);
    case "revealed": return playing.reveal(session, announcement.player, announcement.fleet);
    case "hosted": {
      const { by, do: done, text } = announcement;
      // What a host announced while the connection was down, such as why a game does not go on, is news.
      const missed = done === "announce" && text !== session.hostActed?.text;
      // A server that comes back publishes again what was done last; nobody pauses or resumes twice in a row.
      const repeated = done === session.hostActed?.do && (done === "pause" || done === "resume");
      session.hostActed = announcement;
      if (missed || !(retained || repeated)) events.push({ type: "hostSeen", by, do: done, text });
      break;
    }
    case "said":
      if (!retained) events.push({ type: "said", from: announcement.from, text: announcement.text, private: announcement.private });
      break;
    case "judged": if (announcement.approved) placing.approve(session, announcement.spelling); break;
    case "refused": return joining.refused(session, announcement.code, announcement.text);
    case "placementRefused": return placing.refused(session, announcement);
  }
}
