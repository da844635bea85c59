// Bytes, texts and the primitives of libsodium, which is ready once this module is loaded.

import sodium from "libsodium-wrappers-sumo";
import { WireError } from "./errors.js";

await sodium.ready;

export { sodium };

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @param {string} text */
export const toBytes = (text) => encoder.encode(text);

/**
 * @param {Uint8Array} bytes
 * @param {number} [largest]
 * @returns {string}
 */
export function toText(bytes, largest = Infinity) {
  if (bytes.length > largest) throw new WireError("too_large", `${bytes.length} bytes; at most ${largest} are read`);
  try {
    return decoder.decode(bytes);
  } catch {
    throw new WireError("not_utf8", "the payload is not UTF-8");
  }
}

/** @param {...(Uint8Array | string)} parts */
export function joined(...parts) {
  const pieces = parts.map((part) => (typeof part === "string" ? toBytes(part) : part));
  const whole = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/**
 * BLAKE2b of bytes, keyed or not.
 *
 * @param {Uint8Array | string} message
 * @param {number} [size] of the digest, in bytes
 * @param {Uint8Array | null} [key]
 */
export const blake2b = (message, size = 32, key = null) => sodium.crypto_generichash(size, message, key);

/**
 * BLAKE2b of bytes with a personal text of 16 bytes, which the wrappers offer for keys alone, and the library for messages.
 *
 * @param {Uint8Array} message
 * @param {number} size of the digest, in bytes
 * @param {Uint8Array} personal
 */
export function personalBlake2b(message, size, personal) {
  const { libsodium } = /** @type {any} */ (sodium);
  const digest = libsodium._malloc(size + personal.length + message.length);
  const [itsPersonal, itsMessage] = [digest + size, digest + size + personal.length];
  libsodium.HEAPU8.set(joined(personal, message), itsPersonal);
  libsodium._crypto_generichash_blake2b_salt_personal(digest, size, itsMessage, message.length, 0, 0, 0, 0, itsPersonal);
  const bytes = libsodium.HEAPU8.slice(digest, digest + size);
  libsodium._free(digest);
  return bytes;
}

/** @param {Uint8Array} bytes */
export const toHex = (bytes) => sodium.to_hex(bytes);

/** @param {string} digits */
export const fromHex = (digits) => sodium.from_hex(digits);

/** @param {Uint8Array} bytes */
export const toBase64 = (bytes) => sodium.to_base64(bytes, sodium.base64_variants.ORIGINAL);

/**
 * Decode canonical standard base64 with padding.
 *
 * @param {string} text
 * @param {string} code of the error
 */
export function fromBase64(text, code) {
  let bytes = null;
  try {
    bytes = sodium.from_base64(text, sodium.base64_variants.ORIGINAL);
  } catch {
    // refused below
  }
  if (bytes === null || toBase64(bytes) !== text) {
    throw new WireError(code, "not canonical standard base64 (A-Z a-z 0-9 + /) with padding");
  }
  return bytes;
}

/**
 * @param {Uint8Array} one
 * @param {Uint8Array} other
 */
export const sameBytes = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at]);
