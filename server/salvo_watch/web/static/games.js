// The games of a league's round at a glance, and what comes next. They stand beside the tape that runs, and without one in its place.

import { drawCard, ofTable } from "./cards.js";
import { find, make, say, show, titleOf } from "./dom.js";
import { LINES } from "./side.js";
import { inTheMiddle, narrow, ofEvening, picture, tables } from "./state.js";
import { inRound } from "./words.js";

const section = find("games");
const side = document.querySelector(".side");

// A match that is at no table: who meets whom, or who was first.
function ofMatch({ teams, table, places }) {
  const players = teams.map((team, index) => ({ ...team, place: places[index], won: places[index] === 1 })).sort((a, b) => (a.place ?? 0) - (b.place ?? 0));
  const title = teams.length < 2 ? "Bye" : places.length ? "Played" : table === null ? "Next" : titleOf(table);
  return { title, about: "", headline: "", players, state: places.length ? "over" : "", match: true };
}

const ofGame = (table) => ({ ...ofTable(table), about: table.state === "turn" ? `turn ${table.turn}` : table.state });

// All games: those that are on, what is next, and what was played. Tables are live, while a league is as far as its tapes have shown it.
function games() {
  const { matches } = picture.league;
  const isAt = (table, { teams, ...match }) =>
    table.table === match.table && table.players.length === teams.length && teams.every(({ name }) => table.players.some((player) => player.name === name));
  const live = matches.map((match) => !match.places.length && tables.find((table) => isAt(table, match)));
  const others = tables.filter((table) => table.state === "turn" && !live.includes(table)); // of the round whose predecessor waits for tapes
  const rank = { turn: 0, lobby: 1, "": 2, over: 3 };
  const shown = matches.map((match, index) => (live[index] ? { ...ofGame(live[index]), match: true } : ofMatch(match)));
  return [...others.map(ofGame), ...shown].sort((a, b) => rank[a.state] - rank[b.state]);
}

export function nextWords() {
  const { round, rounds, left } = picture.league;
  const { phase, waits } = picture.evening;
  if (waits) return "Next: results, as soon as the tapes of these games have run; three minutes at most";
  const last = rounds && round >= rounds;
  const what = last ? "the final table" : `round ${round + 1}${rounds ? ` of ${rounds}` : ""}`;
  const podium = left ? `. Podium ${phase === "break" ? `${left} after the break` : `in ${left}`}` : "";
  if (phase === "between") return `Next: ${what}, in a moment${podium}. The first of a game gets a point, the last none`;
  const missed = picture.league.tapes ? "" : ", without tapes, since this page has been away";
  return `Next: ${what}, when the games of round ${round} are over${missed}${podium}`;
}

export function drawGames() {
  const middle = inTheMiddle();
  const there = ofEvening() && middle !== "lobby";
  const all = there ? games() : [];
  show(section, all.length > 0);
  show(find("next"), there);
  document.body.classList.toggle("evening", there);
  if (!there) return;
  const large = middle === "games";
  const home = large || narrow.matches ? find("boards") : side;
  if (section.parentElement !== home) home[home === side ? "prepend" : "append"](section);
  const { rows } = picture.league;
  const most = Math.max(1, ...all.map(({ players }) => players.length));
  const columns = narrow.matches ? 1 : large ? Math.min(4, Math.ceil(Math.sqrt(all.length))) : all.length * most > LINES ? 2 : 1;
  section.style.setProperty("--columns", columns);
  section.style.setProperty("--lines", Math.ceil(all.length / columns) * (most + 1.5));
  find("standings-list").classList.toggle("moved", rows.some(({ moved }) => moved));
  const afloat = all.some(({ state, players }) => state === "turn" && players.some((player) => player.afloat !== null)) ? " now: ships afloat" : "";
  say(section.querySelector("h2"), large ? "" : inRound(picture).replace(/^ in r/, "R") + afloat);
  const list = find("games-list");
  while (list.children.length > all.length) list.lastChild.remove();
  all.forEach((game, index) => {
    const card = drawCard(list.children[index] || list.appendChild(make("li")), game);
    card.classList.toggle("match", Boolean(game.match));
    card.classList.toggle("on-tape", picture.tape !== null && game.table === picture.tape.table && game.game === picture.game);
  });
  say(find("next-words"), nextWords());
}
