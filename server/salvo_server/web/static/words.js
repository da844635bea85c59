// What the page says of a picture: pieces of text, where {team: name} stands for a team with its badge.

import { counted, plain } from "./dom.js";

const team = (name) => ({ team: name });
const joined = (names) => names.flatMap((name, index) => (index ? [index === names.length - 1 ? " and " : ", ", team(name)] : [team(name)]));
const MANY = 3;

// Of the last salvo.
export function outcome(last) {
  if (!last) return null;
  const { player, shots, hits, sunk, defeated, aims } = last;
  if (defeated.length) return [team(player), " defeats ", ...(defeated.length > MANY ? [counted(defeated.length, "team")] : joined(defeated))];
  if (sunk.length) {
    const owners = [...new Set(sunk.map(([owner]) => owner))];
    if (sunk.length > MANY || owners.length > 1) return [team(player), ` sinks ${counted(sunk.length, "ship")}`];
    return [team(player), " sinks ", team(owners[0]), `’s ${sunk.map(([, ship]) => plain(ship)).join(" and ")}`];
  }
  if (!shots) return [team(player), " does not fire"];
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

export function waiting(players, ships, lobby) {
  if (lobby?.begins_ms != null) return ["The game has begun"];
  if (!players.length) return ["The lobby is open"];
  const missing = players.filter(({ placed }) => (placed ?? 0) < ships).map(({ name }) => name);
  if (missing.length) return missing.length > MANY ? [`${missing.length} fleets are not placed yet`] : ["Waiting for ", ...joined(missing)];
  const more = (lobby?.players ?? 2) - players.length;
  return more > 0 ? [`Waiting for ${counted(more, "more team")}`] : ["All fleets are placed"];
}

export function news({ kind, by, player, players, ship }) {
  const names = players || (player ? [player] : []);
  if (kind === "sunk") return [team(by), " sinks ", team(player), `’s ${plain(ship)}`];
  if (kind === "defeated") return [team(player), " is out"];
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

export const spoken = (pieces) => pieces.map((piece) => (typeof piece === "string" ? piece : plain(piece.team))).join("");
