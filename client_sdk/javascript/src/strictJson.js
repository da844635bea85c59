// Strict JSON, the only JSON that either side reads (SALVO-WIRE): no key twice, whole numbers only, few levels.

import { toText } from "./bytes.js";
import { WireError } from "./errors.js";

/** @typedef {any} Json null, a boolean, a number, a text, or a list or an object of these */

/** The most bytes that a command may have (SALVO-WIRE-5). */
const MAX_COMMAND_BYTES = 4096;

/**
 * Read strict JSON.
 *
 * @param {Uint8Array} payload
 * @param {number} [largest] bytes
 * @param {number} [deepest] levels
 * @returns {any}
 */
export function parseJson(payload, largest = MAX_COMMAND_BYTES, deepest = 4) {
  const text = toText(payload, largest);
  checkDepth(text, deepest);
  return new Reader(text).whole();
}

/**
 * Refuse what is nested too deeply, whether or not it is JSON.
 *
 * @param {string} text
 * @param {number} deepest
 */
function checkDepth(text, deepest) {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"?|[[\]{}]/gs)) {
    if (token === "[" || token === "{") depth += 1;
    else if (token === "]" || token === "}") depth -= 1;
    if (depth > deepest) throw new WireError("too_deep", `nested deeper than ${deepest} levels`);
  }
}

/** @type {WeakMap<object, string[]>} */
const NAMES = new WeakMap();

/**
 * Return the names of a parsed object's members as they were written: an object itself has names that are numbers first.
 *
 * @param {object} value
 */
export const namesOf = (value) => NAMES.get(value) ?? Object.keys(value);

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
const NO_NUMBER = /-?Infinity|NaN/y;

class Reader {
  #at = 0;

  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** @returns {Json} */
  whole() {
    const value = this.#value();
    if (this.#at < this.text.length) throw this.#wrong();
    return value;
  }

  /** @param {RegExp} pattern @returns {RegExpExecArray | null} */
  #take(pattern) {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    if (found !== null) this.#at += found[0].length;
    return found;
  }

  /** @param {string} letter */
  #skip(letter) {
    this.#take(SPACE);
    if (this.text[this.#at] !== letter) return false;
    this.#at += 1;
    this.#take(SPACE);
    return true;
  }

  /** @returns {Json} */
  #value() {
    this.#take(SPACE);
    const value = this.#skip("{") ? this.#object() : this.#skip("[") ? this.#array() : this.#scalar();
    this.#take(SPACE);
    return value;
  }

  #scalar() {
    if (this.text[this.#at] === '"') return this.#string();
    const word = this.#take(WORD);
    if (word !== null) return { true: true, false: false, null: null }[word[0]] ?? null;
    const wrong = this.#take(NO_NUMBER);
    const number = wrong ?? this.#take(NUMBER);
    if (number === null) throw this.#wrong();
    if (wrong !== null || number[1] !== undefined || number[2] !== undefined) {
      throw new WireError("not_integer", `${number[0].slice(0, 40)} is not an integer; numbers are whole`);
    }
    return Number(number[0]);
  }

  #string() {
    const found = this.#take(STRING);
    if (found === null) throw this.#wrong();
    const text = JSON.parse(found[0]);
    if (!text.isWellFormed()) throw new WireError("not_utf8", "a text has half of a surrogate pair");
    return text;
  }

  #array() {
    /** @type {Json[]} */
    const items = [];
    if (this.#skip("]")) return items;
    do items.push(this.#value());
    while (this.#skip(","));
    if (!this.#skip("]")) throw this.#wrong();
    return items;
  }

  #object() {
    /** @type {Map<string, Json>} */
    const members = new Map();
    if (this.#skip("}")) return {};
    do this.#member(members);
    while (this.#skip(","));
    if (!this.#skip("}")) throw this.#wrong();
    const value = Object.fromEntries(members);
    NAMES.set(value, [...members.keys()]);
    return value;
  }

  /** @param {Map<string, Json>} members */
  #member(members) {
    this.#take(SPACE);
    const key = this.#string();
    if (members.has(key)) throw new WireError("duplicate_key", `key "${key.slice(0, 40)}" stands twice`);
    if (!this.#skip(":")) throw this.#wrong();
    members.set(key, this.#value());
  }

  #wrong() {
    return new WireError("not_json", `not JSON at character ${this.#at + 1}`);
  }
}

/**
 * Whether two JSON values are equal, types included; the order of keys does not matter (SALVO-SEAL-5).
 *
 * @param {Json} one
 * @param {Json} other
 * @returns {boolean}
 */
export function sameValue(one, other) {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return one === other;
  if (Array.isArray(one) || Array.isArray(other)) {
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length
      && one.every((item, at) => sameValue(item, other[at]));
  }
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length
    && keys.every((key) => Object.hasOwn(other, key) && sameValue(one[key], other[key]));
}
