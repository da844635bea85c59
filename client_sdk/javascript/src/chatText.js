// What a line of chat may be: one line on every screen (SALVO-CHAT-3).

import { WireError } from "./errors.js";

const MOST = 200;
/** Of a text of any other message. */
const MOST_SHOWN = 1000;
const REFUSED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const SEEN = /[^\p{Cf}\p{Mn}\p{Me}\p{Zs}]/u;

/** @param {string} text */
function checkLength(text) {
  const length = [...text].length;
  if (length < 1 || length > MOST) throw new WireError("bad_text", `${length} characters; a line has 1..${MOST}`);
}

/** Return a received text, which must be a line. @param {string} text */
export function checkText(text) {
  checkLength(text);
  if (REFUSED.test(text)) throw new WireError("bad_text", "a line has no control characters, line ends or changes of direction");
  if (!SEEN.test(text)) throw new WireError("bad_text", "nothing in it can be seen; a line has one visible character at least");
  return text;
}

/** Return a text as it is sent: without trailing white space, normalised. @param {string} text */
export function cleanText(text) {
  const trimmed = text.replace(/[\s\u001c-\u001f\u0085]+$/u, "");
  checkLength(trimmed);
  return checkText(trimmed.normalize("NFC"));
}

/**
 * Return a value that a server has published, in which no text controls a terminal, turns lines around or fills it: programs
 * print names.
 *
 * @template V
 * @param {V} value a JSON value
 * @param {number} [longest] of a text, in characters
 * @returns {V}
 */
export function shown(value, longest = MOST_SHOWN) {
  if (typeof value === "string" && (REFUSED.test(value) || value.length > longest)) {
    throw new WireError("wrong_shape", `a text has control characters or changes of direction, or more than ${longest} characters`);
  }
  if (typeof value === "object" && value !== null) for (const each of Object.entries(value).flat()) shown(each, longest);
  return value;
}
