// The body of a function that looks at a page and returns what is wrong with it; geometry.py says what that may be.

const whole = new CSSStyleSheet(); // also what a browser leaves undrawn until somebody scrolls there
whole.replaceSync("* { content-visibility: visible !important; }");
document.adoptedStyleSheets = [whole];

const root = document.documentElement;
const found = [];
const styles = new Map();
const styleOf = (each) => styles.get(each) ?? styles.set(each, getComputedStyle(each)).get(each);
const stuck = [root, document.body].some((each) => /hidden|clip/.test(styleOf(each).overflowY));
const [wide, high] = [root.clientWidth, innerHeight];

function where(each) {
  const own = each.id ? "" : `${each.localName}${[...each.classList].filter((name) => !/^(c|long$|team$|l)\d*$/.test(name)).map((name) => `.${name}`).join("")}`;
  const home = each.closest("[id]:not([id=''])");
  const near = each.parentElement && each.parentElement !== home && each !== home ? [...each.parentElement.classList].filter((name) => !/^(c\d+|team|long)$/.test(name)).slice(0, 2).map((name) => `.${name}`).join("") : "";
  return [home && home !== each ? `#${home.id}` : "", near, each.id ? `#${each.id}` : own].filter(Boolean).join(" ");
}
const report = (what, each, words) => found.push({ what, where: where(each), words });
const quoted = (text) => `“${text.trim().replace(/\s+/g, " ").slice(0, 40)}”`;

function isSeen(each) {
  if (!each.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false;
  for (let one = each; one; one = one.parentElement) if (styleOf(one).clipPath !== "none") return false;
  return true;
}

const holds = (style) => style.position !== "static" || style.transform !== "none" || style.containerType !== "normal";

// The boxes that cut what is in an element, from the innermost on: by x, by y, and whether each can be scrolled.
const boxes = new Map();
function boxesOf(each) {
  if (boxes.has(each)) return boxes.get(each);
  const all = [];
  let out = ""; // of the boxes around: those that do not hold what has a position of its own do not cut it
  for (let one = each; one && one !== document.body && one !== root; one = one.parentElement) {
    const style = styleOf(one);
    if (out === "fixed" && style.transform === "none" && style.containerType === "normal") continue;
    if (out === "absolute" && !holds(style)) continue;
    out = ["fixed", "absolute"].includes(style.position) ? style.position : "";
    const [x, y] = [style.overflowX, style.overflowY];
    if ((x === "visible" && y === "visible") || style.display === "inline" || one instanceof SVGElement) continue;
    const { left, top } = one.getBoundingClientRect();
    const box = { left: left + one.clientLeft, top: top + one.clientTop };
    const cuts = (axis) => /hidden|clip/.test(axis);
    all.push({ one, ...box, right: box.left + one.clientWidth, bottom: box.top + one.clientHeight, x, y, cutsX: cuts(x), cutsY: cuts(y) });
  }
  return boxes.set(each, all).get(each);
}

function pinned(each) {
  for (let one = each; one; one = one.parentElement) if (/fixed|sticky/.test(styleOf(one).position)) return one;
  return null;
}

// --- texts -----------------------------------------------------------------------------------------------------------

const texts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, (node) => (node.data.trim() ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT));
const range = document.createRange();
const seen = new Map();
const isSeenOnce = (each) => seen.get(each) ?? seen.set(each, isSeen(each)).get(each);
while (walker.nextNode()) {
  const each = walker.currentNode.parentElement;
  if (["SCRIPT", "STYLE", "NOSCRIPT", "OPTION", "TEMPLATE"].includes(each.tagName) || !isSeenOnce(each)) continue;
  range.selectNodeContents(walker.currentNode);
  for (const rect of range.getClientRects()) if (rect.width > 1) texts.push({ each, words: walker.currentNode.data, rect });
}
const isOurs = (each) => getComputedStyle(each, "::before").content !== "none";
for (const each of document.querySelectorAll("[data-start]")) {
  if (each.dataset.start && isSeenOnce(each) && isOurs(each)) texts.push({ each, words: each.dataset.start + each.dataset.tail, rect: each.getBoundingClientRect(), name: true });
}

// What the eye sees of a line of letters: of their height without what only other letters have, so much.
for (const text of texts) {
  const size = parseFloat(styleOf(text.each).fontSize) * (text.each instanceof SVGElement ? text.each.getScreenCTM?.()?.a ?? 1 : 1);
  const middle = (text.rect.top + text.rect.bottom) / 2;
  Object.assign(text, { size, left: text.rect.left, right: text.rect.right, top: middle - 0.42 * size, bottom: middle + 0.4 * size });
}

const measuring = document.createElement("canvas").getContext("2d");
function lettersOf(each, words) {
  const { fontStyle, fontWeight, fontSize, fontFamily } = styleOf(each);
  measuring.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
  return measuring.measureText(words).width;
}
const isShort = (each) => {
  const { start, tail } = each.dataset;
  return lettersOf(each, `${start.length > 2 ? `${start.slice(0, 2)}…` : start}${tail}`) > each.getBoundingClientRect().width + 2;
};

const bears = 1.5; // pixels of rounding
// What the boxes around leave of a text, and what is wrong with that; the rest of a text that is scrolled away is nothing.
function clip(text) {
  const shown = { left: text.left, right: text.right, top: text.top, bottom: text.bottom };
  const faults = [];
  for (const box of boxesOf(text.each)) {
    if (box.right - box.left < 2 || box.bottom - box.top < 2) return { shown: null, at: box, faults: [] }; // for who listens
    const asideX = shown.right <= box.left + bears || shown.left >= box.right - bears;
    const asideY = shown.bottom <= box.top + bears || shown.top >= box.bottom - bears;
    if (asideX || asideY) {
      const scrolled = (asideX && !box.cutsX) || (asideY && !box.cutsY) || text.each.closest(asked.logs);
      return { shown: null, at: box, faults: scrolled ? [] : [["hidden", quoted(text.words)]] };
    }
    if ((box.cutsX && (shown.left < box.left - bears || shown.right > box.right + bears)) || (box.cutsY && (shown.top < box.top - bears || shown.bottom > box.bottom + bears))) {
      faults.push(["cut", `${quoted(text.words)} by ${where(box.one)}`]);
    }
    Object.assign(shown, { left: Math.max(shown.left, box.left), right: Math.min(shown.right, box.right), top: Math.max(shown.top, box.top), bottom: Math.min(shown.bottom, box.bottom) });
  }
  return { shown, at: shown, faults };
}

// --- what is before them ---------------------------------------------------------------------------------------------

const painted = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const colours = new Map();
function colourOf(value) {
  if (colours.has(value)) return colours.get(value);
  painted.clearRect(0, 0, 1, 1);
  painted.fillStyle = value;
  painted.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = painted.getImageData(0, 0, 1, 1).data;
  return colours.set(value, { red, green, blue, alpha: alpha / 255 }).get(value);
}

function coverOf(each) {
  const style = styleOf(each);
  if (each instanceof SVGElement) return each instanceof SVGGeometryElement && (style.fill !== "none" || style.stroke !== "none") ? 1 : 0;
  if (["IMG", "CANVAS", "VIDEO"].includes(each.tagName)) return 1;
  let opacity = style.backgroundImage === "none" ? colourOf(style.backgroundColor).alpha : 1;
  for (let one = each; one; one = one.parentElement) opacity *= Number(styleOf(one).opacity);
  return opacity;
}

// What stands before a point of an element, and how much of it shows.
function before(each, x, y) {
  let first = null;
  let shines = 1; // through all of it: what is translucent may lie on something that is not
  for (const other of document.elementsFromPoint(x, y)) {
    if (other === each || each.contains(other) || other.contains(each)) break;
    const cover = coverOf(other);
    if (cover <= 0.05) continue;
    first ??= other;
    shines *= 1 - cover;
  }
  return first && { other: first, cover: 1 - shines };
}

const isIn = (x, y) => x >= 0 && x < wide && y >= 0 && y < high;

// Whether something like a dialog stands before all of a box: what is behind it is not meant to be seen.
function behindDialog(each, { left, right, top, bottom }) {
  const [x, y] = [(Math.max(left, 0) + Math.min(right, wide)) / 2, (Math.max(top, 0) + Math.min(bottom, high)) / 2];
  const over = isIn(x, y) ? before(each, x, y) : null;
  const holder = over && over.cover >= 0.9 ? pinned(over.other) : null;
  return holder !== null && styleOf(holder).position === "fixed" && !holder.contains(each);
}

function covered(text, shown) {
  const y = (shown.top + shown.bottom) / 2;
  const points = [0.06, 0.5, 0.94].map((part) => shown.left + part * (shown.right - shown.left)).filter((x) => isIn(x, y));
  const covers = points.map((x) => before(text.each, x, y)).filter(Boolean);
  if (!covers.length) return false;
  const thin = covers.find(({ cover }) => cover < 0.9);
  const { other } = thin ?? covers[0];
  const passes = !stuck && !thin && pinned(other) && !pinned(text.each); // who scrolls sees it
  if (!passes) report("covered", text.each, `${quoted(text.words)} by ${thin ? "translucent " : ""}${where(other)}`);
  return true;
}

// --- contrast --------------------------------------------------------------------------------------------------------

const mixed = (over, under) => Object.fromEntries([...["red", "green", "blue"].map((part) => [part, over[part] * over.alpha + under[part] * (1 - over.alpha)]), ["alpha", 1]]);
const light = ({ red, green, blue }) => [red, green, blue].map((part) => (part / 255 <= 0.04045 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4)).reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);

function contrast(each) {
  const layers = [];
  let opacity = 1;
  for (let one = each; ; one = one.parentElement) {
    const style = one ? styleOf(one) : null;
    if (style && style.backgroundImage !== "none") return null;
    const colour = one ? colourOf(style.backgroundColor) : { red: 255, green: 255, blue: 255, alpha: 1 };
    if (colour.alpha) layers.unshift(colour);
    if (colour.alpha === 1) break;
    opacity *= Number(style.opacity);
  }
  const behind = layers.reduce((under, over) => mixed(over, under), { red: 255, green: 255, blue: 255 });
  const own = colourOf(styleOf(each).color);
  const ink = mixed({ ...own, alpha: own.alpha * opacity }, behind);
  const [low, top] = [light(ink), light(behind)].sort((a, b) => a - b);
  return (top + 0.05) / (low + 0.05);
}

function faint({ each, words, size }) {
  if (each instanceof SVGElement || each.closest(":disabled, [aria-disabled=true]")) return;
  const has = contrast(each);
  const needs = size >= 24 || (size >= 18.66 && Number(styleOf(each).fontWeight) >= 700) ? 3 : 4.5;
  if (has !== null && has < needs) report("faint", each, `${quoted(words)} ${has.toFixed(1)} of ${needs}`);
}

// --- all texts -------------------------------------------------------------------------------------------------------

const standing = [];
for (const text of texts) {
  const { shown, at, faults } = clip(text);
  if (behindDialog(text.each, at)) continue;
  for (const [what, words] of faults) report(what, text.each, words);
  if (!shown) continue;
  const beyond = shown.left < -bears || shown.right > wide + bears || (stuck && (shown.bottom > high + bears || shown.top < -bears));
  if (beyond) report("leaves", text.each, quoted(text.words));
  if (covered(text, shown)) continue;
  if (text.name && isShort(text.each)) report("short", text.each, `${quoted(text.words)} in ${Math.round(shown.right - shown.left)} pixels`);
  faint(text);
  standing.push({ ...text, ...shown, pinned: stuck ? null : pinned(text.each) });
}

standing.sort((one, other) => one.top - other.top);
for (const [index, one] of standing.entries()) {
  for (const other of standing.slice(index + 1)) {
    if (other.top >= one.bottom) break;
    if (one.each === other.each || one.pinned !== other.pinned) continue;
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - other.top;
    if (across > 2 && down > 0.2 * Math.min(one.size, other.size)) report("overlap", one.each, `${quoted(one.words)} and ${quoted(other.words)} of ${where(other.each)}`);
  }
}

if (root.scrollWidth > wide + 1) report("scrolls", root, `${root.scrollWidth} pixels wide`);
if (asked.still && root.scrollHeight > high + 1) report("scrolls", root, `${root.scrollHeight} pixels high`);

// --- what can be pressed ---------------------------------------------------------------------------------------------

function isAmongWords(link) {
  if (link.tagName !== "A" || styleOf(link).display !== "inline") return false;
  let home = link.parentElement;
  while (styleOf(home).display === "inline") home = home.parentElement;
  const links = [...home.querySelectorAll("a")].map((each) => each.textContent).join("");
  return home.textContent.replace(/\s/g, "").length > links.replace(/\s/g, "").length;
}

// Its own box, or the one of its label, of what a link is spread over, or of a row that is pressed as a whole, as its cursor says.
function pressedAt(each) {
  const row = each.tagName === "A" && each.closest("tbody tr");
  if (row && styleOf(row).cursor === "pointer") return row;
  const spread = getComputedStyle(each, "::after");
  if (each.tagName === "A" && spread.content !== "none" && spread.position === "absolute" && spread.inset === "0px") return each.offsetParent;
  return (["checkbox", "radio"].includes(each.type) && each.closest("label")) || each;
}

for (const each of document.querySelectorAll("a[href], button, select, textarea, summary, input:not([type=hidden]), [role=button], [role=tab], [role=slider]")) {
  if (!isSeen(each) || each.matches("[data-cell] *")) continue;
  const area = pressedAt(each);
  const { left, right, top, bottom, width, height } = area.getBoundingClientRect();
  if (!width || !height) continue;
  const words = quoted(each.getAttribute("aria-label") || each.textContent || each.placeholder || each.tagName);
  if (behindDialog(area, { left, right, top, bottom })) continue;
  if (each.placeholder && !each.value && lettersOf(each, each.placeholder) > each.clientWidth - 2 * parseFloat(styleOf(each).paddingLeft) + bears) report("cut", each, `${quoted(each.placeholder)} by itself`);
  const least = each.dataset.cell === undefined && area.tagName !== "TR" ? 40 : 24;
  if (height < least - 0.5 && !isAmongWords(each)) report("low", each, `${words} ${Math.round(height)} pixels`);
  let away = false; // where somebody scrolls to it
  let cut = false;
  for (const box of boxesOf(area.parentElement)) {
    const [beyondX, beyondY] = [left < box.left - bears || right > box.right + bears, top < box.top - bears || bottom > box.bottom + bears];
    cut ||= (beyondX && box.cutsX) || (beyondY && box.cutsY);
    away ||= (beyondX && !box.cutsX) || (beyondY && !box.cutsY);
  }
  if (cut) report("unreachable", each, `${words} is cut`);
  if (cut || away) continue;
  const below = bottom > high + bears || top < -bears;
  if (left < -bears || right > wide + bears || (below && (stuck || asked.still || each.matches(asked.within)))) report("unreachable", each, `${words} is at ${Math.round(left)}, ${Math.round(top)}, to ${Math.round(right)}, ${Math.round(bottom)}`);
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  const over = isIn(x, y) && !each.matches(":disabled") ? document.elementFromPoint(x, y) : null;
  if (!over || over === area || area.contains(over) || over.contains(area) || (pinned(over) && !pinned(area))) continue;
  report("unreachable", each, `${words} is covered by ${where(over)}`);
}

return found;
