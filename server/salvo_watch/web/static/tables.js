// All tables, each as a card that leads to its hall.

import { drawCard, ofTable } from "./cards.js";
import { byName, counted, find, make, say } from "./dom.js";
import { live } from "./live.js";
import { trouble } from "./words.js";

const FEW = 4; // tables that share a projector, large

const cards = new Map();

function drawn(table) {
  if (!cards.has(table.table)) cards.set(table.table, make("li"));
  return drawCard(cards.get(table.table), ofTable(table));
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
  say(find("count"), tables.length ? `${last.round ? `${last.round}: ` : ""}${counted(tables.length, "table")}, ${playing} playing${playing ? "; squares are ships afloat" : ""}` : "All tables");
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
