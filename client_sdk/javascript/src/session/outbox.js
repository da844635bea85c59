// The commands of one team, sealed and signed, ready to be published; each is signed when it is written.

import { blake2b, joined, toBytes, toHex } from "../bytes.js";
import { cleanText } from "../chatText.js";
import { writePlacement } from "../announcements.js";
import { saltOf, Sealer, sealForServer } from "../seal.js";
import { topicOf } from "../topics.js";

/** @typedef {{topic: string, payload: Uint8Array}} Message */

/** Writes what a team sends; the witness learns what it commands. */
export class Outbox {
  /** @type {Message[]} */
  #waiting = [];
  #saltIsDrawn;

  /**
   * @param {string} table
   * @param {string} team
   * @param {string} secret
   * @param {Sealer | null} sealer
   * @param {import("../witness.js").Witness} witness
   */
  constructor(table, team, secret, sealer, witness) {
    this.table = table;
    this.team = team;
    this.secret = secret;
    this.sealer = sealer ?? new Sealer(secret);
    this.#saltIsDrawn = sealer === null;
    this.witness = witness;
  }

  /** Use the salt that this team has at this server after every restart (SALVO-FRESH-6). @param {Uint8Array} sign */
  meet(sign) {
    if (!this.#saltIsDrawn) return;
    this.sealer = new Sealer(this.secret, saltOf(this.team, sign));
    this.#saltIsDrawn = false;
  }

  /** Return the messages, and clear them. */
  take() {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  /** @param {string} below @param {Uint8Array | string} payload */
  #add(below, payload) {
    const message = { topic: topicOf(this.table, below), payload: typeof payload === "string" ? toBytes(payload) : payload };
    this.#waiting.push(message);
    return message;
  }

  /** Ask to take part, sealed if the server has a key (SALVO-IDENT-4). @param {Uint8Array | null} sealingKey */
  request(sealingKey) {
    const text = JSON.stringify({ name: this.team, secret: this.secret });
    this.#add("game/request_participation", sealingKey === null ? text : sealForServer(text, sealingKey));
  }

  /** @param {number} game @param {import("../rules.js").Placement[]} placements */
  place(game, placements) {
    for (const placement of placements) {
      const { ship, ...body } = writePlacement(placement);
      const { topic, payload } = this.#add(`players/${this.team}/ships/${ship}/place`, this.sealer.seal(JSON.stringify(body)));
      this.witness.placed(game, placement, toHex(blake2b(joined(`${topic}\0`, payload), 16)));
    }
  }

  /**
   * Fire a shot, signed for exactly this game, turn, number and target (SALVO-FRESH-5).
   *
   * @param {number} game @param {number} turn @param {number} number @param {import("../view.js").Shot} shot
   */
  fire(game, turn, number, { player, x, y }) {
    this.witness.fired(game, turn, number, { player, x, y });
    this.#add(`players/${player}/fire`, this.sealer.sign({ x, y, g: game, t: turn, n: number, to: player }));
  }

  /** End the turn with the shots fired so far (SALVO-BOOK-7). @param {number} game @param {number} turn */
  skip(game, turn) {
    this.witness.skipped(game, turn);
    this.#add(`players/${this.team}/skip`, this.sealer.sign({ g: game, t: turn }));
  }

  /** Leave the lobby (SALVO-JOIN-15). @param {number} game 0 if it is not known */
  leave(game) {
    this.#add(`players/${this.team}/leave`, this.sealer.sign(game ? { g: game } : {}));
  }

  /** Request missed entries of the log (SALVO-LOG-12). @param {number} first */
  resend(first) {
    this.#add(`players/${this.team}/resend`, JSON.stringify({ log: first }));
  }

  /** Say a line (SALVO-CHAT-1). @param {string} text @param {string} to */
  say(text, to) {
    const line = cleanText(text);
    this.#add(`players/${this.team}/say`, JSON.stringify(to ? { text: line, to } : { text: line }));
  }
}
