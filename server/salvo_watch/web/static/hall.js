// The hall: one table as everybody watches it. Each picture that arrives says all; the page keeps only what it needs to move from one to the next.

import { drawBoards, endFlight, fly, flying, settle } from "./battle.js";
import { atKey, byName, find, still } from "./dom.js";
import { closeCard, closeEnd, drawEnd } from "./ends.js";
import { drawGames } from "./games.js";
import { live } from "./live.js";
import { drawLobby } from "./lobby.js";
import { drawNow, tellSalvo } from "./now.js";
import { drawChances, drawSide } from "./side.js";
import { toggle } from "./sound.js";
import { asksLive, gameOf, lose, ofEvening, own, picture, receive, receiveTables, tables } from "./state.js";
import { drawOwn, drawTop, drawTrouble } from "./top.js";

const SLOW_MS = 1000; // a cut of a tape that stays for less is shown at once, without a flight

const body = document.body;

// --- a picture -------------------------------------------------------------------------------------------------------

const salvoOf = (shown) => (shown.last ? `${gameOf(shown)}/${shown.last.turn}` : "");

function take(next) {
  const before = picture && picture.table === next.table ? picture : null;
  const fresh = before && next.last && next.state !== "lobby" && salvoOf(next) !== salvoOf(before);
  const runsBy = next.tape !== null && next.state === "turn" && next.tape.ms < SLOW_MS; // too short for its sentence and its flight
  const goesOn = before && !fresh && before.state === next.state && flying(); // news of something else ends no flight
  if (!goesOn) endFlight();
  receive(next);
  if (!before || next.state !== "turn") tellSalvo(null);
  else if (fresh) tellSalvo(next.last, runsBy);
  body.dataset.state = next.state;
  drawTop();
  drawTrouble();
  drawNow();
  drawGames();
  drawLobby();
  drawBoards();
  drawSide();
  drawChances();
  drawOwn();
  if (ofEvening() || (next.tables.length > 1 && chosen() === null)) followTables();
  if (fresh && !runsBy && gameOf(before) === gameOf(next) && !still() && !document.hidden) fly(before);
  else if (!goesOn) settle();
  drawEnd(before);
}

// --- which table -----------------------------------------------------------------------------------------------------

const chosen = () => new URLSearchParams(location.search).get("table"); // null where nobody has
const isMain = (table) => !table.split("@")[0];

let leave = () => {};
let here = null;

function watch(table) {
  leave();
  endFlight();
  closeEnd();
  here = table;
  leave = live(
    table,
    take,
    (is) => {
      lose(is);
      drawTrouble();
    },
    Boolean(own) || asksLive(),
  );
}

function switchLive() {
  const query = new URLSearchParams(location.search);
  if (asksLive()) query.delete("live");
  else query.set("live", "");
  history.replaceState(null, "", `?${query}`);
  watch(here);
}

function choose(table) {
  history.pushState(null, "", `?table=${encodeURIComponent(table)}`);
  watch(table);
}

// A team's page follows it from table to table: to a game that it plays, or to the lobby of its next one.
function followOwn() {
  const rank = (table) => (table ? ["over", "lobby", "turn"].indexOf(table.state) : -2);
  const found = tables.filter(({ players }) => players.some(({ name }) => name === own));
  const [best] = [...found].sort((a, b) => rank(b) - rank(a));
  if (here === null || rank(best) > rank(found.find(({ table }) => table === here))) watch(best?.table ?? "");
}

// Where nobody has chosen a table: with a league the main one, which runs the best tapes, else the one whose tape is newest, or one that plays.
function followBest() {
  if (picture.league) return isMain(here) || watch("");
  const now = tables.find(({ table }) => table === here);
  const [best] = tables.filter(({ tape, state }) => tape || state === "turn").sort((a, b) => b.tape - a.tape || byName(a.table, b.table));
  if (best && !now?.tape && (best.tape || now?.state !== "turn")) watch(best.table);
}

// All tables, once the page has something to show of them.
let follows = false;
function followTables() {
  if (follows) return;
  follows = true;
  live(undefined, (overview) => {
    receiveTables(overview.tables);
    if (own) followOwn();
    else if (picture && chosen() === null) followBest();
    if (picture) drawGames();
    drawOwn();
  }, () => {}); // the table's own stream says so
}

if (own) followTables();
else watch(chosen() ?? "");
addEventListener("popstate", () => own || watch(chosen() ?? ""));
find("table").addEventListener("change", (event) => choose(event.target.value));

function step(by) {
  const names = picture ? picture.tables.map(([name]) => name).sort(byName) : [];
  if (names.length > 1) choose(names[(names.indexOf(picture.table) + by + names.length) % names.length]);
}

// --- keys, tabs and what depends on the window -----------------------------------------------------------------------

atKey("f", find("full"), () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.()));
atKey("l", find("live"), switchLive);
atKey("s", find("sound"), () => find("sound").setAttribute("aria-pressed", toggle()));
atKey("ArrowLeft", null, () => step(-1));
atKey("ArrowRight", null, () => step(1));
atKey("Escape", null, closeCard);

const tabs = [...document.querySelectorAll("[role=tab]")];

function select(tab) {
  body.dataset.view = tab.getAttribute("aria-controls");
  for (const each of tabs) {
    each.setAttribute("aria-selected", each === tab);
    each.tabIndex = each === tab ? 0 : -1;
  }
}

for (const [index, tab] of tabs.entries()) {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", ({ key }) => {
    const to = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: -1 }[key];
    if (to === undefined) return;
    const next = tabs.at(to % tabs.length);
    select(next);
    next.focus();
  });
}
