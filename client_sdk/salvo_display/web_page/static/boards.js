// A board as SVG, 10 units a cell. It is built once; each kind of mark is one path, whose data changes.

import { draw, still } from "./dom.js";

const CELL = 10;
export const MARGIN = 9; // around a board that is labelled
const isHit = (cell) => cell === "!" || (cell >= "A" && cell <= "Z");
const isShip = (cell) => cell >= "a" && cell <= "z";

// One letter a cell, whatever the board is: "." water, "*" miss, "?" shot at and not told, "!" hit on what is not known, a ship's letter, upper-case where hit.
export function cellsOf(player) {
  if (!player.board) return null;
  const cells = player.board.join("");
  return player.marks ? cells.replace(/X/g, "!").replace(/0/g, "*") : cells;
}

function grid(width, height) {
  const lines = [];
  for (let x = 1; x < width; x += 1) lines.push(`M${x * CELL} 0V${height * CELL}`);
  for (let y = 1; y < height; y += 1) lines.push(`M0 ${y * CELL}H${width * CELL}`);
  return lines.join("");
}

function labels(width, height) {
  const group = draw("g", { class: "labels" });
  const put = (x, y, text) => group.append(draw("text", { x, y }, text));
  for (let x = 0; x < width; x += 1) put(x * CELL + 5, -2.4, String(x + 1));
  for (let y = 0; y < height; y += 1) put(-4.4, y * CELL + 7, String.fromCharCode(65 + y));
  return group;
}

export class Board {
  #parts = {};
  #cells = "";

  constructor({ width, height }, labelled) {
    const margin = labelled ? MARGIN : 0;
    const box = `${-margin} ${-margin} ${width * CELL + margin} ${height * CELL + margin}`;
    this.width = width;
    this.element = draw("svg", { class: "board", viewBox: box, role: "img" });
    this.element.append(draw("rect", { class: "water", width: width * CELL, height: height * CELL, rx: 2 }));
    for (const name of ["ships", "rings", "wrecks", "hits", "crosses", "misses", "unknown", "grid", "halo", "latest"])
      this.element.append((this.#parts[name] = draw("path", { class: name })));
    this.#parts.grid.setAttribute("d", grid(width, height));
    this.signs = this.element.appendChild(draw("g", {}));
    this.effects = this.element.appendChild(draw("g", {}));
    if (labelled) this.element.append(labels(width, height));
  }

  // Shows cells, see cellsOf; `aims` are those of the last salvo here, as [x, y].
  show(cells, aims = []) {
    const latest = aims.map(([x, y]) => `M${(x - 1) * CELL + 0.7} ${(y - 1) * CELL + 0.7}h8.6v8.6h-8.6z`).join("");
    this.#set("halo", latest);
    this.#set("latest", latest);
    if (cells === this.#cells) return;
    this.#cells = cells;
    const found = { hits: "", crosses: "", misses: "", unknown: "" };
    const ships = new Map();
    for (let index = 0; index < cells.length; index += 1) {
      const cell = cells[index];
      if (cell === ".") continue;
      const x = (index % this.width) * CELL;
      const y = Math.floor(index / this.width) * CELL;
      if (cell === "*") found.misses += `M${x + 5} ${y + 5}h0`;
      else if (cell === "?") found.unknown += `M${x + 5} ${y + 2.6}l2.4 2.4l-2.4 2.4l-2.4-2.4z`;
      else if (isHit(cell)) {
        found.hits += `M${x + 5} ${y + 5}h0`;
        found.crosses += `M${x + 3} ${y + 3}l4 4m0-4l-4 4`;
      }
      if (isHit(cell) || isShip(cell)) {
        const letter = cell.toLowerCase();
        if (letter !== "!") (ships.get(letter) || ships.set(letter, []).get(letter)).push(index);
      }
    }
    let afloat = "";
    let sunk = "";
    for (const at of ships.values()) {
      if (at.some((index) => isShip(cells[index]))) afloat += this.#hull(at);
      else sunk += this.#hull(at);
    }
    for (const [name, data] of Object.entries({ ...found, ships: afloat, rings: sunk, wrecks: sunk })) this.#set(name, data);
  }

  // Puts signs on cells, each as [cell, class, letter].
  sign(signs) {
    this.signs.replaceChildren(...signs.map(([cell, kind, letter]) => {
      const [x, y] = this.#centre(cell);
      const disc = draw("rect", { x: -4, y: -4, width: 8, height: 8, rx: 4 });
      return draw("g", { class: `sign ${kind}`, transform: `translate(${x} ${y})` }, disc, draw("text", { y: 2.2 }, letter));
    }));
  }

  #set(name, data) {
    if (this.#parts[name].getAttribute("d") !== data) this.#parts[name].setAttribute("d", data);
  }

  #centre(index) {
    return [(index % this.width) * CELL + 5, Math.floor(index / this.width) * CELL + 5];
  }

  // A line through a ship's cells; one by one where they are in no row, as of ships that share a letter.
  #hull(at) {
    const step = at.length > 1 ? at[1] - at[0] : 1;
    const straight = (step === 1 || step === this.width) && at.every((index, place) => index === at[0] + place * step);
    const ends = straight ? [[at[0], at.at(-1)]] : at.map((index) => [index, index]);
    return ends.map(([from, to]) => `M${this.#centre(from).join(" ")}L${this.#centre(to).join(" ")}`).join("");
  }

  // Where the middle of a cell is on the screen.
  point(x, y) {
    return new DOMPoint(x * CELL - 5, y * CELL - 5).matrixTransform(this.element.getScreenCTM());
  }

  // The cell under a point of the screen, as [x, y]; undefined beside the board.
  at(clientX, clientY) {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(this.element.getScreenCTM().inverse());
    const [column, row] = [Math.floor(x / CELL) + 1, Math.floor(y / CELL) + 1];
    return column > 0 && column <= this.width && row > 0 && row <= this.#cells.length / this.width ? [column, row] : undefined;
  }

  // A shot falls: the cell is as in `after` from now on. What it does is drawn so many times slower than usual.
  strike(x, y, after, slower = 1) {
    const index = (y - 1) * this.width + x - 1;
    const before = this.#cells;
    if (index < 0 || index >= before.length) return;
    this.show(before.slice(0, index) + after[index] + before.slice(index + 1), []);
    if (still()) return;
    const hit = isHit(after[index]);
    const [cx, cy] = this.#centre(index);
    const ring = draw("circle", { class: hit ? "blast" : "splash", cx, cy, r: 5 });
    this.#effect(ring, [{ transform: "scale(.3)", opacity: 1 }, { transform: hit ? "scale(3.2)" : "scale(1.9)", opacity: 0 }], 420 * slower);
    const letter = after[index];
    if (hit && letter !== "!" && !this.#cells.includes(letter.toLowerCase()) && before.includes(letter.toLowerCase())) this.#break(letter, slower);
  }

  // A ship breaks in two and goes down.
  #break(letter, slower) {
    const at = [...this.#cells].flatMap((cell, index) => (cell === letter ? [index] : []));
    const middle = Math.ceil(at.length / 2);
    for (const [half, turn] of [[at.slice(0, middle), -1], [at.slice(middle), 1]]) {
      if (!half.length) continue;
      const part = draw("path", { class: "breaking", d: this.#hull(half) });
      const down = { transform: `translate(${turn * 2}px, 6px) rotate(${turn * 24}deg) scale(.7)`, opacity: 0 };
      this.#effect(part, [{ transform: "none", opacity: 1 }, { transform: `rotate(${turn * 12}deg)`, opacity: 1, offset: 0.35 }, down], 600 * slower);
    }
  }

  #effect(element, frames, duration) {
    this.effects.append(element);
    element.animate(frames, { duration, easing: "ease-out" }).finished.then(() => element.remove(), () => {});
  }

  // What still moves ends at once.
  settle() {
    this.effects.replaceChildren();
  }
}
