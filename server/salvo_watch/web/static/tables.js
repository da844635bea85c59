// All tables, each as a card that leads to its hall.

import { badge, byName, colourOf, counted, fill, find, make, nameOf, plain, say, titleOf } from "./dom.js";
import { live } from "./live.js";
import { trouble } from "./words.js";

const PLAYERS = 32; // of a card
const MANY = 4;
const FEW = 4; // tables that share a projector, large
const PIPS = 8;
const STATES = { lobby: "lobby", turn: "playing", over: "over" };

const cards = new Map();

function player(team) {
  const afloat = make("span", "afloat");
  if (team.afloat === null) return make("li", `team ${colourOf(team)}`, badge(team), nameOf(team.name));
  if (team.ships <= PIPS) for (let ship = 0; ship < team.ships; ship += 1) afloat.append(make("i", ship < team.afloat ? "" : "lost"));
  else afloat.append(`${team.afloat}/${team.ships}`);
  afloat.append(make("span", "heard", `${team.afloat} of ${counted(team.ships, "ship")} afloat`));
  return make("li", `team ${colourOf(team)}${team.out ? " out" : ""}${team.won ? " won" : ""}`, badge(team), nameOf(team.name), afloat);
}

function drawn(table) {
  if (!cards.has(table.table)) cards.set(table.table, make("li"));
  const card = cards.get(table.table);
  card.className = `card ${table.state in STATES ? table.state : ""}${table.players.length > MANY ? " many" : ""}`;
  fill(card, JSON.stringify(table), () => {
    const link = make("a", "", titleOf(table.table));
    link.href = table.table ? `./?table=${encodeURIComponent(table.table)}` : "./";
    const state = `${STATES[table.state] || ""}${table.turn && table.state === "turn" ? `, turn ${table.turn}` : ""}${table.game ? ` · game ${table.game}` : ""}`;
    const shown = table.players.slice(0, PLAYERS).map(player);
    if (table.players.length > PLAYERS) shown.push(make("li", "rest", `and ${table.players.length - PLAYERS} more`));
    return [make("h2", "", link, make("span", "", state)), make("p", "headline", plain(table.headline) || "\u00a0"), make("ul", "", ...shown)];
  });
  return card;
}

let last = { tables: [], trouble: "" };
let away = false;

function draw() {
  const tables = [...last.tables].sort((a, b) => byName(a.table, b.table));
  for (const name of cards.keys()) if (!tables.some(({ table }) => table === name)) cards.delete(name);
  const wanted = tables.map(drawn);
  const list = find("cards");
  if (wanted.length !== list.children.length || wanted.some((card, index) => card !== list.children[index])) list.replaceChildren(...wanted);
  list.dataset.few = tables.length <= FEW;
  const playing = tables.filter(({ state }) => state === "turn").length;
  say(find("count"), tables.length ? `${counted(tables.length, "table")}, ${playing} playing` : "All tables");
  find("none").hidden = tables.length > 0;
  const words = trouble(last, away);
  say(find("trouble"), words);
  find("trouble").hidden = !words;
}

live(
  undefined,
  (overview) => {
    last = overview;
    draw();
  },
  (is) => {
    away = is;
    draw();
  },
);
