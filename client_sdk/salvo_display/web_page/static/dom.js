// What every page builds with. What others wrote only ever becomes the text of a node.

const SVG = "http://www.w3.org/2000/svg";
const MAX_TEXT = 300;

export const find = (id) => document.getElementById(id);

// Without what steers: control characters, and those that turn the direction of writing.
export const plain = (text) =>
  [...String(text).replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")]
    .slice(0, MAX_TEXT)
    .join("");

export function make(tag, name = "", ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children);
  return element;
}

export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const WHOLE = 8; // letters of a name that has one part
const TAIL = 3;

// Writes a team's name as others wrote it. Where it has no room it is shortened in the middle, since `web-server-17` and `web-server-18` differ at
// the end: the style draws both parts, and the name is there in one piece to be read aloud and copied.
export function sayName(element, name) {
  const whole = plain(name);
  if (element.textContent === whole) return;
  const letters = [...whole];
  const long = letters.length > WHOLE;
  element.style.setProperty("--letters", letters.length); // by which a style can make long names smaller
  element.dataset.tail = long ? letters.splice(-TAIL).join("") : "";
  element.dataset.start = long ? letters.join("") : "";
  element.classList.toggle("long", long);
  element.replaceChildren(long ? make("span", "heard", whole) : whole);
}

// A team's name, apart from the direction of what is around it.
export function nameOf(name) {
  const element = make("bdi", "name");
  sayName(element, name);
  return element;
}

const number = (value) => (Number.isInteger(value) && value >= 0 && value < 12 ? value : 0);
export const colourOf = (team) => `c${number(team.colour)}`;
export const badge = (team) =>
  draw("svg", { class: `badge ${colourOf(team)}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("use", { href: `#e${number(team.emblem)}` }));

export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function show(element, is) {
  if (element.hidden === is) element.hidden = !is;
}

// Replaces what is in an element if it is another than before; `key` says which.
export function fill(element, key, children) {
  if (element.dataset.key === key) return false;
  element.dataset.key = key;
  element.replaceChildren(...children());
  return true;
}

const SMALLEST = 0.55;

// The largest type in which a line has room in its element; where that would be too small, its names are shortened, too.
export function fit(line) {
  line.style.fontSize = "";
  line.classList.remove("tight");
  if (getComputedStyle(line).whiteSpace !== "nowrap") return;
  const size = parseFloat(getComputedStyle(line).fontSize);
  let fits = size;
  // Again, since a name that is wider than its line is measured as if it were as wide.
  while (line.scrollWidth > line.clientWidth && fits > size * SMALLEST) {
    fits = Math.max(size * SMALLEST, (fits * line.clientWidth * 0.985) / line.scrollWidth);
    line.style.fontSize = `${fits}px`;
  }
  line.classList.toggle("tight", line.scrollWidth > line.clientWidth);
}

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
export const listed = (names) => (names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join(""));
export function titleOf(table) {
  const [name, cell] = table.split("@");
  return `${name ? `Table ${plain(name)}` : "Main table"}${cell ? ` at ${plain(cell)}` : ""}`;
}

const order = new Intl.Collator("en", { numeric: true });
export const byName = (a, b) => order.compare(a, b);

// A choice of this visitor's, where the browser keeps any.
export function kept(key) {
  try {
    return localStorage.getItem(`salvo-${key}`) || "";
  } catch {
    return "";
  }
}

export function keep(key, value) {
  try {
    localStorage.setItem(`salvo-${key}`, value);
  } catch {
    // then it holds until the page is left
  }
}

function turnTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  keep("theme", root.dataset.theme);
}

const keys = new Map();

// Does something at a key, and at its button if there is one.
export function atKey(key, button, what) {
  keys.set(key, what);
  button?.addEventListener("click", what);
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const what = keys.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
  if (!what || (event.target.closest("[role=tablist]") && event.key.startsWith("Arrow"))) return;
  what();
  event.preventDefault();
});

atKey("t", find("theme"), turnTheme);
