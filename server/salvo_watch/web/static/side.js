// Beside and below the boards: results, news, standings, chat, and who will win.

import { badge, colourOf, counted, draw, fill, find, make, nameOf, plain, say, show } from "./dom.js";
import { inTheMiddle, mine, ofEvening, picture, pieces, teamOf } from "./state.js";
import { news, percents } from "./words.js";

const MANY_CHANCES = 8; // stripes
const SMALLEST_CHANCE = 0.06; // smaller ones stand together: the bar is to scale, and a stripe needs room for a name
const PLACES = 16; // of the result, since the boards have all of them
const ROWS = 16; // of the standings
export const LINES = 10; // of one column beside a tape
const KINDS = ["sunk", "defeated", "began", "won"];

const mark = (kind) => draw("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, draw("use", { href: `#${kind}` }));

// The heads of a list's columns; a screen reader has them in each line's title.
function columnHeads(...heads) {
  const line = make("li", "heads", ...heads.map((head) => make("span", "", head)));
  line.setAttribute("aria-hidden", "true");
  return line;
}

// By how many places a team has moved since the round before.
function move(by) {
  const arrow = make("b", `move ${by > 0 ? "up" : "down"}`, by ? `${by > 0 ? "▲" : "▼"}${Math.abs(by)}` : "");
  if (by) arrow.title = `${counted(Math.abs(by), "place")} ${by > 0 ? "up" : "down"}`;
  return arrow;
}

export function drawSide() {
  const { feed, chat, league } = picture;
  const standings = inTheMiddle() === "lobby" ? [] : league?.rows.length ? league.rows : picture.standings;
  const of = league?.rows.length ? `${plain(league.name)}: points${league.behind ? " so far, more after the tapes" : ""}` : "This evening: points of all games";
  say(find("standings").querySelector("h2"), of);
  fill(find("feed-list"), JSON.stringify(feed), () =>
    feed.map((item) => {
      const kind = KINDS.includes(item.kind) ? item.kind : "began";
      return make("li", kind, mark(kind), make("p", "", ...pieces(news(item))));
    }),
  );
  const shown = standings.slice(0, ROWS);
  const { late, missing } = picture.evening;
  const joined = (league?.matches ?? []).flatMap(({ teams }) => teams.map(({ name }) => name)).filter((name) => !standings.some((row) => row.name === name));
  const others = [...joined.map((name) => [name, "plays now"]), ...late.map((name) => [name, "next round"]), ...missing.map((name) => [name, "not here yet"])];
  const absent = league?.rows.length && shown.length ? others.slice(0, ROWS - shown.length) : [];
  const lines = shown.length + absent.length;
  const halves = ofEvening() && inTheMiddle() !== "games" && lines > LINES ? 2 : 1;
  const { style } = document.querySelector(".side");
  style.setProperty("--columns", halves);
  style.setProperty("--rows", Math.ceil(lines / halves) + (ofEvening() ? 0 : 1)); // with the heads
  fill(find("standings-list"), JSON.stringify([shown, mine, absent]), () => [
    ...(shown.length ? [columnHeads("", "", "Team", "Points", "Games", league ? "Won" : "Hits")] : []),
    ...shown.map((row) => {
      const figures = [Number(row.points.toFixed(2)), row.games, "wins" in row ? row.wins : row.shots ? `${Math.round((100 * row.hits) / row.shots)} %` : ""];
      const team = make("span", `team ${colourOf(row)}`, badge(row), nameOf(row.name));
      return make("li", row.name === mine ? `followed ${colourOf(row)}` : "", make("span", "place", String(row.place)), move(row.moved), team, ...figures.map((figure) => make("span", "", String(figure))));
    }),
    ...absent.map(([name, why]) => make("li", "absent", make("span", "place"), move(0), make("span", "team", nameOf(name)), make("span", "", why))),
  ]);
  fill(find("chat-list"), JSON.stringify(chat), () =>
    [...chat].reverse().map(({ from, text }) => {
      const team = teamOf(from);
      const who = team ? make("span", `team ${colourOf(team)}`, badge(team), nameOf(from)) : make("b", "", from ? nameOf(from) : "server");
      return make("li", "", who, make("q", "", plain(text)));
    }),
  );
  const { players, state } = picture;
  const result = state === "over" ? players.filter((player) => player.place) : [];
  find("result-list").classList.toggle("many", result.length > 3);
  fill(find("result-list"), JSON.stringify(result), () =>
    result.slice(0, PLACES).map((player) => {
      const rate = player.shots ? `${Math.round((100 * player.hits) / player.shots)} %` : "";
      const told = make("span", "figures", make("span", "", player.hits === null ? "" : counted(player.hits, "hit")), make("i", "", rate));
      return make("li", `team ${colourOf(player)}`, make("b", "place", String(player.place)), badge(player), nameOf(player.name), told);
    }),
  );
  const again = find("again");
  const link = again.querySelector("a");
  const page = `games/at/${encodeURIComponent((picture.tape?.table ?? picture.table.split("@")[0]) || "game")}/${picture.game}`;
  if (link && state === "over" && link.getAttribute("href") !== page) {
    link.href = page;
    for (const code of again.querySelectorAll("img")) code.src = `qr.svg?page=/${page}`;
  }
  show(again, state === "over" && picture.game > 0 && !picture.aborted && !picture.withheld);
  for (const [name, list] of Object.entries({ feed, standings, chat, result })) find(name).classList.toggle("empty", !list.length);
}

export function drawChances() {
  const all = picture.players.filter(({ chance, out }) => chance !== null && !out);
  const isSmall = ({ chance }) => chance < SMALLEST_CHANCE;
  const large = all.filter(isSmall).length > 1 ? all.filter((player) => !isSmall(player)) : all;
  const racing = large.length > MANY_CHANCES ? [...large].sort((a, b) => b.chance - a.chance).slice(0, MANY_CHANCES) : large;
  const others = all.filter((player) => !racing.includes(player));
  const there = picture.state === "turn" && all.length > 1;
  show(find("chances"), there);
  if (!there) return;
  const list = find("chances-list");
  fill(list, JSON.stringify([racing.map(({ name }) => name), all.length]), () => [
    ...racing.map((player) => make("li", colourOf(player), badge(player), nameOf(player.name), make("b"))),
    ...(others.length ? [make("li", "others", make("span", "name", counted(others.length, "other")), make("b"))] : []),
  ]);
  const rest = others.length ? [others.reduce((sum, { chance }) => sum + chance, 0)] : [];
  const words = percents([...racing.map(({ chance }) => chance), ...rest]).map((percent) => `${percent} %`);
  const shares = [...racing, ...rest.map((chance) => ({ name: others.map(({ name }) => name).join(", "), chance }))];
  shares.forEach(({ name, chance }, index) => {
    const item = list.children[index];
    item.style.flexGrow = 100 * chance;
    item.title = `${plain(name)} ${words[index]}`;
    say(item.lastChild, words[index]);
  });
  fitChances();
}

// In each stripe its whole name if it has room, else its badge with its number, or what of these has room.
function fitChances() {
  for (const item of find("chances-list").children) {
    for (const shown of ["", "number", "bare"]) {
      item.dataset.shown = shown;
      if (item.scrollWidth <= item.clientWidth) break;
    }
  }
}

new ResizeObserver(fitChances).observe(find("chances-list"));
find("chances-list").addEventListener("transitionend", fitChances);
