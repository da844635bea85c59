// A team on the page: who it is, its board if there is one, its ships and figures. The same for large boards, small ones and rows.

import { Board, cellsOf } from "./boards.js";
import { badge, colourOf, counted, draw, fill, make, plain, say, sayName, still } from "./dom.js";

const OUT = { sunk: "sunk", silent: "out", removed: "removed" };
const part = (name, ...children) => make("span", name, ...children);

export class Tile {
  #bar = part("race", make("i"));
  #name = make("bdi", "name");
  #tag = part("tag");
  #place = part("place");
  #ships = make("ul", "ships");
  #figures = make("p", "figures");
  #star = make("button", "star", draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("use", { href: "#e1" })));
  #more = make("button", "more");
  #head = make("header", "", part("emblem"), this.#place, this.#name, this.#tag, this.#star, this.#more);
  #sea = make("div", "sea");
  board = null;
  name = "";

  constructor(large, onFollow) {
    this.large = large;
    this.element = make("article", "tile", this.#head, make("div", "body", this.#sea, make("div", "told", this.#ships, this.#bar, this.#figures)));
    this.#star.type = this.#more.type = "button";
    this.#star.addEventListener("click", () => onFollow(this.name));
    this.#more.addEventListener("click", () => this.#open(!this.element.classList.contains("open")));
    this.#open(false);
  }

  #open(open) {
    this.element.classList.toggle("open", open);
    this.#more.setAttribute("aria-expanded", open);
    this.#more.setAttribute("aria-label", `Board of ${plain(this.name)}`);
  }

  // Draws a player of a picture, except for what is on its board.
  set(player, { rules, shooter, target, acting, followed, best, rank }) {
    if (this.name !== player.name) {
      this.name = player.name;
      this.#open(false);
    }
    const states = {
      large: this.large, out: player.out, won: player.won, acting: acting === player.name, shooter: shooter === player.name,
      target: target === player.name, followed, boarded: player.board !== null,
    };
    this.element.className = `tile ${colourOf(player)}`;
    for (const [state, is] of Object.entries(states)) this.element.classList.toggle(state, Boolean(is));
    this.element.classList.toggle("open", this.#more.getAttribute("aria-expanded") === "true");
    fill(this.#head.firstChild, `${player.colour}/${player.emblem}`, () => [badge(player)]);
    sayName(this.#name, player.name);
    say(this.#place, String(player.place || rank || ""));
    say(this.#tag, player.won ? "winner" : player.out ? OUT[player.fate] || "out" : states.shooter ? "fired" : states.target ? "target" : "");
    if (states.acting && !player.out) say(this.#tag, "to fire");
    this.#star.setAttribute("aria-pressed", Boolean(followed));
    this.#star.setAttribute("aria-label", `Follow ${plain(player.name)}`);
    this.#star.title = `Follow ${plain(player.name)}`;
    this.#tell(player, rules, best);
    this.#boardOf(player, rules);
  }

  #tell(player, rules, best) {
    const sunk = new Set(player.sunk);
    const told = rules.sinkings && player.sunk !== null;
    const afloat = rules.fleet.filter(([ship]) => !sunk.has(ship)).length;
    fill(this.#ships, JSON.stringify([told, rules.fleet, player.sunk]), () =>
      (told ? rules.fleet : []).map(([ship, length]) => {
        const pip = make("li", sunk.has(ship) ? `lost l${Math.min(length, 9)}` : `l${Math.min(length, 9)}`);
        pip.title = plain(ship);
        pip.append(part("heard", `${plain(ship)}${sunk.has(ship) ? " sunk" : ""}`));
        return pip;
      }),
    );
    const share = rules.goal ? (player.hits ?? 0) / rules.goal : best ? (player.hits ?? 0) / best : 0;
    this.#bar.hidden = player.hits === null || told; // where sinkings are announced, the ships show more
    this.#bar.firstChild.style.width = `${Math.min(100, share * 100)}%`;
    const words = told && !player.board ? [[`${afloat}/${rules.fleet.length}`, "afloat"]] : [];
    if (rules.goal && player.hits !== null) words.push([`${player.hits}/${rules.goal}`, "points"]);
    else if (player.hits !== null) words.push(player.shots === null ? [player.hits, "hits"] : [`${player.hits}/${player.shots}`, "own hits"]);
    if (player.shots) words.push([`${Math.round((100 * player.hits) / player.shots)} %`, ""]);
    fill(this.#figures, JSON.stringify(words), () => words.map(([number, word]) => part("", make("b", "", String(number)), word && ` ${word}`)));
    this.spoken = `Board of ${plain(player.name)}: ${told ? `${counted(afloat, "ship")} afloat` : "ships not told"}`;
  }

  #boardOf(player, rules) {
    const cells = cellsOf(player);
    const size = cells && `${rules.width}x${rules.height}`;
    if (!cells || cells.length !== rules.width * rules.height) {
      this.board = null;
      this.#sea.replaceChildren();
      return;
    }
    if (this.board?.size !== size) {
      this.board = new Board(rules, this.large);
      this.board.size = size;
      this.#sea.style.aspectRatio = `${rules.width} / ${rules.height}`;
      this.#sea.replaceChildren(this.board.element);
    }
    this.board.element.setAttribute("aria-label", this.spoken);
  }

  shake() {
    if (still()) return;
    const moves = [0, -5, 4, -3, 2, 0].map((x) => ({ transform: `translateX(${x}px)` }));
    this.element.animate(moves, { duration: 260 });
  }

  get seen() {
    return this.board !== null && this.board.element.getClientRects().length > 0;
  }

  // Where shots come from.
  get muzzle() {
    const { left, top, width, height } = (this.seen ? this.#sea : this.element).getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  }
}
