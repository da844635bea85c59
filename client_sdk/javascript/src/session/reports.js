// Reports, once a game, why nothing happens.

/** After this long without news, in seconds, the cause is probably wrong settings. */
const SILENCE = 5;

/** @typedef {import("./session.js").SessionEvent} SessionEvent */

export class Reports {
  #told = new Set();

  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.heardOfTable = false;
    /** @type {number | null} the game whose lobby the team left without a complete fleet */
    this.leftOutOf = null;
  }

  /** Return an event, the first time. @param {string} code @param {number} game @param {SessionEvent} event @returns {SessionEvent[]} */
  once(code, game, event) {
    const key = `${code} ${game}`;
    if (this.#told.has(key)) return [];
    this.#told.add(key);
    return [event];
  }

  /** @param {string} code @param {string} text @param {number} game */
  #wait(code, text, game = 0) {
    return this.once(code, game, { type: "waits", code, text: `${text}; waiting` });
  }

  /** Report that the team plays the next game. */
  gameOn() {
    const { game, state, players, name } = this.session;
    let how = state === "over" ? "over" : "on";
    if (this.leftOutOf === game && state === "turn") how = `on; it began with ${players.join(", ")}, whose fleets were complete first`;
    return this.#wait("game_on", `${game ? `game ${game}` : "a game"} is ${how}; ${name} plays the next one`, game);
  }

  /** Report that the name is listed, and a request for it was refused: perhaps ours. */
  nameInUse() {
    const text = `${this.session.name} is listed with another secret, perhaps by an earlier start of this program`;
    return this.#wait("name_taken", `${text}; give that secret, or another name`, this.session.game);
  }

  /** Report that nothing is heard of the table, or that a request has no answer. @param {number} connected @param {number} unanswered */
  silence(connected, unanswered) {
    const { table, name } = this.session;
    if (!this.heardOfTable) {
      const where = table ? `table "${table}"` : "the default table";
      return connected <= SILENCE ? [] : this.#wait("no_server", `nothing is heard at ${where}: there is no such table, or no server yet`);
    }
    if (unanswered <= SILENCE) return [];
    return this.#wait("no_answer", `the request to take part is not answered; is "${name}" the account of a watcher or referee, `
      + "which can only watch? Then use a team's");
  }
}
