// What the server publishes, as a player reads it. A payload becomes an object whose `kind` says what it is.

import { toText } from "./bytes.js";
import { checkText, shown } from "./chatText.js";
import { SalvoError, WireError } from "./errors.js";
import { RuleBook } from "./rules.js";
import { sealForServer } from "./seal.js";
import * as shape from "./shape.js";
import { parseJson } from "./strictJson.js";
import { checkName } from "./topics.js";

const { base64, count, flag, groups, integer, list, matching, object, oneOf, optional, record, text } = shape;

/** The protocol that this SDK speaks (SALVO-VERSION-1). */
export const PROTOCOL = { major: 1, minor: 0 };

const MAX_BYTES = 64 * 1024;
const MAX_DEPTH = 64;

/**
 * The result of a salvo (SALVO-FIRE-11).
 *
 * @typedef {object} Result
 * @property {number} game
 * @property {number} turn
 * @property {string} player who fired
 * @property {number} shots how many
 * @property {number} hits how many of them
 * @property {{player: string, ship: string}[]} sunk
 * @property {string[]} defeated
 * @property {boolean[] | null} outcomes hit or miss of each shot, where the rules announce it; else null
 * @property {{player: string, x: number, y: number}[] | null} aims the shots, where the rules announce them; else null
 */

/**
 * A player's figures at the end of a game.
 *
 * @typedef {{player: string, shots: number, hits: number, sunk: number, turns: number, place: number}} Stats
 */

/** @typedef {{sign: Uint8Array, seal: Uint8Array}} ServerKeys */
/** @typedef {{table: string, broker: string, brokers: string[]}} Seat */
/** @typedef {{major: number, minor: number}} Protocol */
/** @typedef {"lobby" | "turn" | "over"} State */

const SUNK = object({ player: text, ship: text });
const AIM = object({ to: text, x: count, y: count });
const RESULT = {
  game: count, turn: count, player: text, shots: count, hits: count, sunk: list(SUNK), defeated: list(text),
  outcomes: optional(list(flag), null), aims: optional(list(AIM), null),
};
const STATS = { shots: count, hits: count, sunk: count, turns: count, place: count };
const KEYS = object({ sign: base64(32), seal: base64(32) });
const VERSION = object({ major: count, minor: count });
const SHIP = object({ ship: text, coordinates: text, Orientation: text });
const LINE = object({ from: text, text });

export const readTurn = object({ game: count, turn: count, player: text, shots: count, now: count, deadline: count });

/** @param {any} value @param {string} at @returns {Result} */
export function readResult(value, at = "") {
  const { aims, ...result } = object(RESULT)(value, at);
  for (const told of [result.outcomes, aims]) {
    if (told !== null && told.length !== result.shots) throw new WireError("wrong_shape", "a result tells of other shots than it has");
  }
  return { ...result, aims: aims && aims.map(({ to, x, y }) => ({ player: to, x, y })) };
}

/** @param {any} value @param {string} [at] @returns {Stats} */
export const readStats = (value, at = "") => object({ player: text, ...STATS })(value, at);

/** @param {any} value @param {string} [at] @returns {import("./rules.js").Placement} */
export function readPlacement(value, at = "") {
  const { ship, coordinates, Orientation } = SHIP(value, at);
  const [x, y] = readCoordinates(coordinates);
  if (Orientation !== "HORIZONTAL" && Orientation !== "VERTICAL") {
    throw new WireError("bad_orientation", `Orientation "${Orientation.slice(0, 40)}"; it is HORIZONTAL or VERTICAL`);
  }
  return { ship, x, y, orientation: Orientation };
}

/** @param {string} coordinates x;y, where y may be a letter @returns {[number, number]} */
function readCoordinates(coordinates) {
  const found = /^[ \t\r\n]*(-?[0-9]{1,9})[ \t\r\n]*;[ \t\r\n]*(-?[0-9]{1,9}|[A-Za-z])[ \t\r\n]*$/.exec(coordinates);
  if (found === null) throw new WireError("bad_coordinates", `"${coordinates.slice(0, 40)}" is not x;y, such as "3;4" or "3;D"`);
  const y = /[A-Za-z]/.test(found[2]) ? found[2].toUpperCase().charCodeAt(0) - 64 : Number(found[2]);
  return [Number(found[1]), y];
}

/** @param {import("./rules.js").Placement} placement */
export const writePlacement = ({ ship, x, y, orientation }) => ({ ship, coordinates: `${x};${y}`, Orientation: orientation });

/** @param {Uint8Array} payload */
const people = (payload) => parseJson(payload, MAX_BYTES, MAX_DEPTH);

/** Read JSON whose texts are names, and not of people, who write more. @param {Uint8Array} payload */
const json = (payload) => shown(people(payload));

const TIMES = object({
  placement_seconds: count, turn_seconds: count, over_seconds: count, empty_turns: count, table: text,
  bank_seconds: optional(count, null), increment_seconds: optional(count, null),
});

/** @param {Uint8Array} payload */
function readRules(payload) {
  const said = json(payload);
  const times = TIMES(said, "");
  return { kind: /** @type {const} */ ("rules"), book: new RuleBook(said), turnSeconds: times.turn_seconds };
}

const STATUS = object({
  status: optional(text, ""), status_topic: optional(text, ""), version: text, game: count, profile: text,
  keys: optional(KEYS, null), chat: optional(flag, true), protocol: VERSION, players: optional(count, null),
});
const VERSIONS = object({ protocol: VERSION, version: text });

/** @param {Uint8Array} payload */
function readStatus(payload) {
  const said = json(payload);
  const { protocol, version } = VERSIONS(said, "");
  if (protocol.major !== PROTOCOL.major) {
    throw new SalvoError("other_protocol", `the server speaks protocol ${protocol.major}.${protocol.minor}, and this `
      + `client ${PROTOCOL.major}.${PROTOCOL.minor}; install the server's version of battleship-salvo, ${version.slice(0, 40)}`);
  }
  const { status, status_topic: statusTopic, ...rest } = STATUS(said, "");
  if (rest.keys !== null) sealForServer("{}", rest.keys.seal);
  const own = status === "online" || status === "paused" ? status : "offline";
  const presence = /** @type {"online" | "paused" | "offline" | "elsewhere"} */ (statusTopic ? "elsewhere" : own);
  return { kind: /** @type {const} */ ("server"), presence, ...rest };
}

/** @param {Uint8Array} payload */
function readWinner(payload) {
  const said = toText(payload, MAX_BYTES);
  const tied = said.startsWith("[") ? list(text)(json(payload), "winner") : [];
  return { kind: /** @type {const} */ ("won"), winner: said.startsWith("[") ? "" : shown(said), tied };
}

/** @param {Uint8Array} payload */
function readRefusal(payload) {
  const said = toText(payload, MAX_BYTES).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "?");
  const end = said.indexOf(": ");
  return end < 0 ? { code: "", text: said } : { code: said.slice(0, end), text: said.slice(end + 2) };
}

/** @param {Uint8Array} payload */
function readLine(payload) {
  const line = LINE(people(payload), "");
  checkText(line.text);
  if (line.from) checkName(line.from);
  return line;
}

const HOSTED = object({ by: text, do: text, text: optional(text, ""), team: optional(text, ""), paused: optional(flag, false) });

/** @param {Uint8Array} payload */
function readHosted(payload) {
  const acted = HOSTED(people(payload), "");
  if (acted.text) checkText(acted.text);
  checkName(acted.by === "host" ? "a" : acted.by);
  if (acted.team) checkName(acted.team);
  return { kind: /** @type {const} */ ("hosted"), ...acted };
}

/** @param {Uint8Array} payload @returns {State} */
const readState = (payload) => oneOf("lobby", "turn", "over")(toText(payload, MAX_BYTES), "state");

/**
 * Read what the server published; null for a cleared topic.
 *
 * @param {{topic: import("./topics.js").Topic, player: string, ship: string}} address
 * @param {Uint8Array} payload
 * @throws {WireError} it is not of our server
 * @throws {SalvoError} `other_protocol`: it speaks another major version
 */
export function readAnnouncement({ topic, player, ship }, payload) {
  if (payload.length === 0) return null;
  switch (topic) {
    case "state": return { kind: /** @type {const} */ ("state"), state: readState(payload) };
    case "list": return { kind: /** @type {const} */ ("players"), names: list(text)(json(payload), "") };
    case "turn": return { kind: /** @type {const} */ ("turn"), ...readTurn(json(payload), "") };
    case "result": return { kind: /** @type {const} */ ("result"), result: readResult(json(payload)) };
    case "stats": return { kind: /** @type {const} */ ("stats"), stats: readStats({ ...json(payload), player }) };
    case "winner": return readWinner(payload);
    case "fleet": return { kind: /** @type {const} */ ("revealed"), player, fleet: list(readPlacement)(readFleet(json(payload)), "") };
    case "hit": return { kind: /** @type {const} */ ("landed"), ...object({ x: count, y: count })(json(payload), "") };
    case "approved": return { kind: /** @type {const} */ ("judged"), player, spelling: ship, approved: toText(payload) === "true" };
    case "placementError": return { kind: /** @type {const} */ ("placementRefused"), ship, ...readRefusal(payload) };
    case "error": return { kind: /** @type {const} */ ("refused"), ...readRefusal(payload) };
    case "rules": return readRules(payload);
    case "server": return readStatus(payload);
    case "hosted": return readHosted(payload);
    case "chat": return { kind: /** @type {const} */ ("said"), private: false, ...readLine(payload) };
    case "message": return { kind: /** @type {const} */ ("said"), private: true, ...readLine(payload) };
    default: return null;
  }
}

/** @typedef {NonNullable<ReturnType<typeof readAnnouncement>>} Announcement */
/** @typedef {Extract<Announcement, {kind: "turn"}>} Turn */
/** @typedef {Extract<Announcement, {kind: "server"}>} ServerStatus */

/** @param {any} said */
const readFleet = (said) => object({ fleet: list((value) => value) })(said, "").fleet;

const SEAT = object({
  table: optional(text, ""),
  broker: optional(matching(/^.{0,300}$/su), ""),
  brokers: optional(list(text), /** @type {string[]} */ ([])),
});

/** Read a seat; null for none (SALVO-SEAT-1). @param {Uint8Array} payload @returns {Seat | null} */
export const readSeat = (payload) => (payload.length ? SEAT(json(payload), "") : null);

const MATCH = object({
  teams: list(text), table: optional(text, /** @type {string | null} */ (null)), places: optional(list(count), /** @type {number[]} */ ([])),
});
const STANDING = object({ place: count, team: text, points: count, games: count, wins: count });
const EVENING = object({
  name: optional(text, ""), round: optional(count, 0), rounds: optional(count, /** @type {number | null} */ (null)),
  over: optional(flag, false), teams: optional(count, 0), matches: optional(list(MATCH), []), rows: optional(list(STANDING), []),
});

/** @typedef {ReturnType<typeof EVENING>} Evening */

/** Read how a league stands; null for none (SALVO-EVENING-1). @param {Uint8Array} payload @returns {Evening | null} */
export function readEvening(payload) {
  if (!payload.length) return null;
  const shown = EVENING(json(payload), "");
  if (shown.matches.some(({ teams, places }) => places.length && places.length !== teams.length)) {
    throw new WireError("wrong_shape", "a match that has been played has a place for each of its teams");
  }
  return shown;
}

// --- the recap ------------------------------------------------------------------------------------------------------

const CELLS = matching(/^[0-9a-f]*$/);
const BEFORE = object({
  tallies: groups(3), sunk: groups(2), defeated: list(count), shots: count, aimed: list(CELLS), hits: count,
  struck: CELLS, met: optional(list(CELLS), null),
});
const RECAP = object({
  game: count, turn: count, players: list(text), fleet: list(readPlacement), first: integer(1), results: groups(3),
  sunk: groups(3), defeated: groups(2), shots: groups(4), hits: groups(2), outcomes: optional(matching(/^[01]*$/), null),
  aims: optional(groups(3), null), before: optional(BEFORE, null),
});

/** @typedef {{turns: number, shots: number, hits: number}} Tally */
/** @typedef {ReturnType<typeof readRecap>} Recap */
/** @typedef {ReturnType<typeof summary>} Earlier */

/**
 * Read the text of a recap (SALVO-JOIN-12).
 *
 * @param {Uint8Array} plaintext
 */
export function readRecap(plaintext) {
  const body = RECAP(shown(people(plaintext), plaintext.length), ""); // all shots of a long game are one text
  const name = (/** @type {number} */ number) => named(body.players, number);
  const last = body.first + body.results.length - 1;
  if ([...body.sunk, ...body.defeated].some(([turn]) => turn < body.first || turn > last)) throw misfit();
  let told = 0;
  const results = body.results.map(([player, shots, hits], number) => {
    const turn = body.first + number;
    const [from, to] = [told, (told += shots)];
    return {
      game: body.game, turn, player: name(player), shots, hits,
      sunk: body.sunk.filter(([at]) => at === turn).map(([, owner, ship]) => ({ player: name(owner), ship: named(body.fleet, ship).ship })),
      defeated: body.defeated.filter(([at]) => at === turn).map(([, out]) => name(out)),
      outcomes: body.outcomes === null ? null : whole([...body.outcomes].slice(from, to), shots).map((letter) => letter === "1"),
      aims: body.aims === null ? null : whole(body.aims.slice(from, to), shots).map(([at, x, y]) => ({ player: name(at), x, y })),
    };
  });
  const shots = body.shots.map(([turn, at, x, y]) => ({ turn, shot: { player: name(at), x, y } }));
  const earlier = body.before === null ? null : summary(body, body.before);
  return {
    game: body.game, turn: body.turn, players: body.players, fleet: body.fleet, shots, landed: body.hits, results, earlier,
    resolvedTurn: last,
    /** How far the game was: of two recaps, the lesser is the older (SALVO-JOIN-14). */
    progress: [body.game, body.turn, shots.length + (earlier?.shots ?? 0), body.hits.length + (earlier?.hits ?? 0)],
  };
}

/** @param {ReturnType<typeof RECAP>} body @param {ReturnType<typeof BEFORE>} before */
function summary({ players, fleet, first }, before) {
  const byPlayer = (/** @type {string[]} */ boards) =>
    new Map(whole(boards, players.length).map((digits, number) => [players[number], cells(digits)]));
  return {
    turns: first - 1,
    tallies: new Map(whole(before.tallies, players.length).map(([turns, shots, hits], number) => [players[number], { turns, shots, hits }])),
    sunk: before.sunk.map(([owner, ship]) => ({ player: named(players, owner), ship: named(fleet, ship).ship })),
    defeated: before.defeated.map((out) => named(players, out)),
    shots: before.shots, aimed: byPlayer(before.aimed), hits: before.hits, struck: cells(before.struck),
    met: before.met === null ? null : byPlayer(before.met),
  };
}

/** @param {string} digits */
const cells = (digits) =>
  [...digits].flatMap((digit, at) => [8, 4, 2, 1].flatMap((bit, place) => (parseInt(digit, 16) & bit ? [4 * at + place] : [])));

/** @template T @param {T[]} items @param {number} number @returns {T} */
function named(items, number) {
  if (number >= items.length) throw misfit();
  return items[number];
}

/** @template T @param {T[]} items @param {number} wanted */
function whole(items, wanted) {
  if (items.length !== wanted) throw misfit();
  return items;
}

const misfit = () => new WireError("wrong_shape", "the recap's lists do not fit together (SALVO-JOIN-12)");
