// Draws a sitting from its pictures, and sends what its person does.

import { Board, MARGIN } from "./boards.js";
import { fill, find, make, nameOf, plain, say } from "./dom.js";
import { Ships } from "./drag.js";
import { Cells } from "./cells.js";
import { act, enter } from "./own.js";
import { play, toggle } from "./sound.js";

const FEW_SECONDS = 20;
const TINTS = 6;
const narrow = matchMedia("(max-width: 44rem)");
// What goes on with the game, among other things that can be done.
const MAIN = new Set(["done", "fire", "restart"]);
const shown = new Map(); // boards by their sections
const drawings = new WeakMap(); // of those sections
const squares = {}; // of those that are clicked
let picture = null;
let pointed = () => 0; // returns the turn of a salvo that is pointed at
let chosen = 0; // the turn of one that is to stay lit up
let ends = 0; // when the time ends, on this page's clock
let side = "own"; // which board a narrow page shows

// --- drawing

function show(next) {
  const before = picture;
  const held = document.activeElement;
  picture = next;
  if (before?.about[0] !== next.about[0]) chosen = 0;
  ends = next.left_ms === null ? 0 : performance.now() + next.left_ms;
  const { mode, setup } = next;
  document.title = `${plain(next.title)} - Salvo`;
  say(find("title"), plain(next.title));
  say(find("about"), plain(next.about.join(", ")));
  say(find("message"), plain(next.ended ? farewell(next) : next.message));
  say(find("incoming"), plain(next.incoming));
  say(find("outcome"), plain(next.outcome));
  showNews(next);
  showBoards(next);
  showShips(next);
  showActions(next);
  showReplay(next);
  tick();
  if (before?.mode !== mode || before?.about[0] !== next.about[0]) changed(next);
  else if (setup && step(setup) !== step(before.setup)) ships.focus();
  else if (!held.isConnected) refocus(held.dataset.word, mode);
  sounds(before, next);
}

const farewell = ({ ended, error }) => (ended === "left" ? "You have left. This tab can be closed." : `The game cannot go on: ${error}`);

function showBoards({ boards, mode, target, setup }) {
  const rivals = boards.filter((board) => !board.own);
  const rival = setup ? null : rivals.find((board) => board.player === target);
  const others = mode === "End" ? rivals.filter((board) => board !== rival) : [];
  document.body.classList.toggle("end", mode === "End");
  fill(find("others"), JSON.stringify(others.map((board) => board.player)), () => others.map(aSection));
  shown.clear();
  const sections = [find("own"), find("target"), ...find("others").children];
  for (const [index, board] of [boards.find((each) => each.own), rival, ...others].entries()) {
    sections[index].hidden = !board;
    if (board) showBoard(sections[index], board);
  }
  for (const [section, board] of shown) squares[section.id]?.show(board, setup, (cell) => words(turnAt(board, cell)));
  showChoice();
  showLit();
}

const aSection = () => make("section", "side", make("div", "head", make("h2"), make("span", "lit")), make("div", "sea", make("div", "plot")), make("ul", "fleet"));

function showBoard(section, board) {
  const [width, height] = picture.grid;
  shown.set(section, board);
  fill(section.querySelector(".plot"), `${width}x${height}`, () => aPlot(section, width, height));
  section.classList.toggle("active", board.active);
  section.classList.toggle("named", board.named);
  section.classList.toggle("rival", !board.own);
  const { name, standing } = board;
  fill(section.querySelector("h2"), JSON.stringify([name, standing]), () => [nameOf(name), " ", make("small", "", standing)]);
  drawings.get(section).element.setAttribute("aria-label", section.querySelector("h2").textContent);
  showSigns(section);
  fill(section.querySelector(".fleet"), JSON.stringify(board.fleet), () => board.fleet.map(([label, length, sunk]) => {
    const line = make("li", sunk ? "sunk" : "", `${label} (${length})`);
    if (sunk) line.append(make("span", "heard", " sunk"));
    return line;
  }));
}

function showSigns(section, more = []) {
  const { fired, aimed, offered } = shown.get(section);
  const tint = (cell) => picture.volleys[turnAt(shown.get(section), cell)]?.number % TINTS;
  const shots = fired.filter((cell) => !aimed.includes(cell)).map((cell) => [cell, `fired s${tint(cell)}`, "?"]);
  drawings.get(section).sign([...shots, ...aimed.map((cell) => [cell, "aimed", "◎"]), ...offered.map((cell) => [cell, "offered", "+"]), ...more]);
}

function aPlot(section, width, height) {
  const board = new Board({ width, height }, true);
  const { style } = section;
  drawings.set(section, board);
  style.setProperty("--shape", (width * 10 + MARGIN) / (height * 10 + MARGIN));
  style.setProperty("--columns", width);
  if (!section.id) return [board.element];
  const cells = new Cells(width, height, { click: (cell, fires) => act({ click: [shown.get(section).player, cell], fires }), label: `${section.id}-heading` });
  const over = ({ target, type }) => {
    if (type === "pointerover" || target.matches(":focus-visible")) light(() => turnAt(shown.get(section), cells.at(target)));
  };
  for (const event of ["pointerover", "focusin"]) cells.element.addEventListener(event, over);
  for (const event of ["pointerleave", "focusout"]) cells.element.addEventListener(event, () => light());
  board.element.setAttribute("aria-hidden", "true");
  squares[section.id] = cells;
  if (section.id === "own") ships.over(cells);
  return [board.element, cells.element];
}

// Which board is aimed at; on a narrow page also which one is shown.
function showChoice() {
  const { boards, target, mode, setup } = picture;
  const rivals = boards.filter((board) => !board.own);
  for (const name of ["own", "target"]) find(name).classList.toggle("shown", side === name);
  document.body.classList.toggle("switched", !setup && rivals.length > 0);
  find("boards").hidden = Boolean(setup) || mode === "End" || !rivals.length;
  find("boards").classList.toggle("pair", rivals.length < 2);
  const own = side === "own" && narrow.matches;
  const choices = [["own", "You", own, ""], ...rivals.map(({ player, standing }) => [player, player, !own && player === target, standing.endsWith("defeated") ? "out" : ""])];
  fill(find("boards"), JSON.stringify(choices), () => choices.map(([player, text, pressed, name], index) => {
    const button = make("button", index ? name : "own", nameOf(text));
    button.type = "button";
    button.setAttribute("aria-pressed", pressed);
    button.addEventListener("click", () => {
      side = index ? "target" : "own";
      if (index && player !== picture.target) act({ act: `aim ${player}` });
      else showChoice();
    });
    return button;
  }));
}

// --- the squares of a salvo

const isAt = (turn, player, cell) => picture.volleys[turn]?.shots.some(([name, at]) => name === player && (cell === undefined || at === cell));
// The turn of the latest salvo at a square of which these rules do not say more.
const turnAt = (board, cell) => (board?.fired.includes(cell) && Object.keys(picture.volleys).findLast((turn) => isAt(turn, board.player, cell))) || 0;
const words = (turn) => (turn ? `fired at in turn ${turn}, ${picture.volleys[turn].hits} hit` : "fired at, result not told");

// Lights up a salvo while it is pointed at; else the one that was chosen.
function light(at = () => 0) {
  pointed = at;
  showLit();
}

function showLit() {
  const turn = [pointed(), chosen].find((each) => picture.volleys[each]) || 0;
  const salvo = picture.volleys[turn];
  for (const [section, board] of shown) {
    const cells = (salvo?.shots || []).filter(([name]) => name === board.player).map(([, cell]) => cell);
    const { width } = drawings.get(section);
    drawings.get(section).show(board.cells, cells.map((cell) => [(cell % width) + 1, Math.floor(cell / width) + 1]));
    const lit = cells.length ? [`turn ${turn}: ${salvo.hits} hit`] : legend(board);
    fill(section.querySelector(".lit"), JSON.stringify([turn, cells.length, board.fired, Object.keys(picture.volleys)]), () => lit);
  }
  for (const line of lines()) {
    line.classList.toggle("on", line.dataset.turn === String(turn));
    line.setAttribute("aria-pressed", line.dataset.turn === String(chosen));
  }
}

// How many squares of each salvo hit, by the colour of its question marks.
function legend(board) {
  const turns = [...new Set(board.fired.map((cell) => turnAt(board, cell)).filter(Boolean))];
  return turns.slice(-TINTS).map((turn) => make("span", `sign fired s${picture.volleys[turn].number % TINTS}`, `? ${picture.volleys[turn].hits} hit`));
}

const lines = () => [...find("news").querySelectorAll("[data-turn]")];

// Shows a salvo on the boards until another one is chosen.
function choose(turn) {
  chosen = chosen === turn ? 0 : turn;
  pointed = () => 0;
  const there = [...shown.values()].some(({ player }) => isAt(turn, player));
  if (chosen && !there) act({ act: `aim ${picture.volleys[turn].shots[0][0]}` });
  side = "target";
  showChoice();
  showLit();
  find("target").scrollIntoView({ block: "nearest" });
}

function showShips({ setup }) {
  find("ships").hidden = !setup;
  ships.show(setup);
}

function showActions({ actions, ended, plays }) {
  const shown = ended || !plays ? [] : actions;
  fill(find("actions"), JSON.stringify(shown), () =>
    shown.map(([word, text, key, ready]) => {
      const button = make("button", MAIN.has(word) ? "main" : "", text);
      if (word === "leave" && text === "Leave the game") button.classList.add("leaving");
      button.type = "button";
      button.dataset.word = word;
      button.setAttribute("aria-disabled", !ready);
      if (key) {
        button.append(make("kbd", "", key));
        button.querySelector("kbd").setAttribute("aria-hidden", "true");
        button.setAttribute("aria-keyshortcuts", key === "Esc" ? "Escape" : key);
      }
      button.addEventListener("click", (event) => event.detail < 2 && ready && act({ act: word }));
      return button;
    }),
  );
}

function showReplay({ replay, ended }) {
  const [command, page] = replay || ["", false];
  find("replay").hidden = Boolean(ended) || !(command || page);
  fill(find("replay"), JSON.stringify([command, page]), () => {
    const link = make("a", "", "Watch it again");
    link.href = "/replay";
    link.target = "_blank";
    const code = make("code", "", plain(command));
    code.tabIndex = 0; // to be scrolled
    return [...(page ? [link] : []), ...(command ? [code] : [])];
  });
}

function showNews({ news, chat, volleys }) {
  const list = find("news").querySelector("ol");
  const known = news.map(([line, turn]) => [line, volleys[turn] ? turn : 0]);
  if (fill(list, JSON.stringify(known), () => known.map(([line, turn]) => make("li", "", turn ? aLine(line, turn) : plain(line))))) list.scrollTop = list.scrollHeight;
  find("chat").hidden = !chat;
}

function aLine(line, turn) {
  const button = make("button", "", plain(line));
  button.type = "button";
  button.dataset.turn = turn;
  button.addEventListener("click", () => choose(turn));
  for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => light(() => turn));
  for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => light());
  return button;
}

const step = ({ ships: all, setting, deleting }) => (setting || deleting ? "" : JSON.stringify(all.map(({ at, down }) => [at, down])));

// The element with the focus has been redrawn: focus it again, or else the next step.
function refocus(word, mode) {
  const again = word && find("actions").querySelector(`[data-word="${word}"][aria-disabled=false]`);
  if (again) again.focus({ preventScroll: true });
  else if (mode === "Setup") ships.focus();
  else squares.target?.focus();
}

// What the person is at has changed: the focus goes where its next step is, unless it is writing.
function changed({ mode, boards, left_ms: left }) {
  side = mode === "Your turn" || mode === "End" ? "target" : "own";
  if (boards.length) showChoice();
  const seconds = left === null ? "" : `, ${Math.round(left / 1000)} seconds`;
  say(find("call"), mode === "Your turn" ? `your turn${seconds}` : mode === "End" ? "the game is over" : "");
  if (document.activeElement?.closest("#chat")) return;
  if (mode === "Your turn") squares.target?.focus();
  else if (mode === "Setup" && boards.length) ships.focus();
  else if (mode === "End") find("actions").querySelector("button")?.focus({ preventScroll: true });
}

function sounds(before, next) {
  if (!before) return;
  const marks = ({ boards }, wanted) => boards.reduce((count, { cells }) => count + [...cells].filter(wanted).length, 0);
  const hits = (cell) => cell === "!" || (cell >= "A" && cell <= "Z");
  if (before.mode !== "End" && next.mode === "End" && next.message.startsWith("You win")) play("won");
  else if (next.setup || before.setup) return;
  else if (marks(next, hits) > marks(before, hits)) play("hit");
  else if (marks(next, (cell) => cell === "*") > marks(before, (cell) => cell === "*")) play("miss");
}

let warned = 0;
function tick() {
  const clock = find("clock");
  const seconds = ends ? Math.max(0, Math.round((ends - performance.now()) / 1000)) : 0;
  clock.hidden = !ends && !picture.turn;
  say(clock, [plain(picture.turn), ends ? `${seconds} s left` : ""].filter(Boolean).join(", "));
  clock.classList.toggle("short", Boolean(ends) && seconds <= 10);
  const mine = picture.mode === "Your turn" && ends && seconds <= FEW_SECONDS;
  if (mine && warned !== ends && picture.left_ms > FEW_SECONDS * 1000) {
    warned = ends;
    say(find("call"), `${seconds} seconds left`);
  }
}

// --- what the person does

const ships = new Ships(find("ships"), {
  choose: (ship) => act({ act: `ship ${ship}` }),
  put: (ship, cell, down) => act({ put: [ship, cell, down] }),
  refuse: (text) => say(find("message"), text),
  toGrid: () => squares.own.focus(),
  preview: (cells, fits) => shown.has(find("own")) && showSigns(find("own"), cells.map((cell) => [cell, fits ? "good" : "bad", ""])),
});

const KEYS = { d: "delete", r: "random", u: "undo", f: "fire", s: "skip", c: "change", q: "leave", Escape: "none", Delete: "delete" };

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !picture?.plays || event.target.closest("input")) return;
  const { setup, mode } = picture;
  const { key } = event;
  if (key === "m" && picture.chat) find("line").focus();
  else if (setup && ships.press(key)) return event.preventDefault();
  else if (setup && key === "Escape") act({ act: "cancel" });
  else if (setup && /^[0-9]$/.test(key) && !event.target.closest(".cells")) ships.choose(Number(key) || 10);
  else if (mode === "End" && key === "r") act({ act: "restart" });
  else if (key in KEYS && !(event.repeat && key !== "Escape")) act({ act: KEYS[key] });
  else return;
  event.preventDefault();
}

addEventListener("keydown", press);
narrow.addEventListener("change", () => picture && showChoice());
find("chat").addEventListener("submit", (event) => {
  event.preventDefault();
  const line = find("line").value;
  find("line").value = "";
  if (line.trim()) act({ write: line });
});
find("line").addEventListener("keydown", ({ key }) => key === "Escape" && find("line").blur());
find("sound").addEventListener("click", () => find("sound").setAttribute("aria-pressed", toggle()));
setInterval(() => picture && tick(), 250);

enter(show, ({ grid, trouble }) => grid && trouble);
