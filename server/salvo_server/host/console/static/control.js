// Draws the organiser's page from its pictures, and sends commands, each with the sentence that its person has read.

import { fill, find, make, nameOf, plain, say, titleOf } from "./dom.js";
import { act, enter } from "./own.js";

// What the argument of a command is called, and what stands there first.
const ARGUMENTS = {
  seconds: ["Seconds", "60"], text: ["Text", ""], game: ["Number of the game", ""], team: ["Team", ""],
  settings: ["NAME=VALUE ...: players, placement_seconds, turn_seconds, over_seconds, pace_seconds, teams=a,b", "pace_seconds=0.8"],
};
const MINUTE_S = 60;
let picture = null;
let chosen = null; // a command as it was offered, and its table: null for all of them
let ahead = 0; // how much later the server's clock is than this page's

function show(next) {
  picture = next;
  ahead = next.now - performance.now();
  say(find("about"), plain(next.about));
  find("needs").hidden = !next.needs.length;
  fill(find("needs").querySelector("ul"), JSON.stringify(next.needs), () => next.needs.map(aNeed));
  say(find("phase"), plain(next.phase));
  say(find("latest"), plain(next.lines.at(-1) ?? ""));
  showCommands(find("everywhere"), null, next.commands);
  const tables = find("tables");
  fill(tables, JSON.stringify(next.tables.map(({ table }) => table)), () => next.tables.map(aTable));
  next.tables.forEach((table, index) => showTable(tables.children[index], table));
  fill(find("lines"), JSON.stringify(next.lines), () => next.lines.map((line) => make("li", "", plain(line))).reverse());
  find("league").hidden = !next.league.length;
  fill(find("league").querySelector("ul"), JSON.stringify(next.league), () => next.league.map((line) => make("li", "", plain(line))));
  showOrder();
  tick();
}

function aNeed({ table, text, since }) {
  return make("li", "", make("span", "", `${table === null ? "" : `${titleOf(table)}: `}${plain(text)}`), aTime(since));
}

function aTime(since) {
  const time = make("time");
  if (since !== null) time.dataset.since = since;
  return time;
}

function aTable() {
  const section = make("section", "", make("h2", "", make("span", "")), make("p", "line"), make("p", "turn"), make("div", "commands"), make("ul", "teams"));
  section.querySelector(".commands").setAttribute("role", "group");
  return section;
}

function showTable(section, { table, headline, left, ends, teams, commands }) {
  section.querySelector(".turn").dataset.ends = ends ?? "";
  fill(section.querySelector("h2"), JSON.stringify([table, left]), () => [`${titleOf(table)} `, make("span", "", left)]);
  say(section.querySelector(".line"), plain(headline));
  fill(section.querySelector(".teams"), JSON.stringify(teams), () => teams.map(aTeam));
  section.querySelector(".commands").setAttribute("aria-label", `Commands at ${titleOf(table)}`);
  showCommands(section, table, commands);
}

function aTeam({ name, what, text, since }) {
  const how = make("span", "how", make("span", `what ${what}`, what), " ", plain(text));
  return make("li", "", make("strong", "", nameOf(name)), how, aTime(since));
}

function showCommands(section, table, commands) {
  const key = JSON.stringify([commands.map(({ do: word, ready }) => [word, ready]), chosen?.table === table && chosen.do]);
  fill(section.querySelector(".commands"), key, () => commands.map((offer) => aCommand(table, offer)));
}

function aCommand(table, { do: word, label, ready }) {
  const button = make("button", "", label);
  button.type = "button";
  button.dataset.word = word;
  button.setAttribute("aria-disabled", !ready);
  button.setAttribute("aria-pressed", chosen?.table === table && chosen.do === word);
  button.addEventListener("click", () => {
    const offer = offerOf(table, word);
    if (offer?.ready) choose({ ...offer, table });
  });
  return button;
}

const placeOf = (table) => (table === null ? picture : picture.tables.find((other) => other.table === table));
const offerOf = (table, word) => placeOf(table)?.commands.find(({ do: other }) => other === word);
const teamsAt = (table) => placeOf(table)?.teams.map((team) => team.name ?? team) ?? [];

function choose(next) {
  chosen = next;
  say(find("message"), "");
  fill(find("team"), "", () => []); // who was chosen for another command
  const takes = next?.takes;
  find("argument").value = takes ? ARGUMENTS[takes][1] : "";
  find("argument").type = ["seconds", "game"].includes(takes) ? "number" : "text";
  show(picture);
  if (next) (takes === "team" ? find("team") : takes ? find("argument") : find("order").querySelector(".main")).focus();
}

// The sentence stays as it was read; what it does not say any more is refused.
function showOrder() {
  find("order").hidden = !chosen;
  find("order-box").classList.toggle("open", Boolean(chosen || find("message").textContent));
  if (!chosen) return;
  const { table, label, takes, means } = chosen;
  find("argument").hidden = !takes || takes === "team";
  find("team").hidden = takes !== "team";
  find("label").hidden = !takes;
  say(find("label"), takes ? ARGUMENTS[takes][0] : "");
  const teams = teamsAt(table);
  const before = find("team").value;
  if (fill(find("team"), JSON.stringify([teams, narrow.matches]), () => teams.map(anOption)) && teams.includes(before)) find("team").value = before;
  const where = table === null ? label : `${titleOf(table)}, ${label}`;
  say(find("means"), `${where}: ${plain(means.replace("{team}", () => find("team").value || "a team"))}`);
}

const narrow = matchMedia("(max-width: 60rem)");
const MOST = 20; // letters of a name in a list for which a phone has room

// Where a name has no room it is shortened in the middle; the sentence has all of it.
function anOption(name) {
  const letters = [...plain(name)];
  const cut = narrow.matches && letters.length > MOST ? [...letters.slice(0, MOST - 6), "…", ...letters.slice(-5)] : letters;
  const option = make("option", "", cut.join(""));
  option.value = name;
  return option;
}

find("team").addEventListener("change", showOrder);
find("order").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!chosen) return;
  const { table, do: word, takes, means } = chosen;
  const argument = takes === "team" ? find("team").value : takes ? find("argument").value : "";
  const where = table === null ? { everywhere: true } : { table };
  choose(null);
  act({ ...where, do: word, argument, means }).then(showOrder);
});
find("cancel").addEventListener("click", () => choose(null));
addEventListener("keydown", ({ key }) => key === "Escape" && chosen && choose(null));

function tick() {
  const now = performance.now() + ahead;
  for (const line of document.querySelectorAll("[data-ends]")) {
    const { ends } = line.dataset;
    say(line, ends ? `${Math.max(0, Math.round((ends - now) / 1000))} s left for this turn` : "");
  }
  for (const cell of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.round((now - cell.dataset.since) / 1000));
    say(cell, seconds < 2 * MINUTE_S ? `for ${seconds} s` : `for ${Math.round(seconds / MINUTE_S)} min`);
  }
}
setInterval(tick, 500);

enter(show, ({ ended, trouble }) => ended || trouble);
