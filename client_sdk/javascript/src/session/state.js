// All that a session knows: what the functions beside this module read and change, and nothing of it twice.

import { SalvoError } from "../errors.js";
import { Reports } from "./news.js";

/** @typedef {import("../announcements.js").Recap} Recap */
/** @typedef {import("../announcements.js").ServerKeys} ServerKeys */
/** @typedef {import("../announcements.js").Stats} Stats */
/** @typedef {import("../announcements.js").Turn} Turn */
/** @typedef {import("../random.js").Random} Random */
/** @typedef {import("./session.js").SessionEvent} SessionEvent */

/**
 * What is known of the request to take part, and of the server that it goes to.
 *
 * @typedef {object} PendingRequest
 * @property {Random} pauses draws when to ask again; not the bot's source: a lost message must not change what that draws
 * @property {boolean} alwaysSeal never send the secret openly
 * @property {boolean} awaitsRecap whether the answer is a recap, for which the team should not wait long
 * @property {boolean} met whether the server is known
 * @property {ServerKeys | null} keys the server's; null of a server without
 * @property {number} entered when the request came to wait: for the server, or for the end of a dispute
 * @property {number | null} due when to send it again; null: not before the next tick
 * @property {number | null} unansweredSince when it was sent first without an answer
 * @property {SessionEvent | null} refused the refusal of a disputed name
 */

/**
 * What is known of the game in play beyond its view.
 *
 * @typedef {object} GameProgress
 * @property {Turn | null} turn the last one that was announced
 * @property {number} deadline of that turn, on the session's clock
 * @property {{game: number, turn: number} | null} begun the turn that the view is in
 * @property {number | null} due when to send the salvo again; null: not before the next tick
 * @property {Map<string, Stats>} stats what each player has achieved, as far as it was announced
 * @property {string[] | null} winners who has won; none of an aborted game, null before it was announced
 * @property {boolean} missed whether it was over when the session took it up
 */

/** @returns {GameProgress} */
export const noProgress = () => ({ turn: null, deadline: 0, begun: null, due: null, stats: new Map(), winners: null, missed: false });

/** What a session knows, has to send and has to report: the machines' states decide; fleet and view are what exists in some of them. */
export class SessionState {
  now = 0; // the time of the latest input, in seconds of the owner's clock
  wantsToPlay = true;
  chat = true; // whether the server lets players chat
  fleetSentAt = 0; // when ships were sent last
  play = noProgress();
  /** What the player is to learn, until the session returns it. @type {SessionEvent[]} */
  events = [];
  /** What a host did last. @type {{do: string, text: string} | null} */
  hostActed = null;
  /** The one to place, or the one that the server has; exactly in the states `placing` and `placed`. @type {import("../rules.js").Fleet | null} */
  fleet = null;
  /** The ships of that fleet that the server has. @type {Set<string>} */
  approved = new Set();
  /** What the player knows of the game in play; in every state but `no_game`. @type {import("../view.js").View | null} */
  view = null;
  /** The newest one of this game that was taken up. @type {Recap | null} */
  newestRecap = null;
  /** The bytes of the last one that was taken up, in any game. @type {Uint8Array} */
  recapPayload = new Uint8Array();
  /** When the connection came up. @type {number | null} */
  connectedAt = null;

  /**
   * @param {import("./outbox.js").Outbox} outbox @param {import("./tables.js").Machines} machines by name
   * @param {{pauses: Random, alwaysSeal: boolean}} asking @param {Random} random source of the bot's draws, passed to the view
   */
  constructor(outbox, machines, asking, random) {
    this.outbox = outbox;
    this.table = outbox.table;
    this.witness = outbox.witness;
    this.reports = new Reports(outbox.table);
    this.machines = machines;
    /** @type {PendingRequest} */
    this.request = { ...asking, awaitsRecap: false, met: false, keys: null, entered: 0, due: null, unansweredSince: null, refused: null };
    this.random = random;
  }

  /**
   * Hand an event to its machine, and do what its table says.
   *
   * @template {keyof import("./machineStates.js").Events} Name
   * @param {Name} machine @param {import("./machineStates.js").Events[Name]} event
   */
  take(machine, event) {
    this.machines[machine].handle(event)?.(this);
  }

  // --- what follows from where the machines are ---------------------------------------------------------------------

  /** The state of the table; null before it was announced. @returns {import("../announcements.js").State | null} */
  get tableState() {
    const { state } = this.machines.following;
    return state === "unheard" ? null : state === "doubted" ? "turn" : state;
  }

  /** Whether the server is there, as far as is known. */
  get serverHere() { return this.machines.server.state === "here"; }
  /** Whether the team plays a game, or one that has ended is still at the table. */
  get inGame() { return this.machines.playing.state !== "no_game"; }
  /** Whether there is a fleet for this game. */
  get hasFleet() { return this.fleet !== null; }
  /** Whether the team is at the table, as far as is known. */
  get hasPlace() { return this.table.listed || this.hasFleet || this.inGame; }
  /** Whether a place, or what happened in its game, is worth asking for. */
  get wantsPlace() { return this.wantsToPlay || this.inGame; }
  /** Whether the team may have missed news: then only a recap counts. */
  get missedNews() { return this.machines.returning.state !== "current"; }

  /** Return the view of the game that the team plays. @throws {SalvoError} `wrong_state`: there is no game */
  gameInPlay() {
    if (this.view === null) throw new SalvoError("wrong_state", `${this.table.team} plays no game; fire and skip answer salvoWanted`);
    return this.view;
  }
}
