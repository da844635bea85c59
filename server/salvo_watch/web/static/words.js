// What the page says of a picture: pieces of text, where {team: name} stands for a team with its badge.

import { counted, plain } from "./dom.js";

const team = (name) => ({ team: name });
const joined = (names) => names.flatMap((name, index) => (index ? [index === names.length - 1 ? " and " : ", ", team(name)] : [team(name)]));
const MANY = 3;
const FEW_NAMES = 8;

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

// What decides a game, as it stands: points or ships of a player, NaN where that is not known.
const worth = ({ rules }, { hits, sunk }) => (rules.goal ? (hits ?? NaN) : rules.sinkings ? rules.fleet.length - sunk.length : NaN);

// Who leads, and by how much in points or ships; nothing where that is not known.
function lead(picture) {
  const there = picture.players.filter(({ out }) => !out || picture.state === "over");
  const most = Math.max(...there.map((player) => worth(picture, player)));
  const first = there.filter((player) => worth(picture, player) === most).map(({ name }) => name);
  const by = most - Math.max(...there.filter(({ name }) => !first.includes(name)).map((player) => worth(picture, player)));
  return { first, by: Number.isFinite(by) ? counted(by, picture.rules.goal ? "point" : "ship") : "" };
}

// Who has won, and by how much.
export function victory(picture) {
  const { winners } = picture;
  const { first, by } = lead(picture);
  const ahead = by && first.length === 1 && first[0] === winners[0] ? ` by ${by}` : "";
  return won(winners, ahead);
}

const won = (names, ahead = "") => [...joined(names.slice(0, 4)), names.length > 1 ? " tie" : ` wins${ahead}`];

const lasted = (seconds) => (seconds < 90 ? counted(seconds, "second") : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} minutes`);

// What decided the game, in words: the salvo that ended it.
export function reason({ winners, rules, seconds, last, aborted }) {
  if (!last || !winners.length || aborted) return [];
  const salvo = `salvo ${last.turn}${seconds ? `, after ${lasted(seconds)}` : ""}`;
  if (rules.goal) return [...joined(winners.slice(0, 4)), ` reached the goal of ${rules.goal} points by ${salvo}`];
  const beaten = Object.keys(last.defeated);
  const [fate, other] = new Set(Object.values(last.defeated));
  if (fate === undefined || other !== undefined) return [`Decided by ${salvo}`];
  if (fate === "removed") return ["The host took ", ...joined(beaten), ` out, by ${salvo}`];
  if (fate === "silent") return [...joined(beaten), ` out after turns without a shot, by ${salvo}`];
  const lost = last.sunk.filter(([owner]) => beaten.includes(owner)).map(([, ship]) => plain(ship));
  const ships = lost.length === 1 ? `last ship, the ${lost[0]},` : `last ${lost.length ? "ships" : "ship"}`;
  if (beaten.includes(last.player)) return [...joined(beaten), ` lost the ${ships} in ${salvo}`];
  return [team(last.player), " sank ", ...joined(beaten), `’s ${ships} with ${salvo}`];
}

export function waiting(players, ships, lobby) {
  if (!players.length) return ["The lobby is open"];
  const missing = players.filter(({ placed }) => (placed ?? 0) < ships).map(({ name }) => name);
  if (missing.length) return missing.length > MANY ? [`${missing.length} fleets are not placed yet`] : ["Waiting for ", ...joined(missing)];
  const more = (lobby?.players ?? 2) - players.length;
  return more > 0 ? [`Waiting for ${counted(more, "more team")}`] : ["All fleets are placed"];
}

// What happens when a lobby's clock is at zero: a game takes two fleets; where only teams are missing, nothing does.
export function atZero(players, ships) {
  const complete = players.filter(({ placed }) => (placed ?? 0) >= ships).length;
  if (complete > 1) return "the game starts in";
  return complete < players.length ? "left to place ships" : "";
}

// Whether a lobby is that of a league: the hall where its teams wait, or where it has just ended.
export const inLeague = ({ state, table, league }) => Boolean(league && state === "lobby" && (league.round || league.over) && !table.split("@")[0]);

// Whether a league has not begun, at the table where its teams come in.
export const awaited = ({ evening, league, table }) => Boolean(league && evening.phase === "arrivals" && !table.split("@")[0]);

// What a lobby says of the evening, where that is more than who is there.
export function eveningWords(picture) {
  const { league, evening } = picture;
  if (evening.phase === "over" && !(league && inLeague(picture))) return ["The evening is over"];
  if (awaited(picture)) return [`${plain(league.name)} begins when the teams are here`];
  if (!inLeague(picture)) return null;
  const { round, rounds, over } = league;
  return over ? champions(league) : [`Round ${round}${rounds ? ` of ${rounds}` : ""}`];
}

// Who has won a league, and by how many points.
export function champions({ name, rows }) {
  const first = rows.filter(({ place }) => place === 1);
  const ahead = first.length === 1 && rows.length > 1 ? rows[0].points - rows[1].points : 0;
  const lead = ahead > 0 ? ` by ${counted(Number(ahead.toFixed(2)), "point")}` : "";
  return [...joined(first.map((row) => row.name)), ` ${first.length > 1 ? "win" : "wins"} ${plain(name)}${lead}`];
}

// How far a game is: who leads, its turn, the ships that are left in all, and how long it will take.
export function progress(picture) {
  const { state, turn, players, rules, left } = picture;
  if (state !== "turn") return [];
  const { first, by } = lead(picture);
  const leads = by && first.length <= MANY ? [...joined(first), ` ${first.length > 1 ? "lead" : "leads"} by ${by}`] : [];
  const parts = turn ? [`turn ${turn.turn}`] : [];
  const ships = players.length * rules.fleet.length;
  if (rules.sinkings && ships) parts.push(`${ships - players.reduce((sum, { sunk, out }) => sum + (out ? rules.fleet.length : sunk.length), 0)} of ${ships} ships afloat`);
  if (left) parts.push(left);
  return [...leads, [...(leads.length ? [""] : []), ...parts].join(" · ")];
}

// What the page of a team says that is in no list.
function noTeam(name, names) {
  const others = names.length > FEW_NAMES ? [`, but ${names.length} others`] : names.length ? [", but ", ...joined(names)] : [];
  return ["There is no team ", team(name), " here", ...others, "; this page follows it once it comes"];
}

// What a team's own page says of it, above the boards; `missed` is its last turn without a shot, `seated` are all who are at a table.
export function ownLine(picture, name, missed, seated) {
  const { players, rules, table, state, league, evening } = picture;
  const player = players.find((other) => other.name === name);
  if (!player) {
    const { standings } = picture;
    const listed = [...standings, ...(league ? [...league.rows, ...league.matches.flatMap(({ teams }) => teams)] : [])];
    const names = [...new Set([...seated, ...[...players, ...listed].map((each) => each.name)])].sort();
    return names.includes(name) ? [team(name), " is at no table now; this page follows it to its next game"] : noTeam(name, names);
  }
  const rivals = players.filter((other) => other !== player && !other.out).map((other) => other.name);
  const against = rivals.length > MANY ? ` against ${rivals.length} teams` : rivals.length ? [" against ", ...joined(rivals)] : "";
  const where = table ? ` at table ${plain(table)}` : "";
  const waits = league && (evening.phase === "arrivals" || inLeague(picture)); // for a match: those beside it are no rivals
  if (state === "lobby" && waits) return [team(name), " is here"];
  if (state === "lobby") return [team(name), `: next game${where}`, ...[against].flat()];
  const own = rules.sinkings && player.sunk ? `, ${rules.fleet.length - player.sunk.length} of ${counted(rules.fleet.length, "ship")} afloat` : "";
  const lost = missed && missed.game === picture.game ? ` · no shot in turn ${missed.turn}: ${missed.given_up ? "its program gave the turn up" : "its time was over"}` : "";
  return [team(name), player.place ? `: place ${player.place}` : player.out ? " is out" : own, ...[against].flat(), where, lost];
}

const FATES = { removed: " is out, removed by the host", silent: " is out, after turns without a shot" };

export function news({ kind, game, by, player, players, ship, fate }) {
  const names = players || (player ? [player] : []);
  if (kind === "sunk") return [team(by), " sinks ", team(player), `’s ${plain(ship)}`];
  if (kind === "defeated") return [team(player), FATES[fate] || " is out"];
  if (kind === "won") return won(names);
  if (kind === "aborted") return [`The host has ended game ${game}`];
  return ["The game begins", ...(names.length && names.length <= MANY ? [": ", ...joined(names)] : names.length ? [` with ${names.length} teams`] : [])];
}

const TROUBLES = {
  broker: "The broker does not answer. What you see is the last that was heard.",
  server: "The server is offline. The game goes on where it was as soon as it is back.",
  paused: "The server is paused: it cannot write to its disk.",
  away: "Reconnecting: this page’s server does not answer.",
};
export const trouble = (picture, away) => (away ? TROUBLES.away : TROUBLES[picture?.trouble] || "");

// In which round of a league something is, if in any.
export const inRound = ({ league }) => (league?.round && !league.over ? ` in round ${league.round}${league.rounds ? ` of ${league.rounds}` : ""}` : "");

// What the host says to the room: the last line, and whether the table is paused.
export function hostLine(picture) {
  if (!picture) return "";
  const { evening, host, league, state, tape } = picture;
  const ofBreak = tape || state === "over" ? `There is a break${inRound(picture)}: all games wait.` : ""; // else it is the headline
  const paused = evening.phase === "break" ? ofBreak : host.paused && !tape ? "The host has paused the game." : "";
  const silent = evening.silent && league ? `${plain(league.name)} waits: its program does not answer. Games that are on go on.` : "";
  return [paused, silent, plain(host.text || "")].filter(Boolean).join(" ");
}

// Shares of a whole as percents that add up: those that rounding down takes most from are rounded up.
export function percents(shares) {
  const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
  const exact = shares.map((share) => 100 * share);
  const left = Math.round(sum(exact)) - sum(exact.map(Math.floor));
  const most = exact.map((_, index) => index).sort((a, b) => (exact[b] % 1) - (exact[a] % 1));
  return exact.map((each, index) => Math.floor(each) + most.slice(0, left).includes(index));
}

export const spoken = (pieces) => pieces.map((piece) => (typeof piece === "string" ? piece : plain(piece.team))).join("");
