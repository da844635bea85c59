/** What controls a terminal, turns lines around or is no character, but line ends. */
const UNSHOWN = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu;

/** Return text of others for a terminal: nothing in it controls that. @param {string} text */
const printable = (text) => text.replace(UNSHOWN, "\ufffd");

/**
 * An error with a stable code, such as `off_grid`; the table of errors in the protocol specification lists them all.
 */
export class SalvoError extends Error {
  /**
   * @param {string} code
   * @param {string} text what was wrong, and what is allowed
   */
  constructor(code, text) {
    text = printable(text);
    super(`${code}: ${text}`);
    this.name = "SalvoError";
    /** The stable code. */
    this.code = code;
    /** The sentence without the code. */
    this.text = text;
  }
}

/** A message that does not follow the protocol. */
export class WireError extends SalvoError {}

/** The other end is not the server that it was: its key has changed, or it signed a contradiction. */
export class TrustError extends SalvoError {}
