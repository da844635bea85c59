// The topics of a table that a player publishes or reads (SALVO-TOPIC).

import { WireError } from "./errors.js";

/** Topics that a session reads, by what the code calls them; `{p}` is a player, `{ship}` a ship. */
export const HEARD = /** @type {const} */ ({
  state: "/game/state",
  list: "/players/list",
  approved: "/players/{p}/ships/{ship}/approved",
  placementError: "/players/{p}/ships/{ship}/error",
  hit: "/players/{p}/hit",
  winner: "/game/winner",
  stats: "/game/stats/{p}",
  error: "/players/{p}/error",
  rules: "/game/rules",
  server: "/game/server",
  turn: "/game/turn",
  result: "/game/result",
  fleet: "/players/{p}/fleet",
  recap: "/players/{p}/recap",
  log: "/game/log",
  chat: "/game/chat",
  message: "/players/{p}/message",
  hosted: "/game/hosted",
});

/** @typedef {keyof typeof HEARD | "seat"} Topic */

/** Topics that are heard for all players; of the others with a player, only the own ones. */
const OF_ALL = new Set(["stats", "fleet"]);
const SEAT = "/players/{p}/seat";
/** Characters of a topic: more than names and words of any topic have. */
const LONGEST = 200;
/** What is on in the whole contest, at the first table alone (SALVO-EVENING-1). */
export const LEAGUE = "/game/league";
const RESERVED = new Set((
  "game state request_participation error players leave count list ships place approved current fire skip hit hits sunk "
  + "player defeated winner stats rules server turn result board fleet recap log resend referee standings say chat "
  + "message host hosted seat headline league"
).split(" "));

/**
 * Return a legal name of a player or table.
 *
 * @param {string} name
 * @throws {WireError} `bad_name` (SALVO-NAME-1, SALVO-NAME-3)
 */
export function checkName(name) {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(name)) {
    throw new WireError("bad_name", `"${name.slice(0, 40)}" is not 1..32 of A-Z a-z 0-9 _ - that begin with a letter or digit`);
  }
  if (RESERVED.has(name.toLowerCase())) throw new WireError("bad_name", `"${name}" is a word of the topic tree`);
  return name;
}

/** @param {string} table */
const prefix = (table) => (table ? `/${table}` : "");

/**
 * Return a topic to publish to.
 *
 * @param {string} table
 * @param {string} below such as `players/ann/fire`
 */
export const topicOf = (table, below) => `${prefix(table)}/${below}`;

/** Return the topics to subscribe to: exactly those that this player may read. @param {string} table @param {string} name */
export function filters(table, name) {
  const own = Object.entries(HEARD).map(([topic, pattern]) =>
    prefix(table) + pattern.replace("{p}", OF_ALL.has(topic) ? "+" : name).replace("{ship}", "+"));
  return [SEAT.replace("{p}", name), ...own];
}

const PATTERNS = Object.entries(HEARD).map(([topic, pattern]) =>
  /** @type {[Topic, RegExp]} */ ([
    /** @type {Topic} */ (topic),
    new RegExp(`^${pattern.replace("{p}", "(?<player>[^/]+)").replace("{ship}", "(?<ship>[^/]+)")}$`),
  ]));

/**
 * Return what arrives on a topic that the player hears; null for any other.
 *
 * @param {string} topic
 * @param {string} table
 * @param {string} name
 * @returns {{topic: Topic, player: string, ship: string} | null}
 */
export function parseTopic(topic, table, name) {
  if (topic.length > LONGEST || /[\p{C}\p{Zl}\p{Zp}]/u.test(topic)) return null;
  if (topic === SEAT.replace("{p}", name)) return { topic: "seat", player: name, ship: "" };
  if (!topic.startsWith(`${prefix(table)}/`)) return null;
  const below = topic.slice(prefix(table).length);
  for (const [found, pattern] of PATTERNS) {
    const levels = pattern.exec(below);
    if (levels === null) continue;
    const { player = "", ship = "" } = levels.groups ?? {};
    return player === "" || player === name || OF_ALL.has(found) ? { topic: found, player, ship } : null;
  }
  return null;
}
