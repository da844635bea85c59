// Blobs: how a secret keeps a message private or proves who sent it (SALVO-SEAL); the server's keys (SALVO-IDENT).

import { blake2b, fromBase64, joined, sameBytes, sodium, toBase64, toBytes, toHex } from "./bytes.js";
import { SalvoError, WireError } from "./errors.js";

const SALT = 16;
const NONCE = 24;
const SHORTEST = SALT + NONCE + 16 + 2;
const LONGEST = 1024;
const PADDING = 96;
const PASSES = 2;
const MEMORY = 64 * 1024 * 1024;

/** The most bytes of a recap's blob (SALVO-JOIN-12). */
const MAX_RECAP_BYTES = 48 * 1024;

/** @typedef {{salt: Uint8Array, nonce: Uint8Array, ciphertext: Uint8Array}} Blob a blob that is not verified yet */

/** Return the key of a secret: 32 bytes, after some work (SALVO-SEAL-2). @param {string} secret @param {Uint8Array} salt */
export const deriveKey = (secret, salt) =>
  sodium.crypto_pwhash(32, toBytes(secret), salt, PASSES, MEMORY, sodium.crypto_pwhash_ALG_ARGON2ID13);

/** Return the key of blobs from the server to a team (SALVO-SEAL-10). @param {Uint8Array} key */
export const keyToTeam = (key) => blake2b("salvo s2c", 32, key);

/**
 * Take a blob's base64 text apart.
 *
 * @param {string} text
 * @param {number} [longest]
 * @returns {Blob}
 */
export function parseBlob(text, longest = LONGEST) {
  const most = Math.floor((longest + 2) / 3) * 4;
  if (text.length > most) throw new WireError("blob_length", `${text.length} characters; a blob has at most ${most}`);
  const bytes = fromBase64(text, "blob_not_base64");
  if (bytes.length < SHORTEST || bytes.length > longest) {
    throw new WireError("blob_length", `${bytes.length} bytes; a blob decodes to ${SHORTEST}..${longest} bytes`);
  }
  const end = SALT + NONCE;
  return { salt: bytes.slice(0, SALT), nonce: bytes.slice(SALT, end), ciphertext: bytes.slice(end) };
}

/**
 * Return the text in a blob.
 *
 * @param {Blob} blob
 * @param {Uint8Array} key
 * @throws {SalvoError} `forged`
 */
export function openBlob({ nonce, ciphertext }, key) {
  try {
    return sodium.crypto_secretbox_open_easy(ciphertext, nonce, key);
  } catch {
    throw new SalvoError("forged", "the tag does not verify");
  }
}

/** Makes blobs under one secret, with one salt, so that the receiver derives the key once (SALVO-FRESH-6). */
export class Sealer {
  /** @type {Uint8Array | null} */
  #key = null;

  /**
   * @param {string} secret
   * @param {Uint8Array} [salt]
   */
  constructor(secret, salt = sodium.randombytes_buf(SALT)) {
    this.secret = secret;
    this.salt = salt;
  }

  /** The key; it takes a while, the first time. */
  get key() {
    this.#key ??= deriveKey(this.secret, this.salt);
    return this.#key;
  }

  /**
   * Return the blob of a text, padded so that its length reveals nothing (SALVO-SEAL-9).
   *
   * @param {string} text
   * @param {Uint8Array} [nonce]
   */
  seal(text, nonce = sodium.randombytes_buf(NONCE)) {
    return toBase64(joined(this.salt, nonce, sodium.crypto_secretbox_easy(padded(text), nonce, this.key)));
  }

  /**
   * Return a signed message (SALVO-SEAL-4).
   *
   * @param {object} body
   * @param {Uint8Array} [nonce]
   */
  sign(body, nonce) {
    const text = JSON.stringify(body);
    return padded(`{"data":${text},"signature":"${this.seal(text, nonce)}"}`);
  }

  /** Return what is in a blob from the server to this team. @param {Uint8Array} payload @returns {Uint8Array} */
  openFromServer(payload) {
    const blob = parseBlob(new TextDecoder().decode(payload), MAX_RECAP_BYTES);
    const key = sameBytes(blob.salt, this.salt) ? this.key : deriveKey(this.secret, blob.salt);
    return openBlob(blob, keyToTeam(key));
  }
}

/** @param {string} text */
function padded(text) {
  const bytes = toBytes(text);
  return joined(bytes, " ".repeat((PADDING - (bytes.length % PADDING)) % PADDING));
}

/** Return a team's salt at a server that has a key, the same after every restart. @param {string} name @param {Uint8Array} sign */
export const saltOf = (name, sign) => blake2b(joined(`salvo salt\0${name}\0`, sign), SALT);

/** Return what people compare of a server's key: `9f3a 01c2 77de 4b10` (SALVO-IDENT-3). @param {Uint8Array} sign */
export const fingerprint = (sign) => toHex(blake2b(sign)).slice(0, 16).replace(/....(?=.)/g, "$& ");

/**
 * Whether the owner of a key signed exactly these bytes.
 *
 * @param {Uint8Array} sign
 * @param {Uint8Array} message
 * @param {Uint8Array} signature
 */
export function isSigned(sign, message, signature) {
  try {
    return sodium.crypto_sign_verify_detached(signature, message, sign);
  } catch {
    return false;
  }
}

/** Return a box that only the server can open (SALVO-IDENT-4). @param {string} text @param {Uint8Array} key */
export function sealForServer(text, key) {
  try {
    return toBase64(sodium.crypto_box_seal(padded(text), key));
  } catch {
    throw new SalvoError("bad_key", `nothing can be sealed for the key ${toHex(key)}`);
  }
}
