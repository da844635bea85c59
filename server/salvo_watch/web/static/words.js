// What the page says of a picture: pieces of text, where {team: name} stands for a team with its badge.

import { counted, plain } from "./dom.js";

const team = (name) => ({ team: name });
const joined = (names) => names.flatMap((name, index) => (index ? [index === names.length - 1 ? " and " : ", ", team(name)] : [team(name)]));
const MANY = 3;

// Of the last salvo.
export function outcome(last) {
  if (!last) return null;
  const { player, shots, hits, sunk, aims } = last;
  const [defeated, fates] = [Object.keys(last.defeated), new Set(Object.values(last.defeated))];
  if (defeated.length) {
    const names = defeated.length > MANY ? [counted(defeated.length, "team")] : joined(defeated);
    if (fates.size === 1 && fates.has("removed")) return ["The host takes ", ...names, " out"];
    if (fates.size === 1 && fates.has("sunk") && !defeated.includes(player)) return [team(player), " defeats ", ...names];
    return [...names, defeated.length > 1 ? " are out" : " is out"];
  }
  if (sunk.length) {
    const owners = [...new Set(sunk.map(([owner]) => owner))];
    if (sunk.length > MANY || owners.length > 1) return [team(player), ` sinks ${counted(sunk.length, "ship")}`];
    return [team(player), " sinks ", team(owners[0]), `’s ${sunk.map(([, ship]) => plain(ship)).join(" and ")}`];
  }
  if (!shots) return [team(player), last.given_up ? "’s bot gave up the turn" : " does not fire"];
  const targets = [...new Set(aims.map(([target]) => target))];
  const whom = targets.length === 1 ? [hits ? " on " : " ", team(targets[0])] : [];
  return hits ? [team(player), `: ${counted(hits, "hit")}`, ...whom] : [team(player), " misses", ...whom];
}

export function aiming({ player, shots }) {
  return [team(player), ` to fire${shots === null ? "" : ` ${counted(shots, "shot")}`}`];
}

export function victory(winners) {
  return [...joined(winners.slice(0, 4)), winners.length > 1 ? " tie" : " wins"];
}

const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

// Why the winner has won: what is left of it, and after how long.
export function reason({ state, winners, players, rules, seconds, last, aborted }) {
  if (state !== "over" || !winners.length || aborted) return "";
  const winner = players.find(({ name }) => name === winners[0]);
  const parts = [];
  if (winners.length === 1 && winner) {
    const afloat = rules.fleet.length - winner.sunk.length;
    if (rules.goal && winner.hits !== null) parts.push(`with ${counted(winner.hits, "point")}`);
    else if (rules.sinkings) parts.push(`with ${afloat} of ${counted(rules.fleet.length, "ship")} afloat`);
  }
  if (last?.turn) parts.push(`after ${counted(last.turn, "salvo")}${seconds ? ` in ${clock(seconds)}` : ""}`);
  return parts.join(", ");
}

export function waiting(players, ships, lobby) {
  if (lobby?.begins_ms != null) return ["The game has begun"];
  if (!players.length) return ["The lobby is open"];
  const missing = players.filter(({ placed }) => (placed ?? 0) < ships).map(({ name }) => name);
  if (missing.length) return missing.length > MANY ? [`${missing.length} fleets are not placed yet`] : ["Waiting for ", ...joined(missing)];
  const more = (lobby?.players ?? 2) - players.length;
  return more > 0 ? [`Waiting for ${counted(more, "more team")}`] : ["All fleets are placed"];
}

// Whether a lobby is that of a league: the hall where its teams wait, or where it has just ended.
export const inLeague = ({ state, table, league }) => Boolean(league && state === "lobby" && (league.round || league.over) && !table.split("@")[0]);

export function leagueWords(picture) {
  if (!inLeague(picture)) return null;
  const { name, round, rounds, over, rows } = picture.league;
  if (!over) return [`Round ${round}${rounds ? ` of ${rounds}` : ""}`];
  return [...joined(rows.filter(({ place }) => place === 1).map((row) => row.name)), ` wins ${plain(name)}`];
}

// How far a game is: its turn, the ships that are left in all, and how long it will take.
export function progress({ state, turn, players, rules, seconds_left }) {
  if (state !== "turn") return [];
  const parts = turn ? [`turn ${turn.turn}`] : [];
  const ships = players.length * rules.fleet.length;
  if (rules.sinkings && ships) parts.push(`${ships - players.reduce((sum, { sunk, out }) => sum + (out ? rules.fleet.length : sunk.length), 0)} of ${ships} ships afloat`);
  if (seconds_left) parts.push(seconds_left < 90 ? "about a minute left" : `about ${Math.round(seconds_left / 60)} minutes left`);
  return [parts.join(" · ")];
}

// What a team's own page says of it, above the boards; `missed` is its last turn without a shot.
export function ownLine(picture, name, missed) {
  const { players, rules, table, state } = picture;
  const player = players.find((other) => other.name === name);
  if (!player) return [team(name), " is at no table now; this page follows it to its next game"];
  const rivals = players.filter((other) => other !== player && !other.out).map((other) => other.name);
  const against = rivals.length > MANY ? ` against ${rivals.length} teams` : rivals.length ? [" against ", ...joined(rivals)] : "";
  const where = table ? ` at table ${plain(table)}` : "";
  if (state === "lobby") return [team(name), `: next game${where}`, ...[against].flat()];
  const own = rules.sinkings ? `, ${rules.fleet.length - player.sunk.length} of ${counted(rules.fleet.length, "ship")} afloat` : "";
  const lost = missed && missed.game === picture.game ? ` · no shot in turn ${missed.turn}: ${missed.given_up ? "its program gave the turn up" : "its time was over"}` : "";
  return [team(name), player.place ? `: place ${player.place}` : player.out ? " is out" : own, ...[against].flat(), where, lost];
}

const FATES = { removed: " is out, removed by the host", silent: " is out, after turns without a shot" };

export function news({ kind, by, player, players, ship, fate }) {
  const names = players || (player ? [player] : []);
  if (kind === "sunk") return [team(by), " sinks ", team(player), `’s ${plain(ship)}`];
  if (kind === "defeated") return [team(player), FATES[fate] || " is out"];
  if (kind === "won") return victory(names);
  return ["The game begins", ...(names.length && names.length <= MANY ? [": ", ...joined(names)] : names.length ? [` with ${names.length} teams`] : [])];
}

const TROUBLES = {
  broker: "The broker does not answer. What you see is the last that was heard.",
  server: "The server is offline. The game goes on where it was as soon as it is back.",
  paused: "The server is paused: it cannot write to its disk.",
  away: "Reconnecting: this page’s server does not answer.",
};
export const trouble = (picture, away) => (away ? TROUBLES.away : TROUBLES[picture?.trouble] || "");

// What the host says to the room: the last line, and whether the table is paused.
export const hostLine = (picture) => [picture?.host?.paused ? "The host has paused the game." : "", plain(picture?.host?.text || "")].filter(Boolean).join(" ");

export const spoken = (pieces) => pieces.map((piece) => (typeof piece === "string" ? piece : plain(piece.team))).join("");
