// The ships of the set-up: a list from which one is chosen, or dragged to the grid; those on the grid are dragged, too.

import { fill, make } from "./dom.js";

const FAR = 6; // pixels that make a click a drag
const TURNING = "R, the wheel or a second finger turns it on the way.";
const TO_PLACE = `Choose a ship, then one end of it on the grid, then a green square for the other end. Or drag it to the grid: ${TURNING}`;
const TO_GO_ON = `A ship can still be dragged elsewhere: ${TURNING} Done begins the game.`;

export class Ships {
  #setup = null;
  #cells = null;
  #drag = null;

  constructor(element, { choose, put, refuse, toGrid, preview }) {
    [this.element, this.doChoose, this.doPut, this.refuse, this.toGrid, this.preview] = [element, choose, put, refuse, toGrid, preview];
    this.list = element.querySelector("ul");
    this.list.addEventListener("pointerdown", (event) => this.#lift(event, event.target.closest("[data-ship]")?.dataset.ship, 0));
    this.list.addEventListener("click", (event) => {
      const button = event.target.closest("[data-ship]");
      if (!button || button.getAttribute("aria-disabled") === "true") return;
      choose(button.dataset.ship);
      if (event.detail === 0) toGrid(); // by a key, which goes on in the grid
    });
    addEventListener("pointermove", (event) => this.#move(event));
    addEventListener("pointerup", (event) => this.#drop(event));
    addEventListener("pointercancel", () => this.#end());
    addEventListener("pointerdown", (event) => this.#drag?.moved && event.pointerId !== this.#drag.id && this.#turn(), true);
    addEventListener("wheel", (event) => {
      if (!this.#drag?.moved) return;
      this.#turn();
      event.preventDefault();
    }, { passive: false });
    // The click that ends a drag is none.
    addEventListener("click", (event) => {
      if (!this.dropped) return;
      this.dropped = false;
      event.stopPropagation();
      event.preventDefault();
    }, true);
  }

  over(cells) {
    this.#cells = cells;
    cells.element.addEventListener("pointerdown", (event) => {
      const cell = cells.at(event.target);
      if (cell === null || !this.#setup || this.#busy) return;
      const ship = this.#setup.ships.find((one) => one.at !== null && this.#cellsOf(one, one.at, one.down).includes(cell));
      if (ship) this.#lift(event, ship.name, this.#cellsOf(ship, ship.at, ship.down).indexOf(cell));
    });
  }

  get #busy() {
    return Boolean(this.#setup.setting || this.#setup.deleting);
  }

  show(setup) {
    this.#setup = setup;
    if (!setup) return this.#end();
    const missing = setup.ships.filter((ship) => ship.at === null);
    const state = JSON.stringify([missing.map((ship) => ship.name), setup.setting, setup.deleting]);
    this.element.querySelector("h2").textContent = missing.length ? "Ships to place" : "All ships are placed";
    this.element.querySelector(".hint").textContent = missing.length ? TO_PLACE : TO_GO_ON;
    fill(this.list, state, () => missing.map((ship, place) => this.#item(ship, place + 1)));
  }

  #item(ship, number) {
    const button = make("button", "", make("kbd", "", String(number)), hull(ship.length), `${ship.label} (${ship.length})`);
    button.type = "button";
    button.dataset.ship = ship.name;
    const { setting, deleting } = this.#setup;
    button.setAttribute("aria-pressed", setting === ship.name);
    button.setAttribute("aria-disabled", Boolean(deleting || (setting && setting !== ship.name)));
    return make("li", "", button);
  }

  // The focus is where the next step is: at the first ship, or at what ends the set-up.
  focus() {
    const next = this.list.querySelector("button") || document.querySelector("#actions [data-word=done]");
    if (this.#busy) this.toGrid();
    else next?.focus({ preventScroll: true });
  }

  choose(number) {
    if (this.#busy) return;
    const missing = this.#setup.ships.filter((ship) => ship.at === null);
    if (number > missing.length) return;
    this.doChoose(missing[number - 1].name);
    this.toGrid();
  }

  // A key while a ship is dragged: whether it was for that.
  press(key) {
    if (!this.#drag?.moved) return false;
    if (key === "Escape") this.#end();
    else if (key.toLowerCase() === "r") this.#turn();
    else return false;
    return true;
  }

  // --- dragging

  #cellsOf(ship, cell, down) {
    return Array.from({ length: ship.length }, (_, part) => cell + part * (down ? this.#cells.width : 1));
  }

  #lift(event, name, part) {
    if (!name || !this.#setup || this.#drag || event.button !== 0) return;
    const ship = this.#setup.ships.find((one) => one.name === name);
    if (this.#busy && this.#setup.setting !== name) return;
    this.#drag = { ship, part, id: event.pointerId, down: ship.down, from: [event.clientX, event.clientY], moved: false };
    if (event.target.hasPointerCapture?.(event.pointerId)) event.target.releasePointerCapture(event.pointerId);
  }

  #move(event) {
    const drag = this.#drag;
    if (!drag || event.pointerId !== drag.id || !this.#cells) return;
    drag.last = [event.clientX, event.clientY];
    if (!drag.moved && Math.hypot(drag.last[0] - drag.from[0], drag.last[1] - drag.from[1]) < FAR) return;
    drag.moved = true;
    document.body.classList.add("dragging");
    this.#preview();
  }

  #turn() {
    this.#drag.down = !this.#drag.down;
    this.#preview();
  }

  // Where the ship would lie: its anchor as [x, y], and the cells that are on the grid.
  #where() {
    const { ship, part, down, last } = this.#drag;
    const [x, y] = this.#cells.under(...last);
    const [left, top] = down ? [x, y - part] : [x - part, y];
    const parts = Array.from({ length: ship.length }, (_, step) => (down ? [left, top + step] : [left + step, top]));
    const { width, height } = this.#cells;
    const inside = parts.filter(([column, row]) => column >= 0 && column < width && row >= 0 && row < height);
    return { anchor: [left, top], cells: inside.map(([column, row]) => row * width + column), over: x >= 0 && x < width && y >= 0 && y < height };
  }

  #preview() {
    const { cells, over } = this.#where();
    const { ship } = this.#drag;
    const fits = cells.length === ship.length && cells.every((cell) => ship.room[cell] === "1");
    this.preview(over ? cells : [], fits);
  }

  #drop(event) {
    const drag = this.#drag;
    if (!drag || event.pointerId !== drag.id) return;
    if (drag.moved) {
      const { anchor: [x, y], cells, over } = this.#where();
      this.dropped = true;
      setTimeout(() => (this.dropped = false));
      if (over && cells.length < drag.ship.length) this.refuse(`${drag.ship.label} would leave the grid`);
      else if (over) this.doPut(drag.ship.name, y * this.#cells.width + x, drag.down);
    }
    this.#end();
  }

  #end() {
    this.#drag = null;
    this.preview([], true);
    document.body.classList.remove("dragging");
  }
}

function hull(length) {
  const element = make("span", "hull", ...Array.from({ length }, () => make("i")));
  element.setAttribute("aria-hidden", "true");
  return element;
}
