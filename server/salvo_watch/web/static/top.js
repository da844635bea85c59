// The lines at the top: which table it is and how late, whose page, and what is wrong.

import { byName, fill, find, make, plain, say, show, titleOf } from "./dom.js";
import { asksLive, away, inTheMiddle, own, picture, pieces, tables } from "./state.js";
import { crowned, hostLine, ownLine, trouble } from "./words.js";

let missed = null; // the last turn without a shot of the team whose page this is

export const clockTime = (ms) => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });

export function drawTop() {
  const { tables: listed, table, tape, game, rules, state, trouble, withheld, evening } = picture;
  const names = listed.map(([name]) => name);
  if (!names.includes(table)) names.push(table);
  const choice = find("table");
  if (fill(choice, JSON.stringify(names), () => names.sort(byName).map((name) => Object.assign(make("option", "", titleOf(name)), { value: name })))) choice.value = table;
  choice.value = table;
  show(choice, names.length > 1);
  say(find("game"), state && game ? `game ${game} · ${plain(rules.name)} ${rules.width} × ${rules.height}` : state ? `${plain(rules.name)} ${rules.width} × ${rules.height}` : "");
  say(find("of"), tape ? `tape${tape.table !== table.split("@")[0] ? ` of ${titleOf(tape.table)}` : ""}${tape.round && picture.league?.rounds ? `, round ${tape.round}` : ""}, over at ${clockTime(tape.ended)}` : crowned(picture) ? "final" : evening.phase === "break" ? "break" : { turn: "live", over: "over" }[state] || "");
  find("of").classList.toggle("late", Boolean(tape));
  show(find("of"), Boolean(find("of").textContent && (tape || !(trouble || withheld)))); // else what is shown is of a moment ago
  show(find("live"), !own && (asksLive() || Boolean(tape)));
  find("live").setAttribute("aria-pressed", asksLive());
  document.title = `Salvo: ${titleOf(table)}`;
}

export function drawOwn() {
  if (!own || !picture) return;
  const { last } = picture;
  if (last?.player === own && !last.shots) missed = last;
  const words = ownLine(picture, own, missed, tables.flatMap(({ players }) => players.map(({ name }) => name)));
  fill(find("own-line"), JSON.stringify(words), () => pieces(words));
  show(find("own"), true);
}

export function drawTrouble() {
  const words = trouble(picture, away);
  say(find("trouble"), words);
  show(find("trouble"), words !== "");
  document.body.classList.toggle("stale", words !== "");
  const line = hostLine(picture);
  say(find("host"), line);
  show(find("host"), line !== "" && !(picture && inTheMiddle() === "break")); // whose card has it
}
