// What stands in the middle while no game is on: who is here and how the game goes, the card of a break.

import { badge, colourOf, counted, fill, find, fit, make, nameOf, say, show } from "./dom.js";
import { inTheMiddle, picture } from "./state.js";
import { clockTime } from "./top.js";
import { awaited, hostLine } from "./words.js";

const SHOTS = { afloat: "Fire as many shots as you have ships left.", one: "Fire a shot at a time.", until_miss: "Fire until you miss." };

const side = document.querySelector(".side");
const panel = document.querySelector(".arrived");

export function drawLobby() {
  const { league, evening, next } = picture;
  const middle = inTheMiddle();
  show(find("lobby"), middle === "lobby");
  show(find("pause"), middle === "break");
  show(panel, middle === "lobby" || next !== null);
  if (middle === "break") drawBreak();
  const home = next === null ? find("lobby") : side; // beside the last tape, which runs again
  if (panel.parentElement !== home) home[home === side ? "prepend" : "append"](panel);
  if (panel.hidden) return;
  const missing = evening.missing.filter((name) => !picture.players.some((player) => player.name === name));
  drawPictures();
  if (next === null && awaited(picture)) return drawArrivals(league.rows, missing);
  drawPlayers(next || picture, missing);
}

function drawPlayers({ players, rules, lobby }, missing) {
  const ships = rules.fleet.length;
  const complete = players.filter(({ placed }) => (placed ?? 0) >= ships).length;
  const needed = lobby?.players ? ` of ${lobby.players}` : "";
  const count = players.length ? `${players.length}${needed} here, ${complete} complete` : needed ? `Nobody yet${needed}` : "Nobody is here yet";
  const join = find("join"); // stands with the teams while a place is free
  const home = picture.next || players.length < (lobby?.players ?? 2) ? panel : document.querySelector(".invitation");
  if (join.parentElement !== home) home.append(join);
  const lines = players.map((player) => {
    const placed = Math.min(ships, player.placed ?? 0);
    const told = make("span", "placed", placed >= ships ? "ready" : `${placed}/${ships}`);
    return make("li", `team ${colourOf(player)}${placed >= ships ? " complete" : ""}`, badge(player), nameOf(player.name), told);
  });
  drawRoster(count, [...lines, ...missing.map(anAbsent)]);
}

const anAbsent = (name) => make("li", "team absent", nameOf(name), make("span", "placed", "not here yet"));

// Who has come to a league that has not begun; its teams may be at other tables meanwhile.
function drawArrivals(rows, missing) {
  const all = rows.length + missing.length;
  const count = rows.length ? `${missing.length ? `${rows.length} of ${all}` : rows.length} ${all === 1 ? "team" : "teams"} here` : "Nobody is here yet";
  drawRoster(count, [...rows.map((team) => make("li", `team complete ${colourOf(team)}`, badge(team), nameOf(team.name))), ...missing.map(anAbsent)]);
}

// More than eight lines stand in two columns, and many more in three or four.
function drawRoster(count, lines) {
  const columns = [1, 2, 4].filter((more) => lines.length > more * 8).length + 1;
  const { style } = find("roster");
  style.setProperty("--columns", columns);
  style.setProperty("--rows", Math.max(1, Math.ceil(lines.length / columns)));
  say(find("roster-count"), count);
  fill(find("roster"), lines.map(({ className, textContent }) => className + textContent).join(), () => lines);
  document.querySelectorAll(".watch b, .join b").forEach(fit);
}

// The game in three pictures, as its rules have it.
function drawPictures() {
  const { fleet, goal, shots } = (picture.next || picture).rules;
  const end = goal ? `The first with ${counted(goal, "point")} wins.` : "The last fleet afloat wins.";
  const words = [`Place ${counted(fleet.length, "ship")}.`, SHOTS[shots], end];
  document.querySelectorAll(".pictures p").forEach((line, index) => say(line, words[index]));
}

// What the host says is as large as it has room.
function drawBreak() {
  const words = hostLine(picture) || "All games wait.";
  const { since } = picture.evening;
  const minutes = Math.floor((Date.now() - since) / 60_000);
  find("pause-words").style.fontSize = `${Math.min(8, Math.max(2.6, 42 / Math.sqrt(words.length)))}rem`;
  say(find("pause-words"), words);
  say(find("pause-since"), since ? `Since ${clockTime(since)}${minutes > 0 ? `, ${counted(minutes, "minute")} so far` : ""}. All games stand still.` : "");
}

setInterval(() => picture && inTheMiddle() === "break" && drawBreak(), 10_000);
