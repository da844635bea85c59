// What the hall shows: the newest picture, whose page it is, and which team its visitor follows. Views read it, and draw themselves anew.

import { badge, colourOf, keep, kept, make, nameOf } from "./dom.js";
import { inLeague } from "./words.js";

export let picture = null;
export let away = false; // whether the page's server is
export let tables = []; // all of them as they are now, on a page that follows them
export const own = new URLSearchParams(location.search).get("team") || ""; // whose page this is, if it is a team's
export let mine = own || kept("team");

export const narrow = matchMedia("(max-width: 700px)");

// Whether this page is to be live where it would show a tape.
export const asksLive = () => new URLSearchParams(location.search).has("live");

export const receive = (next) => (picture = next);
export const receiveTables = (next) => (tables = next);
export const lose = (is) => (away = is);

export function follow(name) {
  mine = mine === name ? "" : name;
  keep("team", mine);
}

// Which game a picture is of; games of two tables may have one number.
export const gameOf = ({ table, tape, game }) => `${tape ? `tape of ${tape.table}` : table}/${game}`;

// Whether the page is the one of an evening with a league, whose games are all to be seen on it.
export const ofEvening = () => Boolean(picture.league) && !picture.table.split("@")[0];

// What stands in the middle: the boards of a game, and without one the games of a league's round, or who is here; in a break its card.
export function inTheMiddle() {
  const { state, evening, tape, league } = picture;
  if (evening.phase === "break" && state !== "over" && !tape) return "break";
  if (state === "turn" || state === "over") return "boards";
  return inLeague(picture) && !league.over ? "games" : "lobby";
}

export const teamOf = (name) => [picture.players, picture.standings, picture.league?.rows || []].flatMap((teams) => teams.find((team) => team.name === name) || [])[0];

export function pieces(words) {
  return words.map((piece) => {
    if (typeof piece === "string") return piece;
    const team = teamOf(piece.team);
    const name = nameOf(piece.team);
    return team ? make("span", `team ${colourOf(team)}`, badge(team), name) : name;
  });
}
