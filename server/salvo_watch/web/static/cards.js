// A game at a glance: who plays, their ships, and whose turn it is; or a match before and after its game.

import { badge, colourOf, counted, fill, make, nameOf, plain, titleOf } from "./dom.js";

const PLAYERS = 32; // of a card
const MANY = 4;
const PIPS = 8;
const STATES = { lobby: "lobby", turn: "playing", over: "over" };

function player(team, fires) {
  const { afloat, ships, place } = team;
  const states = Object.entries({ out: team.out, won: team.won, fires: team.name === fires });
  const line = make("li", ["team", colourOf(team), ...states.flatMap(([state, is]) => (is ? [state] : []))].join(" "));
  line.append(...(place ? [make("b", "place", `${place}.`)] : []), badge(team), nameOf(team.name));
  if (afloat === null || afloat === undefined) return line;
  const told = ships > PIPS ? [`${afloat}/${ships}`] : Array.from({ length: ships }, (_, ship) => make("i", ship < afloat ? "" : "lost"));
  line.append(make("span", "afloat", ...told, make("span", "heard", `${afloat} of ${counted(ships, "ship")} afloat`)));
  return line;
}

// What the card of a table shows, see drawCard.
export const ofTable = (table) => ({
  ...table,
  title: titleOf(table.table),
  link: `./?table=${encodeURIComponent(table.table)}`,
  about: `${STATES[table.state] || ""}${table.turn && table.state === "turn" ? `, turn ${table.turn}` : ""}${table.game ? ` · game ${table.game}` : ""}`,
});

// Draws a card: its `title` with a `link`, what is `about` it, a `headline`, its players with what is known of them, and who `fires`.
export function drawCard(card, shown) {
  const { title, link, about, headline, players, state, fires } = shown;
  card.className = `card ${state in STATES ? state : ""}${players.length > MANY ? " many" : ""}`;
  fill(card, JSON.stringify(shown), () => {
    const lines = players.slice(0, PLAYERS).map((team) => player(team, fires));
    if (players.length > PLAYERS) lines.push(make("li", "rest", `and ${players.length - PLAYERS} more`));
    const name = link ? Object.assign(make("a", "", title), { href: link }) : make("span", "title", title);
    return [make("h2", "", name, make("span", "about", about)), make("p", "headline", plain(headline) || "\u00a0"), make("ul", "", ...lines)];
  });
  return card;
}
