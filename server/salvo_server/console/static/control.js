// Draws the organiser's page from its pictures, and sends commands, each with the sentence that its person has read.

import { fill, find, make, nameOf, plain, say, titleOf } from "./dom.js";
import { act, enter } from "./own.js";

// What the argument of a command is called, and what stands there first.
const ARGUMENTS = {
  seconds: ["Seconds", "60"], text: ["Text", ""], game: ["Number of the game", ""], team: ["Team", ""],
  settings: ["NAME=VALUE ...: players, placement_seconds, turn_seconds, over_seconds, pace_seconds, teams=a,b", "pace_seconds=0.8"],
};
let picture = null;
let chosen = null; // table and command
let ahead = 0; // how much later the server's clock is than this page's

function show(next) {
  picture = next;
  ahead = next.now - Date.now();
  say(find("about"), plain(next.about));
  const tables = find("tables");
  fill(tables, JSON.stringify(next.tables.map(({ table }) => table)), () => next.tables.map(aTable));
  next.tables.forEach((table, index) => showTable(tables.children[index], table));
  fill(find("lines"), JSON.stringify(next.lines), () => next.lines.map((line) => make("li", "", plain(line))).reverse());
  find("league").hidden = !next.league.length;
  fill(find("league").querySelector("ul"), JSON.stringify(next.league), () => next.league.map((line) => make("li", "", plain(line))));
  showOrder();
  tick();
}

function aTable() {
  const section = make("section", "", make("h2", "", make("span", "")), make("p", "line"), make("p", "turn"), make("table", "teams", make("tbody")), make("div", "commands"));
  section.querySelector(".commands").setAttribute("role", "group");
  return section;
}

function showTable(section, { table, headline, left, ends, teams, commands }) {
  section.querySelector(".turn").dataset.ends = ends ?? "";
  fill(section.querySelector("h2"), JSON.stringify([table, left]), () => [`${titleOf(table)} `, make("span", "", left)]);
  say(section.querySelector(".line"), plain(headline));
  fill(section.querySelector("tbody"), JSON.stringify(teams), () => teams.map(aTeam));
  const buttons = section.querySelector(".commands");
  buttons.setAttribute("aria-label", `Commands at ${titleOf(table)}`);
  fill(buttons, JSON.stringify([commands.map(({ do: word, ready }) => [word, ready]), chosen]), () => commands.map((offer) => aCommand(table, offer)));
}

function aTeam({ name, what, text, since }) {
  const time = make("td", "");
  if (since !== null) time.dataset.since = since;
  const who = make("th", "", nameOf(name));
  who.scope = "row";
  return make("tr", "", who, make("td", "", make("span", `what ${what}`, what), " ", plain(text)), time);
}

function aCommand(table, { do: word, ready }) {
  const button = make("button", "", word);
  button.type = "button";
  button.dataset.word = word;
  button.setAttribute("aria-disabled", !ready);
  button.setAttribute("aria-pressed", chosen?.table === table && chosen.word === word);
  button.addEventListener("click", () => ready && choose({ table, word }));
  return button;
}

const offerOf = ({ table, word }) => picture.tables.find((other) => other.table === table)?.commands.find(({ do: other }) => other === word);

function choose(next) {
  chosen = next;
  say(find("message"), "");
  const takes = next && offerOf(next).takes;
  find("argument").value = takes ? ARGUMENTS[takes][1] : "";
  find("argument").type = ["seconds", "game"].includes(takes) ? "number" : "text";
  show(picture);
  if (next) (takes === "team" ? find("team") : takes ? find("argument") : find("order").querySelector(".main")).focus();
}

// The sentence is always what the command would do now.
function showOrder() {
  const offer = chosen && offerOf(chosen);
  find("order").hidden = !offer;
  if (!offer) return;
  say(find("means"), `${titleOf(chosen.table)}, ${offer.do}: ${plain(offer.means)}`);
  const teams = picture.tables.find(({ table }) => table === chosen.table).teams.map(({ name }) => name);
  find("argument").hidden = !offer.takes || offer.takes === "team";
  find("team").hidden = offer.takes !== "team";
  find("label").hidden = !offer.takes;
  say(find("label"), offer.takes ? ARGUMENTS[offer.takes][0] : "");
  fill(find("team"), JSON.stringify(teams), () => teams.map((name) => make("option", "", plain(name))));
}

find("order").addEventListener("submit", (event) => {
  event.preventDefault();
  const offer = chosen && offerOf(chosen);
  if (!offer) return;
  const argument = offer.takes === "team" ? find("team").value : offer.takes ? find("argument").value : "";
  act({ table: chosen.table, do: offer.do, argument, means: offer.means });
  choose(null);
});
find("cancel").addEventListener("click", () => choose(null));
addEventListener("keydown", ({ key }) => key === "Escape" && chosen && choose(null));

function tick() {
  const now = Date.now() + ahead;
  for (const line of document.querySelectorAll("[data-ends]")) {
    const { ends } = line.dataset;
    say(line, ends ? `${Math.max(0, Math.round((ends - now) / 1000))} s left for this turn` : "");
  }
  for (const cell of document.querySelectorAll("[data-since]")) say(cell, `${Math.max(0, Math.round((now - cell.dataset.since) / 1000))} s`);
}
setInterval(tick, 500);

enter(show, ({ ended, trouble }) => ended || trouble);
