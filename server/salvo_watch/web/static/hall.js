// The hall: one table as everybody watches it. Each picture that arrives says all; the page keeps only what it needs to move from one to the next.

import { aimsAt, drawBoards, endFlight, featured, fly, flying, settle } from "./battle.js";
import { Board, cellsOf } from "./boards.js";
import { atKey, badge, byName, colourOf, find, fit, make, nameOf, plain, show, still } from "./dom.js";
import { drawGames } from "./games.js";
import { live } from "./live.js";
import { drawLobby } from "./lobby.js";
import { drawNow, tellSalvo } from "./now.js";
import { drawChances, drawSide } from "./side.js";
import { play, toggle } from "./sound.js";
import { asksLive, lose, ofEvening, own, picture, pieces, receive, receiveTables, tables, teamOf } from "./state.js";
import { drawOwn, drawTop, drawTrouble } from "./top.js";
import { champions, reason, victory } from "./words.js";

const SPLASH_MS = 7_000;
const CEREMONY_MS = 30_000; // of a league
const MANY_PLACES = 7; // of a splash: more teams are counted
const FEW_PLACES = 2; // which leave a splash room for a board
const SLOW_MS = 1000; // a cut of a tape that stays for less is shown at once, without a flight

const body = document.body;
let splashEnds = 0;

// --- the end of a game -----------------------------------------------------------------------------------------------

function openSplash() {
  const { winners, players, last, rules } = picture;
  const { target } = featured();
  const struck = players.find(({ name }) => name === target);
  const cells = struck && cellsOf(struck);
  const others = players.filter((player) => !winners.includes(player.name) && player.place);
  const more = [];
  if (cells && others.length <= FEW_PLACES) {
    const board = new Board(rules, false);
    board.show(cells, aimsAt(last, target));
    board.element.setAttribute("aria-label", `Board of ${plain(target)}`);
    const sea = make("div", "sea", board.element);
    sea.style.aspectRatio = `${rules.width} / ${rules.height}`;
    more.push(make("figure", "", sea, make("figcaption", "", make("span", `team ${colourOf(struck)}`, badge(struck), nameOf(target)), " after the last salvo")));
  }
  if (picture.game && find("again").querySelector("a")) more.push(Object.assign(find("again").cloneNode(true), { id: "", hidden: false }));
  crown(winners, victory(picture), reason(picture), others, more);
}

// The end of a league: its first three, then the rest.
function crownLeague(league) {
  const first = league.rows.filter(({ place }) => place === 1);
  crown(first.map(({ name }) => name), champions(league), [], league.rows.slice(first.length));
  splashEnds += CEREMONY_MS - SPLASH_MS;
}

// The winners large, each on a line of its own, with what `words` say after their names.
function crown(winners, words, why, others, more = []) {
  const teams = winners.map(teamOf).filter(Boolean);
  if (!teams.length) return;
  find("splash").className = colourOf(teams[0]);
  find("winner").replaceChildren(
    ...teams.slice(0, 3).map((team) => make("p", `team ${colourOf(team)}`, badge(team), nameOf(team.name))),
    make("p", "wins", words.at(-1)),
    make("p", "why", ...pieces(why)),
  );
  const rows = others.slice(0, MANY_PLACES).map((team) => make("li", `team ${colourOf(team)}`, make("b", "place", String(team.place)), badge(team), nameOf(team.name)));
  if (others.length > rows.length) rows.push(make("li", "", `and ${others.length - rows.length} more`));
  find("places").replaceChildren(...rows);
  find("beside-winner").replaceChildren(...more);
  find("splash").hidden = false;
  for (const line of find("winner").querySelectorAll(".team, .wins")) fit(line);
  splashEnds = performance.now() + SPLASH_MS;
  play("won");
}

function closeSplash() {
  splashEnds = 0;
  show(find("splash"), false);
}

setInterval(() => splashEnds && performance.now() >= splashEnds && closeSplash(), 250);

// --- a picture -------------------------------------------------------------------------------------------------------

const salvoOf = ({ last }) => (last ? `${last.game ?? ""}/${last.turn}` : "");
const gameOf = ({ table, tape, game }) => `${tape ? `tape of ${tape.table}` : table}/${game}`;

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
  if (before?.league && !before.league.over && next.league?.over) crownLeague(next.league);
  else if (next.state !== "over") next.league?.over || closeSplash();
  else if (before && next.winners.length && !(before.state === "over" && before.winners.length)) openSplash();
}

// --- which table -----------------------------------------------------------------------------------------------------

const chosen = () => new URLSearchParams(location.search).get("table"); // null where nobody has
const isMain = (table) => !table.split("@")[0];

let leave = () => {};
let here = null;

function watch(table) {
  leave();
  endFlight();
  closeSplash();
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
atKey("Escape", null, closeSplash);
find("splash").addEventListener("click", closeSplash);

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
