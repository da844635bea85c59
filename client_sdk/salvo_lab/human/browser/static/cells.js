// The squares of a board, above its drawing: what is clicked, has the focus, and is read out. One of them is reached by
// Tab; arrows, a row's capital letter and a column's digits lead to the others.

import { MARGIN } from "./boards.js";
import { make } from "./dom.js";

const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const upper = (letter) => letter >= "A" && letter <= "Z";
const lower = (letter) => letter >= "a" && letter <= "z";

export class Cells {
  #cells = [];
  #at = 0;
  #digits = "";
  #touched = false;
  #clicked = -1;

  constructor(width, height, { click, label }) {
    [this.width, this.height] = [width, height];
    this.element = make("div", "cells");
    this.element.setAttribute("role", "grid");
    this.element.setAttribute("aria-labelledby", label);
    this.element.style.setProperty("--left", `${(MARGIN / (width * 10 + MARGIN)) * 100}%`);
    this.element.style.setProperty("--top", `${(MARGIN / (height * 10 + MARGIN)) * 100}%`);
    this.element.style.gridTemplateColumns = `repeat(${width}, 1fr)`;
    for (let y = 0; y < height; y += 1) {
      const row = make("div");
      row.setAttribute("role", "row");
      for (let x = 0; x < width; x += 1) row.append(this.#make(y * width + x));
      this.element.append(row);
    }
    this.#cells[0].tabIndex = 0;
    this.element.addEventListener("pointerdown", (event) => (this.#touched = event.pointerType === "touch"));
    this.element.addEventListener("click", (event) => {
      const cell = this.at(event.target);
      const twice = event.detail > 1 && cell === this.#clicked; // the second half of a double click
      this.#clicked = cell;
      if (cell === null || twice) return;
      this.#go(cell);
      click(cell, !this.#touched); // a finger marks, and Fire fires: it may not have been meant
    });
    this.element.addEventListener("keydown", (event) => this.#press(event, click));
  }

  #make(cell) {
    const element = make("div", "cell");
    element.setAttribute("role", "gridcell");
    element.tabIndex = -1;
    element.dataset.cell = cell;
    this.#cells.push(element);
    return element;
  }

  at(element) {
    const found = element?.closest?.("[data-cell]");
    return found && this.element.contains(found) ? Number(found.dataset.cell) : null;
  }

  // The cell under a point of the window, also beyond the edge: as [x, y], from 0.
  under(clientX, clientY) {
    const box = this.element.getBoundingClientRect();
    return [Math.floor(((clientX - box.left) / box.width) * this.width), Math.floor(((clientY - box.top) / box.height) * this.height)];
  }

  name = (cell) => `${String.fromCharCode(65 + Math.floor(cell / this.width))}${(cell % this.width) + 1}`;

  focus() {
    this.#cells[this.#at].focus({ preventScroll: true });
  }

  get focused() {
    return this.#at;
  }

  // `words` returns what is known of a square that was fired at.
  show(board, setup, words) {
    const labels = setup ? setup.ships.map((ship) => ship.label) : board.named || board.own ? board.fleet.map(([label]) => label) : [];
    this.#cells.forEach((element, cell) => {
      element.classList.toggle("ship-here", Boolean(setup) && lower(board.cells[cell]));
      const said = [this.name(cell), board.fired.includes(cell) ? words(cell) : wordsOf(board, cell, labels)];
      if (board.aimed.includes(cell)) said.push("chosen");
      if (board.offered.includes(cell)) said.push("possible other end");
      const label = said.filter(Boolean).join(", ");
      if (element.getAttribute("aria-label") !== label) element.setAttribute("aria-label", label);
    });
  }

  #go(cell) {
    this.#cells[this.#at].tabIndex = -1;
    this.#at = cell;
    this.#cells[cell].tabIndex = 0;
  }

  #press(event, click) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const [x, y] = [this.#at % this.width, Math.floor(this.#at / this.width)];
    if (key in ARROWS) {
      const [dx, dy] = ARROWS[key];
      this.#move((x + dx + this.width) % this.width, (y + dy + this.height) % this.height);
    } else if (key.length === 1 && upper(key) && key.charCodeAt(0) - 65 < this.height) this.#move(x, key.charCodeAt(0) - 65);
    else if (/^[0-9]$/.test(key)) return this.#type(key, y, event);
    else if (key === "Enter" || key === " ") {
      if (!event.repeat) click(this.#at, key === "Enter");
    } else return;
    this.#digits = "";
    this.#taken(event);
  }

  // A digit is the second one of a column where there is such a column, else the first one.
  #type(digit, y, event) {
    for (const digits of [this.#digits + digit, digit]) {
      if (Number(digits) < 1 || Number(digits) > this.width) continue;
      this.#move(Number(digits) - 1, y);
      this.#digits = digits;
      break;
    }
    this.#taken(event);
  }

  #move(x, y) {
    this.#go(y * this.width + x);
    this.focus();
    this.#cells[this.#at].scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  // What is a square's key is not a command.
  #taken(event) {
    event.preventDefault();
    event.stopPropagation();
  }
}

function wordsOf(board, cell, labels) {
  const letter = board.cells[cell];
  if (letter === "*") return "missed";
  if (letter === "!") return "hit";
  const label = labels[letter.toLowerCase().charCodeAt(0) - 97];
  if (upper(letter)) return label ? `${label}, hit` : "ship sunk";
  if (lower(letter)) return label || "end of a ship";
  return board.own || board.named ? "water" : "not shot at";
}
