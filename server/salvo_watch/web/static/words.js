// What the page says of a picture: pieces of text, where {team: name} stands for a team with its badge.

import { counted, plain } from "./dom.js";

const team = (name) => ({ team: name });
const joined = (names) => names.flatMap((name, index) => (index ? [index === names.length - 1 ? " and " : ", ", team(name)] : [team(name)]));
const MANY = 3;
const FEW_NAMES = 8;
const MOST_ADDED = 2; // sentences

const several = (names) => (names.length > MANY ? [counted(names.length, "team")] : joined(names));

function fall({ player, defeated }) {
  const [names, fates] = [Object.keys(defeated), new Set(Object.values(defeated))];
  const [fate] = fates.size === 1 ? fates : [];
  if (fate === "removed") return ["The host takes ", ...several(names), " out"];
  if (fate === "sunk" && !names.includes(player)) return [team(player), " defeats ", ...several(names)];
  return [...several(names), names.length > 1 ? " are out" : " is out", fate === "silent" ? " after turns without a shot" : ""];
}

function sinking({ player, sunk }) {
  const [[owner], ...others] = sunk;
  if (sunk.length > MANY || others.some(([other]) => other !== owner)) return [team(player), ` sinks ${counted(sunk.length, "ship")}`];
  return [team(player), " sinks ", team(owner), `’s ${sunk.map(([, ship]) => plain(ship)).join(" and ")}`];
}

// Of a salvo that sank nothing.
function shooting({ player, shots, hits, given_up, aims }) {
  if (!shots) return [team(player), given_up ? "’s bot gave up the turn" : " does not fire"];
  const targets = [...new Set(aims.map(([target]) => target))];
  const whom = targets.length === 1 ? [hits ? " on " : " ", team(targets[0])] : [];
  return hits ? [team(player), `: ${counted(hits, "hit")}`, ...whom] : [team(player), " misses", ...whom];
}

// What matters about a salvo, by kind; commentary.py says what that is, and in which order.
const MOMENTS = {
  defeated: (_, salvo) => fall(salvo),
  duel: ([one, other]) => [team(one), " against ", team(other), " now"],
  last_ship: (names) => (names.length > 1 ? [...several(names), " have one ship each"] : [team(names[0]), " has one ship left"]),
  first_blood: ([name]) => [team(name), " draws first blood"],
  lead: (names) => [...joined(names), names.length > 1 ? " lead" : " takes the lead"],
  level: (names) => [...joined(names), " are level"],
  back: ([name]) => [team(name), " is back after turns without a shot"],
  sunk: (_, salvo) => sinking(salvo),
};

// All that there is to say of a salvo, the most important first.
function sentences(salvo) {
  const said = salvo.moments.map(([kind, names]) => MOMENTS[kind](names, salvo));
  return salvo.sunk.length || Object.keys(salvo.defeated).length ? said : [...said, shooting(salvo)];
}

// What the page says of the moment: `words`, to be read from the last row if they are `large`, and what there is to add. A salvo that is `fresh`
// comes before who fires next.
export function told(picture, fresh) {
  const { state, turn, last, winners, players, rules, withheld, game, evening, host, tape, aborted } = picture;
  const large = (words, more = []) => ({ words, more, large: true });
  if (withheld) return large([`Game ${game} is over`], ["How it went: the tape is next"]);
  if (crowned(picture)) return large(champions(picture.league.rows, ` ${plain(picture.league.name)}`));
  if (picture.trouble === "nothing" || !state) return large(["No contest here yet"]);
  if (evening.phase === "break" && state !== "over" && !tape) return large([`Break${inRound(picture)}`]);
  if (state === "lobby") return large(eveningWords(picture) || waiting(players, rules.fleet.length, picture.lobby));
  if (state === "over") return large(winners.length ? victory(picture) : [aborted ? "The host has ended the game" : "The game is over"], reason(picture));
  if (host.paused && !tape) return large(["The game is paused"]);
  const aims = turn && turn.player && !turn.fired ? aiming(turn) : null;
  if (!last) return { words: aims || ["The game begins"], more: [] };
  const [first, ...rest] = sentences(fresh || last);
  if (fresh && fresh.turn !== last.turn) return { words: first, more: sentences(last)[0], large: true }; // it stays while others run by
  if (!fresh && aims) return { words: aims, more: first };
  const more = rest.length ? rest.slice(0, MOST_ADDED).flatMap((words, index) => (index ? [" · ", ...words] : words)) : aims ? ["Next: ", ...aims] : [];
  return { words: first, more, large: (fresh || last).moments.length > 0 };
}

function aiming({ player, shots }) {
  return [team(player), ` to fire${shots === null ? "" : ` ${counted(shots, "shot")}`}`];
}

const margin = ({ lead, rules }) => counted(lead.by, rules.goal ? "point" : "ship");

// Who has won, and by how much.
export function victory(picture) {
  const { winners, lead } = picture;
  return won(winners, lead?.first.length === 1 && lead.first[0] === winners[0] ? ` by ${margin(picture)}` : "");
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

function waiting(players, ships, lobby) {
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
export const inLeague = (picture) => {
  const { state, table, league } = picture;
  return Boolean(state === "lobby" && !table.split("@")[0] && (league?.over ? crowned(picture) : league?.round));
};

// Whether the page shows the end of a league: until something else is on.
export const crowned = ({ league, evening, state }) => Boolean(league?.over && state !== "turn" && ["final", "over"].includes(evening.phase));

// Whether a league has not begun, at the table where its teams come in.
export const awaited = ({ evening, league, table }) => Boolean(league && evening.phase === "arrivals" && !table.split("@")[0]);

// What a lobby says of the evening, where that is more than who is there.
function eveningWords(picture) {
  const { league, evening } = picture;
  if (evening.phase === "over") return ["The evening is over"];
  if (awaited(picture)) return [`${plain(league.name)} ${evening.begins ? "begins soon" : "waits for its teams"}`];
  if (!inLeague(picture)) return null;
  return [`Round ${league.round}${league.rounds ? ` of ${league.rounds}` : ""}${evening.phase === "between" ? " is over" : ""}`];
}

// Who has won a league, and by how many points.
export function champions(rows, of = "") {
  const first = rows.filter(({ place }) => place === 1);
  const ahead = first.length === 1 && rows.length > 1 ? rows[0].points - rows[1].points : 0;
  const lead = ahead > 0 ? ` by ${counted(Number(ahead.toFixed(2)), "point")}` : "";
  return [...joined(first.map((row) => row.name)), ` ${first.length > 1 ? "win" : "wins"}${of}${lead}`];
}

// Places as a game stands, by points or ships, "1=" where several share one; none while that is not known, or the same for all.
export function ranks({ players, rules, state }) {
  const worth = ({ hits, sunk, out }) => (out ? -1 : rules.goal ? hits : rules.sinkings && sunk ? rules.fleet.length - sunk.length : 0);
  const all = players.map(worth);
  if (state !== "turn" || new Set(all).size < 2) return new Map();
  const rank = (own) => `${1 + all.filter((other) => other > own).length}${all.filter((other) => other === own).length > 1 ? "=" : ""}`;
  return new Map(players.map(({ name }, index) => [name, rank(all[index])]));
}

// How far a game is: who leads, its turn, the ships that are left in all, and how long it will take.
export function progress(picture) {
  const { state, turn, players, rules, left, lead } = picture;
  if (state !== "turn") return [];
  const first = [...ranks(picture).values()].filter((rank) => rank === "1=").length;
  const leads = lead ? [...joined(lead.first), ` ${lead.first.length > 1 ? "lead" : "leads"} by ${margin(picture)}`] : first ? [`${first} level on ships`] : [];
  const parts = turn ? [`turn ${turn.turn}`] : [];
  const ships = players.length * rules.fleet.length;
  if (rules.sinkings && ships) parts.push(`${ships - players.reduce((sum, { sunk, out }) => sum + (out ? rules.fleet.length : sunk.length), 0)} of ${ships} ships afloat`);
  if (left) parts.push(`game: ${left}`);
  return [...leads, [...(leads.length ? [""] : []), ...parts].join(" · ")];
}

// What the page of a team says that is in no list.
function noTeam(name, names, missing) {
  if (missing.includes(name)) return [team(name), " has not come yet; this page follows it once it comes"];
  const others = names.length > FEW_NAMES ? [`, but ${names.length} others`] : names.length ? [", but ", ...joined(names)] : [];
  return ["No team ", team(name), " is here", ...others, "; this page follows it once it comes"];
}

// How a team stands in a league between its games, and whom it meets next.
function stands({ league, evening }, name) {
  const row = league.rows.find((each) => each.name === name);
  const so = league.behind ? " so far" : "";
  const late = evening.late.includes(name) ? " joins from the next round on" : " is here";
  const how = row?.games ? `: place ${row.place} with ${counted(Number(row.points.toFixed(2)), "point")}${so}` : late;
  const next = league.matches.find(({ teams, played }) => !played && teams.some((each) => each.name === name));
  const rivals = next ? next.teams.filter((each) => each.name !== name).map((each) => each.name) : [];
  return rivals.length ? [`${how}; next against `, ...joined(rivals)] : [how];
}

// What a team's own page says of it, above the boards; `missed` is its last turn without a shot, `seated` are all who are at a table.
export function ownLine(picture, name, missed, seated) {
  const { players, rules, table, state, league, evening } = picture;
  const player = players.find((other) => other.name === name);
  if (!player) {
    const { standings } = picture;
    const listed = [...standings, ...(league ? [...league.rows, ...league.matches.flatMap(({ teams }) => teams)] : [])];
    const names = [...new Set([...seated, ...[...players, ...listed].map((each) => each.name)])].sort();
    return names.includes(name) ? [team(name), " is at no table now; this page follows it to its next game"] : noTeam(name, names, evening.missing);
  }
  const rivals = players.filter((other) => other !== player && !other.out).map((other) => other.name);
  const against = rivals.length > MANY ? ` against ${rivals.length} teams` : rivals.length ? [" against ", ...joined(rivals)] : "";
  const where = `${table ? ` at table ${plain(table)}` : ""}${state === "lobby" ? "" : inRound(picture)}`;
  const waits = league && (evening.phase === "arrivals" || inLeague(picture)); // for a match: those beside it are no rivals
  if (state === "lobby" && waits) return [team(name), ...stands(picture, name)];
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
  broker: "The broker does not answer. What you see is the last that arrived.",
  server: "The server is offline. The game resumes as soon as it is back.",
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
  const ofBreak = tape || state === "over" ? `Break${inRound(picture)}: all games wait.` : ""; // else it is the headline
  const paused = evening.phase === "break" ? ofBreak : host.paused && !tape ? "The host has paused the game." : "";
  const silent = evening.silent && league ? `${plain(league.name)} waits: its program does not answer. Games that are on go on.` : "";
  return [paused, silent, plain(host.text || "")].filter(Boolean).join(" ");
}

// Shares as percents that add up to 100, also where somebody who is out now has taken one along: those that rounding down takes most from are rounded up.
export function percents(shares) {
  const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);
  const exact = shares.map((share) => (100 * share) / (sum(shares) || 1));
  const left = Math.round(sum(exact)) - sum(exact.map(Math.floor));
  const most = exact.map((_, index) => index).sort((a, b) => (exact[b] % 1) - (exact[a] % 1));
  return exact.map((each, index) => Math.floor(each) + most.slice(0, left).includes(index));
}

export const spoken = (pieces) => pieces.map((piece) => (typeof piece === "string" ? piece : plain(piece.team))).join("");
