// Shows the turns of this page's game. The game comes as numbers in #game (moves.py says which); every name and every
// sentence is the page's own and is only looked up here. Without this the page shows the end; with it, nothing of what
// comes after the turn that is shown.

import { Board } from "./static/boards.js";
import { draw, find } from "./static/dom.js";
import { timed } from "./static/timed.js";
import "./static/theme.js";

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const { width, height, ships, players, fleets, revealed, turns, times } = JSON.parse(find("game").textContent);
const size = width * height;
const HIT = 1;
const CELLS = ".!*?"; // of boards.js, where no ship is known
const WORDS = ["", "hit", "miss", "fired at"];

const main = document.querySelector("main");
const rows = all(".salvos tbody tr");
const list = document.querySelector(".salvos");
const chart = document.querySelector(".chart");
const boards = all(".player").map((figure, seat) => {
  const board = new Board({ width, height }, true);
  const drawn = figure.querySelector(".board");
  for (const name of ["aria-label", "preserveAspectRatio"]) board.element.setAttribute(name, drawn.getAttribute(name));
  drawn.replaceWith(board.element);
  return {
    figure,
    seat,
    board,
    name: figure.querySelector("h2").textContent.trim(),
    figures: Object.fromEntries(all("[data-of]", figure).map((each) => [each.dataset.of, each])),
    fleet: all(".fleet li", figure),
  };
});

// --- the game after a turn ----------------------------------------------------------------------------------

function after(turn) {
  const game = {
    marks: new Uint8Array(players * size),
    when: new Uint32Array(players * size), // the last turn that struck a cell
    shots: new Uint32Array(players),
    hits: new Uint32Array(players),
    sunk: new Set(),
    out: new Set(),
  };
  for (let each = 1; each <= turn; each++) {
    const [seat, shots, hits, fired, landed, sunk, out] = turns[each - 1];
    game.shots[seat] += shots;
    game.hits[seat] += hits;
    for (const aim of fired) {
      const place = aim >> 2;
      if (game.marks[place] !== HIT) game.marks[place] = aim & 3;
      game.when[place] = each;
    }
    for (const aim of landed) {
      game.marks[aim >> 2] = aim & 3;
      game.when[aim >> 2] = each;
    }
    for (const ship of sunk) game.sunk.add(ship);
    for (const fallen of out) game.out.add(fallen);
  }
  return game;
}

// --- showing it ---------------------------------------------------------------------------------------------

let now = 0;
let seen = 0; // the latest turn that was shown; so far goes the slider
let shown = after(0);

function go(turn) {
  const steps = turn === now + 1;
  now = Math.max(0, Math.min(turns.length, turn));
  since = performance.now();
  seen = Math.max(seen, now);
  shown = after(now);
  const shooter = now ? turns[now - 1][0] : -1;
  main.classList.toggle("end", now === turns.length);
  for (const board of boards) showBoard(board, board.seat === shooter, steps);
  showShooter();
  showSalvo();
  if (chart) showCourse();
  showClock();
  find("slider").max = seen;
  find("slider").value = now;
  find("slider").setAttribute("aria-valuetext", `turn ${now}`);
  for (const id of ["first", "back"]) disable(find(id), now === 0);
  for (const id of ["on", "last"]) disable(find(id), now === turns.length);
  remember();
}

// A button that were really disabled would lose the focus, and with it the keyboard's place.
const disable = (button, off) => button.setAttribute("aria-disabled", off);

// A board as boards.js takes it: a letter of each ship that is known, upper-case where it was hit.
function cellsAt(seat) {
  const fleet = (now === turns.length && revealed[seat]) || fleets[seat];
  const cell = (mark, place) => {
    const ship = fleet[place] || ".";
    return ship === "." ? CELLS[mark] : mark === HIT ? ship.toUpperCase() : ship;
  };
  return Array.from(shown.marks.subarray(seat * size, (seat + 1) * size), cell).join("");
}

function showBoard({ figure, seat, board, figures, fleet }, fires, steps) {
  const [cells, latest] = [cellsAt(seat), []];
  for (let place = 0; now && place < size; place++)
    if (shown.when[seat * size + place] === now) latest.push([(place % width) + 1, Math.floor(place / width) + 1]);
  board.settle();
  for (const [x, y] of steps ? latest : []) board.strike(x, y, cells);
  board.show(cells, latest);
  const isSunk = (ship) => shown.sunk.has(seat * ships + Number(ship));
  fleet.forEach((item, ship) => item.classList.toggle("sunk", isSunk(ship)));
  figures.shots.textContent = shown.shots[seat];
  figures.hits.textContent = shown.hits[seat];
  if (figures.afloat) figures.afloat.textContent = fleet.filter((item) => !item.classList.contains("sunk")).length;
  figure.classList.toggle("out", shown.out.has(seat));
  figure.classList.toggle("firing", fires);
  figure.classList.toggle("struck", latest.length > 0);
}

// Where not all boards fit, what is hit is brought to sight, else who fires.
function showShooter() {
  const sea = document.querySelector(".boards");
  if (!now || sea.scrollHeight <= sea.clientHeight || getComputedStyle(sea).overflowY !== "auto") return;
  const { figure } = boards.find((board) => board.figure.classList.contains("struck")) || boards[turns[now - 1][0]];
  const [top, low] = [figure.offsetTop - sea.offsetTop, figure.offsetTop - sea.offsetTop + figure.offsetHeight];
  if (top < sea.scrollTop || low > sea.scrollTop + sea.clientHeight) sea.scrollTop = top;
}

function showSalvo() {
  const former = list.querySelector("[aria-current]");
  if (former) former.removeAttribute("aria-current");
  rows.forEach((each, turn) => (each.hidden = turn > now));
  const row = rows[now];
  row.setAttribute("aria-current", "step");
  const head = list.querySelector("thead").offsetHeight;
  if (row.offsetTop < list.scrollTop + head || row.offsetTop + row.offsetHeight > list.scrollTop + list.clientHeight)
    list.scrollTop = row.offsetTop - list.clientHeight / 2;
  find("now").textContent = sentence(row);
}

function sentence(row) {
  const [turn, player, shots, hits] = [...row.cells].map((cell) => cell.textContent.trim());
  const news = row.querySelector("b")?.textContent;
  if (shots === undefined) return `Turn ${turn}: ${player}`;
  const plural = (count, noun) => `${count} ${noun}${count === "1" ? "" : "s"}`;
  const told = `Turn ${turn}: ${player}, ${plural(shots, "shot")}, ${plural(hits, "hit")}`;
  return news ? `${told}: ${news}` : told;
}

// --- the course, up to the turn that is shown ----------------------------------------------------------------

const frame = chart && Object.fromEntries(Object.entries(chart.dataset).map(([name, told]) => [name, Number(told)]));
const courses = Array.from({ length: players }, (_, seat) => courseOf(seat));

// Hits of a player, or its ships afloat, before the first turn and after each.
function courseOf(seat) {
  const falls = chart && chart.classList.contains("falling");
  const change = ([shooter, , hits, , , sunk]) =>
    falls ? -sunk.filter((ship) => Math.floor(ship / ships) === seat).length : shooter === seat ? hits : 0;
  const course = [falls ? ships : 0];
  for (const turn of turns) course.push(course[course.length - 1] + change(turn));
  return course;
}

// A scale grows by doubling, so that it does not tell where it will end.
const ample = (value) => 20 * 2 ** Math.max(0, Math.ceil(Math.log2(value / 20)));

function scales() {
  let highest = Math.max(1, frame.known); // one by one: a long game has more values than a call may have
  for (const course of courses) for (let turn = 0; turn <= now; turn++) highest = Math.max(highest, course[turn]);
  if (now === turns.length) return { across: now, most: highest };
  return { across: ample(now), most: frame.known ? highest : ample(highest) };
}

function showCourse() {
  const { across, most } = scales();
  const x = (turn) => (frame.left + (frame.width * turn) / across).toFixed(1);
  all(".line", chart).forEach((line, seat) => {
    const off = frame.top + frame.apart * (seat - (players - 1) / 2);
    const y = (turn) => (off + frame.height * (1 - courses[seat][turn] / most)).toFixed(1);
    let steps = `M${frame.left} ${y(0)}`;
    for (let turn = 1; turn <= now; turn++)
      if (courses[seat][turn] !== courses[seat][turn - 1]) steps += `H${x(turn)}V${y(turn)}`;
    line.setAttribute("d", `${steps}H${x(now)}`);
    line.classList.toggle("on", boards[seat].figure.matches(".firing, .struck"));
  });
  chart.querySelector(".most").textContent = most;
  chart.querySelector(".turns").textContent = across;
  chart.querySelector(".cursor").setAttribute("transform", `translate(${(frame.width * now) / across})`);
}

// --- playing ------------------------------------------------------------------------------------------------

const TICK_MS = 250; // of the clock
let stop = null; // ends the playing
let since = 0; // when the turn that is shown was reached
let ticking = 0;

const asItWas = () => find("speed").value === "0";

// The turns that are to come, as a chunk has its pictures.
function coming() {
  const each = 1000 / find("speed").value;
  const at = (turn) => (asItWas() ? times[turn] : each * turn);
  return turns.slice(now).map((_, index) => [at(now + index + 1) - at(now), now + index + 1]);
}

function play(wanted) {
  if (stop) stop();
  clearInterval(ticking);
  if (wanted && now === turns.length) go(0);
  since = performance.now();
  stop = wanted ? timed(coming(), since, pass) : null;
  if (wanted) ticking = setInterval(showClock, TICK_MS);
  showClock();
  const button = find("play");
  button.classList.toggle("playing", wanted);
  button.setAttribute("aria-label", wanted ? "Pause" : "Play");
  button.title = wanted ? "Pause (space)" : "Play (space)";
  find("now").setAttribute("aria-live", wanted ? "off" : "polite"); // nobody can listen that fast
}

// Stop it first, so that listeners learn of the end.
function pass(turn) {
  if (turn === turns.length) play(false);
  go(turn);
  if (turn === turns.length) document.querySelector(".ended").scrollIntoView({ block: "nearest" });
}

// How long the game had been on; while it plays as it was, this goes on between two salvos.
function showClock() {
  const clock = find("clock");
  if (!clock) return;
  const seconds = Math.floor((times[now] + (stop && asItWas() ? performance.now() - since : 0)) / 1000);
  clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

const jump = (turn) => {
  play(false);
  go(turn);
};

// Turns in which a ship sinks or a player is out. The buttons are never disabled: that would tell what comes.
const sinkings = turns.flatMap(([, , , , , sunk, out], index) => (sunk.length + out.length ? [index + 1] : []));

const acts = {
  first: () => jump(0),
  former: () => jump(sinkings.findLast((turn) => turn < now) || 0),
  next: () => jump(sinkings.find((turn) => turn > now) || turns.length),
  back: () => jump(now - 1),
  play: () => play(!stop && turns.length > 0),
  on: () => jump(now + 1),
  last: () => jump(turns.length),
};
for (const [id, act] of Object.entries(acts)) find(id).addEventListener("click", act);
find("slider").addEventListener("input", (event) => jump(Number(event.target.value)));
find("speed").addEventListener("change", () => stop && play(true));

const KEYS = {
  Home: "first", ArrowLeft: "back", " ": "play", ArrowRight: "on", End: "last", n: "next", p: "former",
};
document.addEventListener("keydown", (event) => {
  const act = KEYS[event.key];
  if (!act || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("select") || (event.key === " " && event.target.closest("button, a"))) return;
  event.preventDefault();
  acts[act]();
});

// --- pointing at things -------------------------------------------------------------------------------------

list.addEventListener("click", (event) => {
  const row = event.target.closest("tbody tr");
  if (!row || event.ctrlKey || event.metaKey || String(getSelection())) return;
  event.preventDefault();
  jump(rows.indexOf(row));
});

if (chart)
  chart.addEventListener("click", (event) => {
    const box = chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * chart.viewBox.baseVal.width;
    jump(Math.min(now, Math.round(((x - frame.left) / frame.width) * scales().across)));
  });

// A mark tells when it was made, and leads there.
for (const { board, seat, name } of boards) {
  const title = board.element.appendChild(draw("title"));
  const markAt = (event) => {
    const [x, y] = board.at(event.clientX, event.clientY) || [];
    const place = seat * size + (y - 1) * width + x - 1;
    return shown.marks[place] && { x, y, what: WORDS[shown.marks[place]], turn: shown.when[place] };
  };
  board.element.addEventListener("pointermove", (event) => {
    const mark = markAt(event);
    board.element.classList.toggle("leads", Boolean(mark));
    title.textContent = mark ? `${name} ${String.fromCharCode(64 + mark.y)}${mark.x}: ${mark.what} in turn ${mark.turn}` : "";
  });
  board.element.addEventListener("click", (event) => {
    const mark = markAt(event);
    if (mark) jump(mark.turn);
  });
}

// --- the address --------------------------------------------------------------------------------------------

// A link has `?turn=20`, since a server is not sent what follows `#`, and a messenger shows what the server says of that turn.
const addressed = () => /^#turn=(\d{1,9})$/.exec(location.hash) || /^\?turn=(\d{1,9})$/.exec(location.search);
let remembering = 0;

// Late, since browsers let a page do this only so often; a slider is dragged over a hundred turns in a second.
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(() => history.replaceState(null, "", `#turn=${now}`), 300);
}

// A page of a hall is not a secure context: it has no clipboard but that of a selection.
function copied(text) {
  const field = document.body.appendChild(document.createElement("textarea"));
  field.value = text;
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

const link = find("link");
const invitation = link.textContent;
link.addEventListener("click", () => {
  clearTimeout(remembering);
  history.replaceState(null, "", location.protocol === "file:" ? `#turn=${now}` : `?turn=${now}`);
  const done = copied(location.href);
  link.focus();
  link.textContent = done ? "Copied" : "See address";
  setTimeout(() => (link.textContent = invitation), 2000);
});

addEventListener("hashchange", () => addressed() && jump(Number(addressed()[1])));
find("controls").hidden = false;
go(Number(addressed() ? addressed()[1] : main.dataset.turn));
main.classList.add("ready");
