// Draws a sitting from its pictures, and sends what its person does.

import { Board } from "./boards.js";
import { fill, find, make, plain, say } from "./dom.js";
import { Ships } from "./drag.js";
import { Cells } from "./cells.js";
import { act, enter } from "./own.js";
import { play, toggle } from "./sound.js";

const FEW_SECONDS = 20;
// What goes on with the game, among other things that can be done.
const MAIN = new Set(["done", "fire", "restart"]);
const sides = {};
let picture = null;
let ends = 0; // when the time ends, on this page's clock
let side = "own"; // which board a narrow page shows

// --- drawing

function show(next) {
  const before = picture;
  const held = document.activeElement;
  picture = next;
  ends = next.left_ms === null ? 0 : Date.now() + next.left_ms;
  const { mode, setup } = next;
  document.title = `${plain(next.title)} - Salvo`;
  say(find("title"), plain(next.title));
  say(find("about"), plain(next.about.join(", ")));
  say(find("message"), plain(next.ended ? farewell(next) : next.message));
  say(find("incoming"), plain(setup ? settingWords(setup) : next.incoming));
  say(find("outcome"), plain(next.outcome));
  showBoards(next);
  showShips(next);
  showActions(next);
  showNews(next);
  tick();
  if (before?.mode !== mode || before?.about[0] !== next.about[0]) changed(next);
  else if (setup && step(setup) !== step(before.setup)) ships.focus();
  else if (!held.isConnected) refocus(held.dataset.word, mode);
  sounds(before, next);
}

const farewell = ({ ended, error }) => (ended === "left" ? "You have left. This tab can be closed." : `The game cannot go on: ${error}`);
const settingWords = ({ setting, deleting, ships }) =>
  setting ? `setting ${ships.find((ship) => ship.name === setting).label}` : deleting ? "deleting: click a ship" : "";

function showBoards({ boards, grid, mode, target, setup, fires }) {
  const own = boards.find((board) => board.own);
  const rival = setup ? null : boards.find((board) => board.player === target && !board.own);
  for (const [name, board] of [["own", own], ["target", rival]]) {
    const section = find(name);
    section.hidden = !board;
    if (!board) continue;
    const [width, height] = grid;
    document.body.classList.toggle("large", width > 12);
    if (sides[name]?.key !== `${width}x${height}`) sides[name] = aSide(name, width, height);
    section.classList.toggle("active", board.active);
    section.classList.toggle("named", board.named);
    say(section.querySelector("h2"), plain(board.heading));
    sides[name].board.show(board.cells);
    sides[name].cells.show(board, { setup, mode, fires });
    const list = section.querySelector(".fleet");
    fill(list, JSON.stringify(board.fleet), () => board.fleet.map(([label, length, sunk]) => {
      const line = make("li", sunk ? "sunk" : "", `${label} (${length})`);
      if (sunk) line.append(make("span", "heard", " sunk"));
      return line;
    }));
  }
  showRivals(boards.filter((board) => !board.own), target, Boolean(rival));
  find("switch").hidden = !rival && !setup;
  document.body.classList.toggle("switched", Boolean(rival));
  find("switch").hidden = !rival;
  showSide();
}

function aSide(name, width, height) {
  const board = new Board({ width, height }, true);
  board.element.removeAttribute("role");
  board.element.setAttribute("aria-hidden", "true");
  const cells = new Cells(width, height, {
    click: (cell, fires) => act({ click: [playerOf(name), cell], fires }),
    label: find(name).querySelector("h2").id,
  });
  find(name).querySelector(".sea").replaceChildren(board.element, cells.element);
  if (name === "own") ships.over(cells);
  return { key: `${width}x${height}`, board, cells };
}

const playerOf = (name) => (name === "own" ? picture.boards.find((board) => board.own).player : picture.target);

function showRivals(rivals, target, shown) {
  find("rivals").hidden = !shown || rivals.length < 2;
  fill(find("rivals"), JSON.stringify([target, rivals.map((board) => [board.player, board.heading])]), () =>
    rivals.map(({ player, heading }) => {
      const button = make("button", heading.endsWith("defeated") ? "out" : "", plain(player));
      button.type = "button";
      button.setAttribute("aria-pressed", player === target);
      button.addEventListener("click", () => act({ act: `aim ${player}` }));
      return button;
    }),
  );
}

function showSide() {
  for (const name of ["own", "target"]) {
    find(name).classList.toggle("shown", side === name);
    find("switch").querySelector(`[data-side=${name}]`).setAttribute("aria-pressed", side === name);
  }
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

function showNews({ news, chat }) {
  const list = find("news").querySelector("ol");
  if (fill(list, JSON.stringify(news), () => news.map((line) => make("li", "", plain(line))))) list.scrollTop = list.scrollHeight;
  find("chat").hidden = !chat;
}

const step = ({ ships: all, setting, deleting }) => (setting || deleting ? "" : JSON.stringify(all.map(({ at, down }) => [at, down])));

// The element with the focus has been redrawn: focus it again, or else the next step.
function refocus(word, mode) {
  const again = word && find("actions").querySelector(`[data-word="${word}"][aria-disabled=false]`);
  if (again) again.focus({ preventScroll: true });
  else if (mode === "Setup") ships.focus();
  else sides.target?.cells.focus();
}

// What the person is at has changed: the focus goes where its next step is, unless it is writing.
function changed({ mode, boards, left_ms: left }) {
  side = mode === "Shoot" || mode === "End" ? "target" : "own";
  showSide();
  const seconds = left === null ? "" : `, ${Math.round(left / 1000)} seconds`;
  say(find("call"), mode === "Shoot" ? `your turn${seconds}` : mode === "End" ? "the game is over" : "");
  if (document.activeElement?.closest("#chat")) return;
  if (mode === "Shoot") sides.target?.cells.focus();
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
  const seconds = ends ? Math.max(0, Math.round((ends - Date.now()) / 1000)) : 0;
  clock.hidden = !ends && !picture.turn;
  say(clock, [plain(picture.turn), ends ? `${seconds} s left` : ""].filter(Boolean).join(", "));
  clock.classList.toggle("short", Boolean(ends) && seconds <= 10);
  const mine = picture.mode === "Shoot" && ends && seconds <= FEW_SECONDS;
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
  toGrid: () => sides.own.cells.focus(),
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
find("switch").addEventListener("click", ({ target }) => {
  side = target.dataset.side || side;
  showSide();
});
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
