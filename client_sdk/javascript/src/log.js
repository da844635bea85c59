// The signed log of a game as a player checks it: signatures, the chain, what was revealed (SALVO-LOG).

import { blake2b, fromBase64, joined, sameBytes, toBytes, toHex, toText } from "./bytes.js";
import { WireError } from "./errors.js";
import { isSigned } from "./seal.js";
import * as shape from "./shape.js";
import { parseJson } from "./strictJson.js";

const { base64, count, exactly, hexadecimal, integer, list, oneOf, optional, text } = shape;

const MAX_BYTES = 256 * 1024;
const MAX_DEPTH = 8;
const VERSION = 1;
const HEAD = '{"entry":';
const MIDDLE = ',"sign":"';
const END = '"}';
const TAIL_BYTES = 99;

/** @typedef {"file" | "server" | "forked" | "incomplete"} Fault which party is at fault when a log does not hold */

/** A server that has lost the end of its journal signs another end, and so does one that takes a game back. */
const CANNOT_TELL = "by a lost journal or on purpose, the log cannot show";

/** A log that does not hold. */
export class LogError extends WireError {
  /** @param {string} code @param {string} text @param {Fault} fault */
  constructor(code, text, fault) {
    super(code, text);
    /** Which party is at fault. */
    this.fault = fault;
  }
}

/** Return the error of two signed entries of one number. @param {number} n */
export const forked = (n) => new LogError("log_forked", `two histories were signed after entry ${n - 1}: ${CANNOT_TELL}`, "forked");

const PUBLIC = "opened state players judged dropped turn turn_resumed result stats won shown revealed left forgotten rules hosted".split(" ");
const INPUTS = "participate host strike time resume delivered".split(" ");

/** @param {string[]} kinds @returns {shape.Shape<[string, any]>} */
const oneKeyOf = (kinds) => (value, at) => {
  const [[kind, body] = ["", null], ...more] = Object.entries(shape.record((each) => each)(value, at));
  if (more.length || !kinds.includes(kind)) throw new WireError("wrong_shape", `${at} has one of ${kinds.join(", ")}`);
  return [kind, body];
};

const OPENING = exactly({
  log: integer(1, VERSION), game: count, rules: (value) => value, limits: (value) => value, version: text, key: base64(32),
  draw: oneOf("fair", "seed"), seed: hexadecimal(32),
});
const STEP = exactly({
  at: count, said: list(oneKeyOf(PUBLIC)), input: optional(oneKeyOf(INPUTS), null), message: optional(hexadecimal(16), null),
  hidden: list(hexadecimal(32)),
});
const REVEAL = exactly({ first: count, seed: optional(text, null), secret: optional(hexadecimal(32), null), texts: list(text) });
const FINISH = exactly({ steps: count, hidden: count });
const ENTRY = exactly({
  n: count, of: optional(text, ""), prev: text, open: optional(OPENING, null), step: optional(STEP, null),
  reveal: optional(REVEAL, null), end: optional(FINISH, null),
});

/** @typedef {ReturnType<typeof ENTRY>} Entry */
/** @typedef {NonNullable<Entry["open"]>} Opening */
/** @typedef {NonNullable<Entry["step"]>} Step */

/**
 * Read an entry's text.
 *
 * @param {Uint8Array} bytes
 * @returns {Entry}
 */
function readEntry(bytes) {
  const said = parseJson(bytes, MAX_BYTES, MAX_DEPTH);
  if (Number.isSafeInteger(said?.open?.log) && said.open.log > VERSION) {
    throw new WireError("unknown_version", `a log of form ${said.open.log}; this one reads form ${VERSION}`);
  }
  checkCanonical(toText(bytes));
  const entry = ENTRY(said, "");
  const bodies = [entry.open, entry.step, entry.reveal, entry.end].filter((body) => body !== null);
  if (bodies.length !== 1 || (entry.open !== null) !== (entry.n === 0)) {
    throw new WireError("wrong_shape", `entry ${entry.n}; the opening, and nothing else, is entry 0`);
  }
  return entry;
}

/** An entry has only one text (SALVO-LOG-3). @param {string} written */
function checkCanonical(written) {
  const beside = written.replace(/"(?:[^"\\]|\\.)*"/gs, "");
  if (/[^\x20-\x7f]/.test(written) || /\\u[0-9a-f]*[A-F]/.test(written) || /\s/.test(beside)) {
    throw new WireError("wrong_shape", "an entry is JSON without white space, in ASCII");
  }
}

/** Return an entry's digest, which the next one has. @param {Uint8Array} bytes */
export const entryDigest = (bytes) => toHex(blake2b(bytes));

/**
 * Check a payload's signature, and return its entry with the text that was signed.
 *
 * @param {Uint8Array} payload
 * @param {Uint8Array} key
 * @returns {{bytes: Uint8Array, entry: Entry}}
 */
export function readSigned(payload, key) {
  const { bytes, signature } = takeApart(payload);
  if (!isSigned(key, joined("salvo log\0", bytes), signature)) throw new LogError("log_forged", "not signed by the server", "file");
  let entry;
  try {
    entry = readEntry(bytes);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    if (error.code === "unknown_version") throw new LogError(error.code, error.text, "file");
    throw new LogError("log_wrong", `signed by the server, but not an entry: ${error.text}`, "server");
  }
  if (entry.open !== null && !sameBytes(entry.open.key, key)) {
    throw new LogError("log_wrong", "the opening names another key than the one that signed it", "server");
  }
  return { bytes, entry };
}

/** @param {Uint8Array} payload */
function takeApart(payload) {
  const unreadable = () => new LogError("log_unreadable", 'a payload of the log is {"entry":...,"sign":"..."}', "file");
  const tail = String.fromCharCode(...payload.slice(-TAIL_BYTES));
  const framed = payload.length > HEAD.length + TAIL_BYTES && payload.length <= MAX_BYTES && tail.startsWith(MIDDLE)
    && tail.endsWith(END) && String.fromCharCode(...payload.slice(0, HEAD.length)) === HEAD;
  if (!framed) throw unreadable();
  try {
    const signature = fromBase64(tail.slice(MIDDLE.length, -END.length), "wrong_shape");
    return { bytes: payload.slice(HEAD.length, -TAIL_BYTES), signature };
  } catch {
    throw unreadable();
  }
}

/** The log of one game as it comes in: numbers and links, entry by entry. */
export class LogChain {
  /** @type {Map<number, string>} */
  #digests = new Map();
  #of = "";

  constructor() {
    /** @type {Opening | null} null until it was heard */
    this.opening = null;
    /** The number of the next entry. */
    this.nextNumber = 0;
  }

  /** Check the next entry; return whether it is new. @param {Uint8Array} bytes @param {Entry} entry */
  link(bytes, entry) {
    const digest = entryDigest(bytes);
    if (entry.open !== null && digest !== this.#digests.get(0)) {
      this.opening = entry.open;
      this.#digests = new Map();
      this.#of = digest.slice(0, 16);
    } else if (this.#digests.size === 0) {
      this.#of = entry.of; // in the middle of a game
    } else if (!this.#continues(entry, digest)) {
      return false;
    }
    this.#digests.set(entry.n, digest);
    this.nextNumber = entry.n + 1;
    return true;
  }

  /** @param {Entry} entry @param {string} digest */
  #continues({ n, of, prev }, digest) {
    if (of !== this.#of && n) throw new LogError("log_foreign", `entry ${n} belongs to another game`, "file");
    if (n < this.nextNumber) {
      if ((this.#digests.get(n) ?? digest) !== digest) throw forked(n);
      return false;
    }
    if (n > this.nextNumber) throw new LogError("log_gap", `entry ${n} where entry ${this.nextNumber} belongs`, "incomplete");
    if (prev !== this.#digests.get(n - 1)) throw new LogError("log_broken", `entry ${n} does not continue the entry ${n - 1}, so two histories were signed: ${CANNOT_TELL}`, "forked");
    return true;
  }
}

/** @param {Uint8Array} secret @param {number} number @param {string} hidden */
function blind(secret, number, hidden) {
  const place = new Uint8Array(8);
  new DataView(place.buffer).setBigUint64(0, BigInt(number));
  return blake2b(toBytes(hidden), 32, blake2b(joined("salvo blind", place), 32, secret));
}

/**
 * Return what contradicts the commitments of a game in what was revealed; null if nothing does (SALVO-LOG-11).
 *
 * @param {Opening} opening
 * @param {NonNullable<Entry["reveal"]>} revealed the first entry that reveals anything
 * @param {Uint8Array[]} commitments
 * @param {string[]} texts
 */
export function notOpened(opening, { seed, secret, first }, commitments, texts) {
  if (seed === null || secret === null || first) return "the first entry that reveals anything has seed, secret, and the texts from 0 on";
  if (!sameBytes(blake2b(`salvo seed\0${seed}`, 32, secret), opening.seed)) return "seed and secret do not open the commitment";
  if (opening.draw === "fair" && seed !== toHex(secret)) return "with draw fair, the seed must be the secret";
  const wrong = texts.findIndex((hidden, number) => !sameBytes(blind(secret, number, hidden), commitments[number]));
  return wrong < 0 ? null : `text ${wrong}, ${texts[wrong].slice(0, 120)}, does not open the commitment`;
}

const CONTEXT = exactly({ game: count, turn: count, shot: count, target: text });
const TURN_CONTEXT = exactly({ game: count, turn: count });
const PLACE = exactly({
  player: text, spelling: text, ship: text, x: count, y: count, orientation: oneOf("HORIZONTAL", "VERTICAL"),
  message: optional(text, ""),
});
const FIRE = exactly({ player: text, target: text, x: count, y: count, context: optional(CONTEXT, null) });
const SKIP = exactly({ player: text, context: optional(TURN_CONTEXT, null) });
const OTHER = shape.object({ player: optional(text, "") });
const HIDDEN = exactly({
  at: count, place: optional(PLACE, null), fire: optional(FIRE, null), skip: optional(SKIP, null), leave: optional(OTHER, null),
  unreadable: optional(OTHER, null),
});

/** Read a revealed text. @param {string} written */
export const readHidden = (written) => HIDDEN(parseJson(toBytes(written), MAX_BYTES, MAX_DEPTH), "");
