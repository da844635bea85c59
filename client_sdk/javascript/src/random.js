// Draws that come out as in the Python SDK: the same seed gives the same fleets and the same samples.

import { joined, personalBlake2b, sodium, toBytes, toHex } from "./bytes.js";

const SIZE = 624;
const MIDDLE = 397;

/** A Mersenne Twister, seeded by a text as Python's `random.Random` is. */
export class Random {
  #state = new Uint32Array(SIZE);
  #next = SIZE;

  /** @param {string} seed */
  constructor(seed) {
    const text = toBytes(seed);
    this.#seed(words(joined(text, sodium.crypto_hash_sha512(text))));
  }

  /** Return a number from 0 to below 1. */
  random() {
    const high = this.#draw() >>> 5;
    const low = this.#draw() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  /** @param {number} low @param {number} high */
  uniform(low, high) {
    return low + (high - low) * this.random();
  }

  /**
   * Return a whole number from 0 to below `count`.
   *
   * @param {number} count
   */
  below(count) {
    return Math.floor(this.random() * count);
  }

  /**
   * Return `count` different items in random order, or all of them if there are fewer.
   *
   * @template T
   * @param {Iterable<T>} items
   * @param {number} count
   * @returns {T[]}
   */
  sample(items, count) {
    const pool = [...items];
    const taken = Math.min(count, pool.length);
    for (let place = 0; place < taken; place++) {
      const other = place + this.below(pool.length - place);
      [pool[place], pool[other]] = [pool[other], pool[place]];
    }
    return pool.slice(0, taken);
  }

  /** @param {number[]} key */
  #seed(key) {
    const state = this.#state;
    state[0] = 19650218;
    for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
    let i = 1;
    let j = 0;
    for (let left = Math.max(SIZE, key.length); left > 0; left--) {
      state[i] = (state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1664525)) + key[j] + j;
      j = (j + 1) % key.length;
      i = this.#following(i);
    }
    for (let left = SIZE - 1; left > 0; left--) {
      state[i] = (state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1566083941)) - i;
      i = this.#following(i);
    }
    state[0] = 0x80000000;
  }

  /** @param {number} i */
  #following(i) {
    if (i + 1 < SIZE) return i + 1;
    this.#state[0] = this.#state[SIZE - 1];
    return 1;
  }

  #draw() {
    if (this.#next === SIZE) this.#twist();
    let word = this.#state[this.#next++];
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
  }

  #twist() {
    const state = this.#state;
    for (let i = 0; i < SIZE; i++) {
      const bits = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
      state[i] = state[(i + MIDDLE) % SIZE] ^ (bits >>> 1) ^ (bits & 1 ? 0x9908b0df : 0);
    }
    this.#next = 0;
  }
}

/**
 * A big-endian number as words of 32 bits, the lowest first.
 *
 * @param {Uint8Array} bytes
 */
function words(bytes) {
  const found = [];
  for (let end = bytes.length; end > 0; end -= 4) {
    let word = 0;
    for (const byte of bytes.slice(Math.max(0, end - 4), end)) word = ((word << 8) | byte) >>> 0;
    found.push(word);
  }
  while (found.length > 1 && found[found.length - 1] === 0) found.pop();
  return found;
}

/**
 * Return a generator for one purpose, such as `generator(seed, name, game)`.
 *
 * @param {...(string | number)} parts
 */
export const generator = (...parts) => new Random(parts.join("/"));

/**
 * Return a player's own seed for one game, its only source of randomness; it reveals nothing about `seed`.
 *
 * @param {string | number} seed
 * @param {string} name
 * @param {number} game
 */
export function ownSeed(seed, name, game) {
  const person = joined("salvo own seed", new Uint8Array(2));
  const text = toBytes(`${seed}/${name}/${game}`);
  return toHex(personalBlake2b(text, 16, person));
}
