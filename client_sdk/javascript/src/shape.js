// Readers of JSON values: each returns the value that it has checked, or says where it has another shape.

import { fromBase64, fromHex } from "./bytes.js";
import { WireError } from "./errors.js";

/**
 * @template T
 * @typedef {(value: any, at: string) => T} Shape
 */

/** @param {string} at @param {string} wanted @returns {never} */
function wrong(at, wanted) {
  throw new WireError("wrong_shape", `${at || "the value"} is not ${wanted}`);
}

/**
 * A whole number of a range.
 *
 * @param {number} [least]
 * @param {number} [most]
 * @returns {Shape<number>}
 */
export const integer = (least = 0, most = Number.MAX_SAFE_INTEGER) => (value, at) =>
  Number.isSafeInteger(value) && value >= least && value <= most ? value : wrong(at, `a number ${least}..${most}`);

export const count = integer();

/** @type {Shape<string>} */
export const text = (value, at) => (typeof value === "string" ? value : wrong(at, "a text"));

/** @type {Shape<boolean>} */
export const flag = (value, at) => (typeof value === "boolean" ? value : wrong(at, "true or false"));

/**
 * @template {string} W
 * @param {...W} words
 * @returns {Shape<W>}
 */
export const oneOf = (...words) => (value, at) => (words.includes(value) ? value : wrong(at, `one of ${words.join(", ")}`));

/** @param {RegExp} pattern @returns {Shape<string>} */
export const matching = (pattern) => (value, at) =>
  typeof value === "string" && pattern.test(value) ? value : wrong(at, `a text like ${pattern}`);

/** @param {number} size @returns {Shape<Uint8Array>} */
export const base64 = (size) => (value, at) => {
  const bytes = fromBase64(text(value, at), "wrong_shape");
  return bytes.length === size ? bytes : wrong(at, `base64 of ${size} bytes`);
};

/** @param {number} size @returns {Shape<Uint8Array>} */
export const hexadecimal = (size) => (value, at) =>
  fromHex(matching(new RegExp(`^[0-9a-f]{${2 * size}}$`))(value, at));

/**
 * @template T
 * @param {Shape<T>} of
 * @returns {Shape<T[]>}
 */
export const list = (of) => (value, at) =>
  Array.isArray(value) ? value.map((item, number) => of(item, `${at}[${number}]`)) : wrong(at, "a list");

/**
 * A flat list of numbers, in groups.
 *
 * @param {number} size
 * @returns {Shape<number[][]>}
 */
export const groups = (size) => (value, at) => {
  const numbers = list(count)(value, at);
  if (numbers.length % size) wrong(at, `a list of groups of ${size}`);
  return Array.from({ length: numbers.length / size }, (_, group) => numbers.slice(group * size, (group + 1) * size));
};

/**
 * @template T
 * @param {Shape<T>} of
 * @returns {Shape<{[key: string]: T}>}
 */
export const record = (of) => (value, at) =>
  Object.fromEntries(Object.entries(asObject(value, at)).map(([key, item]) => [key, of(item, `${at}.${key}`)]));

/**
 * A field that may be absent.
 *
 * @template T, D
 * @param {Shape<T>} of
 * @param {D} without its value then
 * @returns {Shape<T | D>}
 */
export const optional = (of, without) => (value, at) => (value === undefined ? without : of(value, at));

/**
 * An object with these fields; others are ignored (SALVO-VERSION-3).
 *
 * @template {{[key: string]: Shape<any>}} F
 * @param {F} fields
 * @returns {Shape<{[K in keyof F]: F[K] extends Shape<infer T> ? T : never}>}
 */
export const object = (fields) => (value, at) => {
  const given = asObject(value, at);
  return /** @type {any} */ (Object.fromEntries(Object.entries(fields).map(
    ([key, of]) => [key, of(Object.hasOwn(given, key) ? given[key] : undefined, at ? `${at}.${key}` : key)],
  )));
};

/**
 * An object with these fields and no others.
 *
 * @template {{[key: string]: Shape<any>}} F
 * @param {F} fields
 * @returns {Shape<{[K in keyof F]: F[K] extends Shape<infer T> ? T : never}>}
 */
export const exactly = (fields) => (value, at) => {
  const strange = Object.keys(asObject(value, at)).find((key) => !Object.hasOwn(fields, key));
  return strange === undefined ? object(fields)(value, at) : wrong(at ? `${at}.${strange}` : strange, "a field of it");
};

/** @param {any} value @param {string} at @returns {{[key: string]: any}} */
function asObject(value, at) {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : wrong(at, "an object");
}
