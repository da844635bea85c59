// The ends that a room remembers. That of a game is a card, which goes by; that of a league its podium and its table, which stay until something
// else is on. Both stand in the place of the hall, and names are whole.

import { aimsAt, featured } from "./battle.js";
import { Board, cellsOf } from "./boards.js";
import { badge, colourOf, counted, fill, find, make, nameOf, plain, show } from "./dom.js";
import { play } from "./sound.js";
import { nextWords } from "./games.js";
import { gameOf, mine, ofEvening, picture, pieces, teamOf } from "./state.js";
import { champions, crowned, inRound, reason, victory } from "./words.js";

const CARD_MS = 7000;
const MANY = 4; // winners, or others, of a card: more are counted
const STEPS = 3; // of a podium: by place, and teams with equal points share one
const MOST_ROWS = 24; // of a table; more stand in several beside each other
const SMALLEST = 0.4;

const end = find("end");
let closing = 0; // the timer of a game's card that is open
let entering = false; // whether this page was there when the league ended

const isEnded = ({ state, winners }) => state === "over" && winners.length > 0;
const points = (number) => Number(number.toFixed(2));

export function drawEnd(before) {
  entering = Boolean(picture.league?.over && (entering || (before?.league && !before.league.over)));
  if (isEnded(picture) && before && !isEnded(before)) openCard();
  else if (!closing || !isEnded(picture)) closeCard();
}

// Ends a game's card; the league's end comes after it.
export function closeCard() {
  clearTimeout(closing);
  closing = 0;
  const is = picture !== null && crowned(picture);
  if (is) openPodium(picture.league);
  show(end, is);
}

export function closeEnd() {
  clearTimeout(closing);
  closing = 0;
  show(end, false);
}

// The largest type in which all of it is seen.
function fitEnd() {
  for (let size = 1; size > SMALLEST; size *= 0.94) {
    end.style.setProperty("--fit", size);
    if (end.scrollHeight <= end.clientHeight && end.scrollWidth <= end.clientWidth) return;
  }
}

// A team with its whole name, whose type depends on its length.
function whole(tag, team, ...more) {
  const element = make(tag, `team ${colourOf(team)}`, ...more, badge(team), nameOf(team.name));
  element.style.setProperty("--letters", [...plain(team.name)].length);
  return element;
}

const some = (teams, made) => [...teams.slice(0, MANY).map(made), ...(teams.length > MANY ? [make("li", "", `and ${teams.length - MANY} more`)] : [])];

function openCard() {
  const { winners, players } = picture;
  const teams = winners.map(teamOf).filter(Boolean);
  const others = players.filter(({ name, place }) => place && !winners.includes(name));
  const [won, again] = [victory(picture), find("again")];
  const at = picture.tape?.table ?? picture.table.split("@")[0];
  end.className = `verdict ${teams.length ? colourOf(teams[0]) : ""}`;
  fill(end, gameOf(picture), () => [
    make("div", "who", make("ul", "winners", ...some(teams, (team) => whole("li", team))), make("h1", "wins", won.at(-1)), make("p", "where", `Game ${picture.game}${at ? ` at table ${plain(at)}` : ""}${inRound(picture)}`), make("p", "why", ...pieces(reason(picture)))),
    make("div", "how", ...still(), ...(again.querySelector("a") ? [Object.assign(again.cloneNode(true), { id: "", hidden: false })] : [])),
    make("ol", "others", ...(others.length > 1 ? some(others, (team) => whole("li", team, make("b", "place", String(team.place)))) : [])),
    make("p", "next", ofEvening() ? nextWords() : "Next: another game, once its teams are ready"),
  ]);
  show(end, true);
  fitEnd();
  clearTimeout(closing);
  closing = setTimeout(closeCard, CARD_MS);
  play("won");
}

// The decisive salvo: the board that it hit, as it is after it.
function still() {
  const { last, rules, players } = picture;
  const struck = players.find(({ name }) => name === featured().target);
  const cells = struck && cellsOf(struck);
  if (!cells) return [];
  const board = new Board(rules, false);
  board.show(cells, aimsAt(last, struck.name));
  board.element.setAttribute("aria-label", `Board of ${plain(struck.name)}`);
  const sea = make("div", "sea", board.element);
  sea.style.aspectRatio = `${rules.width} / ${rules.height}`;
  return [make("figure", "", sea, make("figcaption", "", make("span", `team ${colourOf(struck)}`, badge(struck), nameOf(struck.name)), " after the last salvo"))];
}

// The third enter first, each place on a step of its own, and at last the table.
function openPodium({ name, round, rows }) {
  const made = fill(end, JSON.stringify([name, rows, mine]), () => {
    const places = [...new Set(rows.map(({ place }) => place))].filter((place) => place <= STEPS);
    const steps = places.map((place, index) => aStep(rows.filter((row) => row.place === place), places.length - 1 - index));
    const heading = make("p", "champions", ...pieces(champions(rows)), `, after ${counted(round, "round")}`);
    return [make("h1", "cup", plain(name)), heading, make("ol", "steps", ...steps), theTable(rows, places.length)];
  });
  if (made || end.hidden) end.className = made && entering ? "podium entering" : "podium";
  show(end, true);
  if (!made) return;
  fitEnd();
  end.querySelector(".step")?.addEventListener("animationstart", () => play("won"), { once: true });
}

const after = (element, turn) => {
  element.style.setProperty("--turn", turn);
  return element;
};

function aStep(teams, turn) {
  const [{ place, points: each }] = teams;
  const block = make("p", "block", make("b", "place", String(place)), make("span", "", counted(points(each), "point")));
  const all = make("ul", teams.length > 1 ? "tie" : "", ...some(teams, (team) => whole("li", team)));
  return after(make("li", `step p${place} ${colourOf(teams[0])}`, all, block), turn);
}

function theTable(rows, turn) {
  const tables = Math.ceil(rows.length / MOST_ROWS);
  const each = Math.ceil(rows.length / tables);
  const row = (team) => {
    const figures = [points(team.points), team.games, team.wins].map((figure) => make("td", "", String(figure)));
    return make("tr", team.name === mine ? "followed" : "", make("td", "place", String(team.place)), make("td", "", whole("span", team)), ...figures);
  };
  const heads = () => make("thead", "", make("tr", "", ...["Place", "Team", "Points", "Games", "Won"].map((head) => make("th", "", head))));
  const parts = Array.from({ length: tables }, (_, part) => make("table", "", heads(), make("tbody", "", ...rows.slice(part * each, (part + 1) * each).map(row))));
  const how = make("p", "points", "Final table. In each match the first gets a point, the last none, those between a share of it; among equal points, those of all opponents count.");
  const element = after(make("div", "final", how, ...parts), turn);
  element.style.setProperty("--rows", each + 1);
  return element;
}

end.addEventListener("click", () => closing && closeCard());
new ResizeObserver(fitEnd).observe(end);
