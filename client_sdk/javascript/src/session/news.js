// What a team knows of its table, and what it reports when no news arrives.

/** After this long without news, the cause is probably wrong settings: retained messages come at once, answers soon. */
export const SILENCE_SECONDS = 5;

/** @typedef {import("./session.js").SessionEvent} SessionEvent */

/** The table's news that more than one machine needs; the session changes it. */
export class KnownTable {
  /** Null before they were announced. @type {import("../rules.js").RuleBook | null} */
  rules = null;
  /** Time for a turn, in milliseconds; a shorter one is cut by the team's bank. */
  turnMs = 0;
  /** Its number; 0 before it was announced. */
  game = 0;
  /** The names on its list. @type {string[]} */
  players = [];
  /** Whether the list has this team's name, as far as is known since the connection came up. */
  listed = false;

  /** @param {string} name empty for the default table @param {string} team this team's name */
  constructor(name, team) {
    this.name = name;
    this.team = team;
  }
}

/** Reports to the player, once a game, why nothing happens. */
export class Reports {
  #reported = new Set();
  tableKnown = false;
  /** The game whose lobby the team left without a complete fleet. @type {number | null} */
  leftOutOf = null;

  /** @param {KnownTable} table */
  constructor(table) {
    this.table = table;
  }

  /** Return the event, the first time. @param {string} code @param {number} game @param {SessionEvent} event @returns {SessionEvent[]} */
  once(code, game, event) {
    const key = `${code} ${game}`;
    if (this.#reported.has(key)) return [];
    this.#reported.add(key);
    return [event];
  }

  /** @param {string} code @param {string} text @param {number} game */
  #wait(code, text, game = 0) {
    return this.once(code, game, { type: "waits", code, text: `${text}; waiting` });
  }

  /** Report that the team plays the next game. @param {import("../announcements.js").State | null} state */
  gameOn(state) {
    const { game, players, team } = this.table;
    let how = state === "over" ? "over" : "on";
    if (this.leftOutOf === game && state === "turn") how = `on; it began with ${players.join(", ")}, whose fleets were complete first`;
    return this.#wait("game_on", `${game ? `game ${game}` : "a game"} is ${how}; ${team} plays the next one`, game);
  }

  /** Report that the name is listed, and a request for it was refused: perhaps ours. */
  nameInUse() {
    const text = `${this.table.team} is listed with another secret, perhaps by an earlier start of this program`;
    return this.#wait("name_taken", `${text}; give that secret, or another name`, this.table.game);
  }

  /** Report that no news of the table arrives, or that a request has no answer. @param {number} connectedSeconds @param {boolean} unanswered */
  silence(connectedSeconds, unanswered) {
    const { name, team } = this.table;
    if (!this.tableKnown) {
      if (connectedSeconds <= SILENCE_SECONDS) return [];
      const where = name ? `table "${name}"` : "the default table";
      return this.#wait("no_server", `nothing arrives from ${where}: it has no such table, or no server yet`);
    }
    if (!unanswered) return [];
    return this.#wait("no_answer", `the request to take part is not answered; is "${team}" the account of a watcher or referee, `
      + "which can only watch? Then use a team's");
  }
}
