// How a league stands for one team: a line for each thing that happens to it, from what everybody is shown.

/** @typedef {import("./announcements.js").Evening} Evening */
/** @typedef {Evening["matches"][number]} Match */

/** Compares what is shown with what was shown before. */
export class LeagueNews {
  /** Whether a league is there that is not over. */
  isOn = false;
  #team;
  /** What the last line was about. */
  #stage = "";
  /** The last round of which a line had the team's place in the table. */
  #hasStood = 0;

  /** @param {string} team */
  constructor(team) {
    this.#team = team;
  }

  /** Return what is new for the team. @param {Evening | null} shown null for no league @returns {string[]} */
  lines(shown) {
    this.isOn = shown !== null && shown.name !== "" && !shown.over;
    if (shown === null || !(shown.round || shown.over)) {
      this.#stage = "";
      return [];
    }
    const match = (!shown.over && shown.matches.find(({ teams }) => teams.includes(this.#team))) || null;
    const drawn = shown.rounds === null ? 0 : shown.round; // on a ladder, each match is a round
    const place = match === null ? null : match.places.length ? match.places : match.table;
    const stage = JSON.stringify([shown.name, shown.over, drawn, match?.teams, place]);
    if (stage === this.#stage) return [];
    this.#stage = stage;
    // The last result of a round and the next round may come at once.
    const isNext = shown.round > this.#hasStood + 1 && match !== null && !match.places.length;
    const stands = isNext ? `${this.#standing(shown)}; ` : "";
    const stood = match === null || (match.places.length && !left(shown)); // else the table of the round is still to come
    this.#hasStood = shown.round - (stood ? 0 : 1);
    return [this.#words(shown, match, stands)];
  }

  /** @param {Evening} shown @param {Match | null} match @param {string} stands */
  #words(shown, match, stands) {
    if (shown.over) return `${shown.name} is over: ${this.#standing(shown)}`;
    const begun = shown.rounds === null ? shown.name : `${shown.name}, round ${shown.round} of ${shown.rounds}`;
    if (match === null) {
      const isLate = shown.rounds !== null && !shown.rows.some(({ team }) => team === this.#team);
      return `${begun}: ${this.#standing(shown)}; ${isLate ? "joins from the next round on" : "waits for its next game"}`;
    }
    const { teams, places, table } = match;
    if (teams.length === 1) return `${begun}: ${stands}has a bye; ${next(shown)}`;
    if (places.length) {
      const place = places[teams.indexOf(this.#team)];
      const stands = `${this.#standing(shown)}${left(shown) ? " so far" : ""}`;
      return `${begun}: ${ordinal(place)} of ${teams.length}; ${stands}; ${next(shown)}`;
    }
    const rivals = teams.filter((team) => team !== this.#team).join(", ");
    if (table === null) return `${begun}: ${stands}plays ${rivals} when a table is free`;
    return `${begun}: ${stands}plays ${rivals} at ${table ? `table ${table}` : "the default table"}`;
  }

  /** @param {Evening} shown */
  #standing(shown) {
    const row = shown.rows.find(({ team }) => team === this.#team);
    if (row === undefined) return shown.teams > shown.rows.length ? `is below place ${shown.rows.length}` : "has not played";
    const points = row.points / 1000;
    return `stands ${ordinal(row.place)} of ${shown.teams} with ${Number(points.toPrecision(6))} point${points === 1 ? "" : "s"}`;
  }
}

/** Return when the team plays next. @param {Evening} shown */
function next(shown) {
  const { round, rounds } = shown;
  const games = left(shown);
  const what = rounds !== null && round >= rounds ? "the league is over" : "the next round begins";
  return games ? `${what} when ${games} more game${games > 1 ? "s are" : " is"} over` : `${what} now`;
}

/** Return how many games of the round are not over. @param {Evening} shown */
function left({ matches }) {
  return matches.filter(({ teams, places }) => teams.length > 1 && !places.length).length;
}

/** @param {number} number */
function ordinal(number) {
  const ending = Math.floor(number / 10) % 10 === 1 ? "th" : ["th", "st", "nd", "rd"][number % 10] ?? "th";
  return `${number}${ending}`;
}
