// Grids, fleets and rulesets. Cells count from 0, row by row; people and messages count columns and rows from 1.

import { SalvoError, WireError } from "./errors.js";
import { generator, Random } from "./random.js";
import * as shape from "./shape.js";
import { namesOf } from "./strictJson.js";

const MAX_SIDE = 26;
const MAX_SHIPS = 26;
const MAX_TRIES = 100_000;
const MAX_TRIALS = 20_000;
const ROWS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/** @typedef {"HORIZONTAL" | "VERTICAL"} Orientation */

/**
 * A ship's place; x and y are its smallest column and row, from 1.
 *
 * @typedef {{ship: string, x: number, y: number, orientation: Orientation}} Placement
 */

/** @typedef {{placement: Placement, cells: number[], forbidden: number[]}} Choice one place of a ship on an empty grid */

/** A board's shape and the ways to name a cell. */
export class Grid {
  /** @param {number} width @param {number} height */
  constructor(width = 10, height = 10) {
    if (Math.min(width, height) < 1 || Math.max(width, height) > MAX_SIDE) {
      throw new WireError("wrong_shape", `a grid is 1..${MAX_SIDE} cells wide and high, not ${width} x ${height}`);
    }
    this.width = width;
    this.height = height;
    /** Number of cells. */
    this.size = width * height;
  }

  /** Return the cell of a column and row, both from 1. @param {number} x @param {number} y */
  cell(x, y) {
    if (Number.isInteger(x) && Number.isInteger(y) && x >= 1 && x <= this.width && y >= 1 && y <= this.height) {
      return (y - 1) * this.width + x - 1;
    }
    const allowed = `x is 1..${this.width} and y is 1..${this.height}, counted from 1`;
    throw new SalvoError("off_grid", `x=${x}, y=${y} is off the grid; ${allowed}`);
  }

  /** Return column and row of a cell, both from 1. @param {number} cell @returns {[number, number]} */
  xy(cell) {
    return [(cell % this.width) + 1, Math.floor(cell / this.width) + 1];
  }

  /** Return the name of a column and row: `B3` for 3 and 2. @param {number} x @param {number} y */
  nameAt(x, y) {
    return `${ROWS[y - 1]}${x}`;
  }

  /** Return column and row of a name: `[3, 2]` for `B3`. @param {string} name @returns {[number, number]} */
  at(name) {
    const y = ROWS.indexOf(name.slice(0, 1).toUpperCase()) + 1;
    const column = name.slice(1);
    if (name !== "" && y >= 1 && y <= this.height && /^[1-9][0-9]?$/.test(column) && Number(column) <= this.width) {
      return [Number(column), y];
    }
    const last = this.nameAt(this.width, this.height);
    throw new SalvoError("off_grid", `no cell "${name.slice(0, 40)}"; cells are A1 to ${last}, the row's letter first`);
  }

  /** Return the cells of a ship. @param {Placement} placement @param {number} length */
  cellsOf({ ship, x, y, orientation }, length) {
    const first = this.cell(x, y);
    const lies = orientation === "HORIZONTAL";
    if ((lies ? x : y) + length - 1 > (lies ? this.width : this.height)) {
      throw new SalvoError("off_grid", `${ship} at x=${x}, y=${y} ${orientation} leaves the grid`);
    }
    return Array.from({ length }, (_, part) => first + part * (lies ? 1 : this.width));
  }

  /** Return the cells next to a cell, and the cell itself. @param {number} cell @param {string} spacing */
  around(cell, spacing) {
    const [x, y] = this.xy(cell);
    const near = (/** @type {number} */ dx, /** @type {number} */ dy) => spacing === "apart" || dx === 0 || dy === 0;
    const found = [];
    for (let dy = -1; dy <= 1; dy++) {
      for (let dx = -1; dx <= 1; dx++) {
        const inside = x + dx >= 1 && x + dx <= this.width && y + dy >= 1 && y + dy <= this.height;
        if (inside && near(dx, dy)) found.push(cell + dy * this.width + dx);
      }
    }
    return found;
  }
}

const BOOK = {
  rules: shape.text,
  width: shape.count,
  height: shape.count,
  first: shape.count,
  fleet: shape.record(shape.count),
  spacing: shape.oneOf("touch", "no_common_edge", "apart"),
  shots: shape.oneOf("afloat", "one", "until_miss"),
  order: shape.oneOf("rotation", "streak", "rounds"),
  announce: shape.oneOf("count", "each_shot", "cells"),
  ending: shape.oneOf("last_afloat", "goal"),
  starter: shape.oneOf("random", "first", "alternating"),
  sinkings: shape.optional(shape.oneOf("told", "untold"), /** @type {const} */ ("told")),
  targets: shape.optional(shape.oneOf("everybody", "others"), /** @type {const} */ ("everybody")),
  repeats: shape.optional(shape.oneOf("hit", "miss", "refused"), /** @type {const} */ ("hit")),
  goal: shape.optional(shape.count, null),
  reveal: shape.optional(shape.flag, false),
  skipping: shape.optional(shape.flag, false),
};
const readBook = shape.object(BOOK);

/** A ruleset: `/game/rules` without the table's times (SALVO-BOOK-1). */
export class RuleBook {
  /** @type {Choice[][] | null} */
  #choices = null;

  /**
   * @param {any} said the ruleset as JSON
   * @throws {WireError} `wrong_shape`: it cannot be played
   */
  constructor(said) {
    const { rules, width, height, first: _, fleet, ...book } = readBook(said, "");
    this.name = rules;
    this.grid = new Grid(width, height);
    /** The ships that every player places. */
    this.fleet = namesOf(said.fleet).map((name) => ({ name, length: fleet[name] }));
    this.spacing = book.spacing;
    this.shots = book.shots;
    this.order = book.order;
    this.announce = book.announce;
    this.ending = book.ending;
    this.starter = book.starter;
    this.sinkings = book.sinkings;
    this.targets = book.targets;
    this.repeats = book.repeats;
    this.reveal = book.reveal;
    this.skipping = book.skipping;
    const cells = this.fleet.reduce((sum, ship) => sum + ship.length, 0);
    /** Points that end a game, where there are points; else null. */
    this.goal = book.ending === "goal" ? (book.goal ?? cells) : book.goal;
    this.#check(cells);
  }

  /** @param {number} cells of a fleet */
  #check(cells) {
    const { fleet, grid } = this;
    const longest = Math.max(grid.width, grid.height);
    this.#need(fleet.length >= 1 && fleet.length <= MAX_SHIPS, `a fleet has 1..${MAX_SHIPS} ships`);
    for (const { name, length } of fleet) {
      this.#need(/^[a-z0-9]{1,32}$/.test(name), `"${name.slice(0, 40)}" is not a ship's name: 1..32 of a-z 0-9`);
      this.#need(length >= 1 && length <= longest, `${name} is ${length} cells long, 1..${longest} fit`);
    }
    this.#need(cells <= grid.size, `a fleet of ${cells} cells; the grid has ${grid.size}`);
    const points = this.ending === "goal";
    this.#need(points ? this.goal !== null && this.goal >= 1 && this.goal <= cells : this.goal === null, "the goal does not fit");
    this.#need(!points || (this.order === "rotation" && this.shots === "one" && this.repeats !== "hit"), "ending goal needs equal turns");
    this.#need(this.order !== "streak" || this.shots === "one", "with order streak, every shot is a turn");
    this.#need(this.order !== "rounds" || this.shots !== "until_miss", "with order rounds, shots is afloat or one");
    this.#need(this.repeats !== "refused" || (this.announce === "cells" && this.order !== "rounds"), "repeats refused needs announce cells");
    this.#checkRoom();
  }

  /** @param {boolean} holds @param {string} text */
  #need(holds, text) {
    if (!holds) throw new WireError("wrong_shape", `rules this SDK cannot play: ${text}`);
  }

  /** Refuse a fleet that is hardly ever drawn legally. */
  #checkRoom() {
    const random = generator("room");
    const byLength = this.choices.toSorted((one, other) => other[0]?.cells.length - one[0]?.cells.length);
    this.#need(byLength.every((choices) => choices.length > 0) && draw(byLength, random, MAX_TRIALS) !== null,
      `none of ${MAX_TRIALS} fleets drawn at random fits on the grid`);
  }

  /** Every place of each ship on an empty grid, in the order of the fleet. @returns {Choice[][]} */
  get choices() {
    this.#choices ??= this.fleet.map(({ name, length }) => placesOf(this, name, length));
    return this.#choices;
  }

  /** Return a random fleet, each legal layout with the same chance. @param {Random} random */
  randomFleet(random) {
    const layout = draw(this.choices, random, MAX_TRIES);
    if (layout === null) throw new SalvoError("bad_rules", `no legal fleet found in ${MAX_TRIES} tries`);
    return new Fleet(this, layout.map((choice) => choice.placement));
  }
}

/**
 * Draw each ship evenly on the empty grid, and begin again when two collide: ship by ship around the others would
 * favour some layouts.
 *
 * @param {Choice[][]} ships
 * @param {Random} random
 * @param {number} tries
 * @returns {Choice[] | null}
 */
function draw(ships, random, tries) {
  for (let attempt = 0; attempt < tries; attempt++) {
    const taken = new Set();
    const layout = [];
    for (const choices of ships) {
      const choice = choices[random.below(choices.length)];
      if (choice.cells.some((cell) => taken.has(cell))) break;
      choice.forbidden.forEach((cell) => taken.add(cell));
      layout.push(choice);
    }
    if (layout.length === ships.length) return layout;
  }
  return null;
}

/** @param {RuleBook} book @param {string} ship @param {number} length @returns {Choice[]} */
function placesOf({ grid, spacing }, ship, length) {
  const found = [];
  for (const orientation of /** @type {Orientation[]} */ (length === 1 ? ["HORIZONTAL"] : ["HORIZONTAL", "VERTICAL"])) {
    const lies = orientation === "HORIZONTAL";
    for (let y = 1; y <= (lies ? grid.height : grid.height - length + 1); y++) {
      for (let x = 1; x <= (lies ? grid.width - length + 1 : grid.width); x++) {
        const placement = { ship, x, y, orientation };
        const cells = grid.cellsOf(placement, length);
        const forbidden = spacing === "touch" ? cells : [...new Set(cells.flatMap((cell) => grid.around(cell, spacing)))];
        found.push({ placement, cells, forbidden });
      }
    }
  }
  return found;
}

/** A complete and legal fleet of one player. */
export class Fleet {
  /**
   * @param {RuleBook} book
   * @param {Placement[]} placements in any order
   * @throws {SalvoError} `fleet_incomplete`, `off_grid`, `overlap` or `too_close`
   */
  constructor(book, placements) {
    const given = placements.map((placement) => placement.ship);
    const names = book.fleet.map((ship) => ship.name);
    if (given.toSorted().join() !== names.toSorted().join()) {
      throw new SalvoError("fleet_incomplete", `a fleet is each of ${names.join(", ")} once, not ${given.join(", ")}`);
    }
    this.book = book;
    /** One for each ship, in the order of the rules. */
    this.placements = placements.map(({ ship, x, y, orientation }) => ({ ship, x, y, orientation })).toSorted((one, other) => names.indexOf(one.ship) - names.indexOf(other.ship));
    const cells = this.placements.map((placement, ship) => book.grid.cellsOf(placement, book.fleet[ship].length));
    /** The occupied cells, ship by ship. */
    this.cells = cells.flat();
    this.#checkDistances(cells);
  }

  /** @param {number[][]} cells by ship */
  #checkDistances(cells) {
    const { grid, spacing } = this.book;
    cells.forEach((own, ship) => {
      const others = cells.slice(0, ship).flat();
      const { ship: name } = this.placements[ship];
      if (own.some((cell) => others.includes(cell))) throw new SalvoError("overlap", `${name} overlaps another ship`);
      const near = spacing === "touch" ? [] : own.flatMap((cell) => grid.around(cell, spacing));
      if (near.some((cell) => others.includes(cell))) {
        throw new SalvoError("too_close", `${name} is too close to another ship; spacing is ${spacing}`);
      }
    });
  }

  /** The whole board, a number for each cell: 0 for water, else the ship's number in the rules plus 1. */
  get board() {
    const board = new Uint8Array(this.book.grid.size);
    this.placements.forEach((placement, ship) => {
      for (const cell of this.book.grid.cellsOf(placement, this.book.fleet[ship].length)) board[cell] = ship + 1;
    });
    return board;
  }
}
