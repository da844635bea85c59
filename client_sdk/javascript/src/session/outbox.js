// The commands of one team, sealed and signed, and ready to be published.

import { blake2b, joined, toBytes, toHex } from "../bytes.js";
import { cleanText } from "../chatText.js";
import { writePlacement } from "../announcements.js";
import { saltOf, Sealer, sealForServer } from "../seal.js";
import { topicOf } from "../topics.js";

/** @typedef {{topic: string, payload: Uint8Array}} Message */
/** @typedef {import("../witness.js").Witness} Witness */

/**
 * Messages to publish, in order; the witness learns what the team commands.
 *
 * Every command is signed when it is written: a repetition never has the bytes of the first one, whose nonce may be used up.
 */
export class Outbox {
  /** @type {Message[]} */
  #waiting = [];
  #saltIsDrawn;

  /** @param {import("./news.js").KnownTable} table @param {string} secret @param {Sealer | null} sealer @param {Witness} witness */
  constructor(table, secret, sealer, witness) {
    this.table = table;
    this.secret = secret;
    this.sealer = sealer ?? new Sealer(secret);
    this.#saltIsDrawn = sealer === null;
    this.witness = witness;
  }

  /** Use the salt that this team has at this server after every restart (SALVO-FRESH-6). @param {Uint8Array} sign */
  meet(sign) {
    if (!this.#saltIsDrawn) return;
    this.sealer = new Sealer(this.secret, saltOf(this.table.team, sign));
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
    const message = { topic: topicOf(this.table.name, below), payload: typeof payload === "string" ? toBytes(payload) : payload };
    this.#waiting.push(message);
    return message;
  }

  /** @param {string} command @param {Uint8Array | string} payload */
  #addOwn(command, payload) {
    return this.#add(`players/${this.table.team}/${command}`, payload);
  }

  /** Ask to take part; the secret is sealed if the server has a key (SALVO-IDENT-4). @param {Uint8Array | null} sealingKey */
  askForPlace(sealingKey) {
    const text = JSON.stringify({ name: this.table.team, secret: this.secret });
    this.#add("game/request_participation", sealingKey === null ? text : sealForServer(text, sealingKey));
  }

  /** Place ships; the log names a message by its digest (SALVO-LOG-8). @param {import("../rules.js").Placement[]} placements */
  place(placements) {
    for (const placement of placements) {
      const { ship, ...body } = writePlacement(placement);
      const { topic, payload } = this.#addOwn(`ships/${ship}/place`, this.sealer.seal(JSON.stringify(body)));
      this.witness.placed(this.table.game, placement, toHex(blake2b(joined(`${topic}\0`, payload), 16)));
    }
  }

  /**
   * Fire a shot, signed for exactly this game, turn, number and target (SALVO-FRESH-5).
   *
   * @param {{game: number, turn: number}} context @param {number} number @param {import("../view.js").Shot} shot
   */
  fire({ game, turn }, number, { player, x, y }) {
    this.witness.fired(game, turn, number, { player, x, y });
    this.#add(`players/${player}/fire`, this.sealer.sign({ x, y, g: game, t: turn, n: number, to: player }));
  }

  /** End the turn with the shots fired so far (SALVO-BOOK-7). @param {{game: number, turn: number}} context */
  skip({ game, turn }) {
    this.witness.skipped(game, turn);
    this.#addOwn("skip", this.sealer.sign({ g: game, t: turn }));
  }

  /** Leave the lobby (SALVO-JOIN-15). */
  leave() {
    this.#addOwn("leave", this.sealer.sign(this.table.game ? { g: this.table.game } : {}));
  }

  /** Request missed entries of the log (SALVO-LOG-12). @param {number} first */
  resend(first) {
    this.#addOwn("resend", JSON.stringify({ log: first }));
  }

  /** Say a line (SALVO-CHAT-1). @param {string} text @param {string} to */
  say(text, to) {
    const line = cleanText(text);
    this.#addOwn("say", JSON.stringify(to ? { text: line, to } : { text: line }));
  }
}
