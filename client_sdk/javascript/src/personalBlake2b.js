// BLAKE2b with a personal text (RFC 7693), which the wrappers of libsodium offer for keys only. It is called once a game.

const MASK = (1n << 64n) - 1n;
const BLOCK = 128;
const START = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const ORDER = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
  "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0",
].map((row) => [...row].map((digit) => parseInt(digit, 16)));
const MIXED = [
  [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
];

/** @param {bigint} word @param {bigint} bits */
const turned = (word, bits) => ((word >> bits) | (word << (64n - bits))) & MASK;

/** @param {bigint[]} v @param {number[]} places @param {bigint} x @param {bigint} y */
function mix(v, [a, b, c, d], x, y) {
  v[a] = (v[a] + v[b] + x) & MASK;
  v[d] = turned(v[d] ^ v[a], 32n);
  v[c] = (v[c] + v[d]) & MASK;
  v[b] = turned(v[b] ^ v[c], 24n);
  v[a] = (v[a] + v[b] + y) & MASK;
  v[d] = turned(v[d] ^ v[a], 16n);
  v[c] = (v[c] + v[d]) & MASK;
  v[b] = turned(v[b] ^ v[c], 63n);
}

/** @param {Uint8Array} bytes @returns {bigint[]} */
function words(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 8 }, (_, word) => view.getBigUint64(8 * word, true));
}

/** @param {bigint[]} state @param {Uint8Array} block @param {number} read bytes so far @param {boolean} last */
function compress(state, block, read, last) {
  const m = words(block);
  const v = [...state, ...START];
  v[12] ^= BigInt(read);
  if (last) v[14] ^= MASK;
  for (let round = 0; round < 12; round++) {
    const order = ORDER[round % 10];
    MIXED.forEach((places, pair) => mix(v, places, m[order[2 * pair]], m[order[2 * pair + 1]]));
  }
  return state.map((word, at) => word ^ v[at] ^ v[at + 8]);
}

/**
 * @param {Uint8Array} message
 * @param {number} size of the digest, in bytes
 * @param {Uint8Array} personal 16 bytes
 */
export function personalBlake2b(message, size, personal) {
  const [low, high] = words(personal);
  let state = START.map((word, at) => word ^ [BigInt(0x01010000 | size), 0n, 0n, 0n, 0n, 0n, low, high][at]);
  const blocks = Math.max(1, Math.ceil(message.length / BLOCK));
  for (let number = 1; number <= blocks; number++) {
    const block = new Uint8Array(BLOCK);
    block.set(message.subarray((number - 1) * BLOCK, number * BLOCK));
    state = compress(state, block, Math.min(number * BLOCK, message.length), number === blocks);
  }
  const digest = new DataView(new ArrayBuffer(64));
  state.forEach((word, at) => digest.setBigUint64(8 * at, word, true));
  return new Uint8Array(digest.buffer, 0, size);
}
