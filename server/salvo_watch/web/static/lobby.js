// What stands in the boards' place while no game is on: who is here, or the matches of a league's round and its final table.

import { badge, colourOf, counted, fill, find, fit, make, nameOf, plain, say, titleOf } from "./dom.js";
import { picture } from "./state.js";
import { awaited, inLeague } from "./words.js";

export function drawLobby() {
  const { players, rules, lobby, league, evening } = picture;
  const ships = rules.fleet.length;
  if (inLeague(picture)) return drawRound(league);
  const missing = evening.missing.filter((name) => !players.some((player) => player.name === name));
  if (awaited(picture)) return drawArrivals(league.rows, missing);
  const complete = players.filter(({ placed }) => (placed ?? 0) >= ships).length;
  const needed = lobby?.players ? ` of ${lobby.players}` : "";
  say(find("roster-count"), players.length ? `${players.length}${needed} here, ${complete} complete` : needed ? `Nobody yet${needed}` : "Nobody is here yet");
  const join = find("join"); // stands with the teams while a place is free
  const home = find("lobby").querySelector(players.length < (lobby?.players ?? 2) ? ".arrived" : ".invitation");
  if (join.parentElement !== home) home.append(join);
  document.querySelectorAll(".watch b, .join b").forEach(fit);
  inColumns(players.length + missing.length);
  find("roster").classList.remove("matches");
  fill(find("roster"), JSON.stringify([players.map(({ name, placed }) => [name, placed, ships]), missing]), () => [
    ...players.map((player) => {
      const placed = Math.min(ships, player.placed ?? 0);
      const done = placed >= ships;
      const told = make("span", "placed", done ? "ready" : `${placed}/${ships}`);
      return make("li", `team ${colourOf(player)}${done ? " complete" : ""}`, badge(player), nameOf(player.name), told);
    }),
    ...missing.map(anAbsent),
  ]);
}

const anAbsent = (name) => make("li", "team absent", nameOf(name), make("span", "placed", "not here yet"));

// Who has come to a league that has not begun; its teams may be at other tables meanwhile.
function drawArrivals(rows, missing) {
  const all = rows.length + missing.length;
  say(find("roster-count"), rows.length ? `${missing.length ? `${rows.length} of ${all}` : rows.length} ${all === 1 ? "team" : "teams"} here` : "Nobody is here yet");
  inColumns(all);
  find("roster").classList.remove("matches");
  fill(find("roster"), JSON.stringify(["here", rows, missing]), () => [
    ...rows.map((team) => make("li", `team complete ${colourOf(team)}`, badge(team), nameOf(team.name))),
    ...missing.map(anAbsent),
  ]);
}

// More than `most` lines stand in two columns, and many more in three or four.
function inColumns(lines, most = 8) {
  const columns = [1, 2, 4].filter((more) => lines > more * most).length + 1;
  const { style } = find("roster");
  style.setProperty("--columns", columns);
  style.setProperty("--rows", Math.max(1, Math.ceil(lines / columns)));
}

// A round of a league: who plays whom and where, and once it has been played, who was first.
function drawRound({ name, over, left, matches, rows }) {
  say(find("roster-count"), over ? "Final table" : [plain(name), left].filter(Boolean).join(" · "));
  const lines = over ? rows : matches;
  if (over) inColumns(rows.length);
  else inColumns(matches.flatMap(({ teams }) => teams).length, 12);
  find("roster").classList.toggle("matches", !over);
  fill(find("roster"), JSON.stringify(["league", over, lines]), () => (over ? rows.map(aRow) : matches.map(aMatch)));
}

const aTeam = (team, place) => make("span", `team ${colourOf(team)}`, ...(place ? [make("b", "place", `${place}.`)] : []), badge(team), nameOf(team.name));

function aMatch({ teams, table, places }) {
  const order = teams.map((team, index) => [team, places[index]]).sort(([, a], [, b]) => (a ?? 0) - (b ?? 0));
  const told = teams.length < 2 ? "bye" : places.length ? "played" : table === null ? "next" : titleOf(table);
  return make("li", places.length ? "match complete" : "match", make("span", "teams", ...order.map(([team, place]) => aTeam(team, place))), make("span", "placed", told));
}

const aRow = (row) => make("li", `row complete${row.place === 1 ? " first" : ""}`, aTeam(row, row.place), make("span", "placed", counted(Number(row.points.toFixed(2)), "point")));
