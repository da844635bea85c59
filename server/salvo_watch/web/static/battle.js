// The boards of the game that is shown, and its shots on their way.

import { cellsOf } from "./boards.js";
import { badge, colourOf, fill, find, make, nameOf, say, show } from "./dom.js";
import { arrange, cast, CROWD } from "./layout.js";
import { play } from "./sound.js";
import { follow, inTheMiddle, mine, narrow, own, picture, teamOf } from "./state.js";
import { Tile } from "./tiles.js";
import { volley } from "./volley.js";
import { ranks } from "./words.js";

const stage = find("boards");
const tiles = new Map(); // of the gallery, by name
const features = []; // tiles of the large boards, by place
const none = () => {};
let endVolley = none;

export const flying = () => endVolley !== none;
export const endFlight = () => endVolley();

// Who the last salvo is about: its shooter, and the one that it hit hardest.
export function featured() {
  const { last, turn, players } = picture;
  const shooter = last?.player || turn?.player || players[0]?.name;
  const weight = new Map();
  const add = (name, much) => weight.set(name, (weight.get(name) || 0) + much);
  for (const [name, , , hit] of last?.aims || []) add(name, hit ? 2 : 1);
  for (const [name] of last?.sunk || []) add(name, 100);
  for (const name of Object.keys(last?.defeated || {})) add(name, 1000);
  weight.delete(shooter);
  const [target] = [...weight].sort((a, b) => b[1] - a[1])[0] || [];
  return { shooter, target: target || (last ? undefined : players.find((player) => player.name !== shooter && !player.out)?.name) };
}

function followTeam(name) {
  follow(name);
  drawBoards();
}

function tileAt(place) {
  features[place] ||= new Tile(true, followTeam);
  return features[place];
}

const shownTiles = () => [...find("features").children, ...find("gallery").children].map((element) => element.tile);

function place(parent, chosen) {
  const elements = chosen.map((tile) => tile.element);
  if (elements.length === parent.children.length && elements.every((element, index) => element === parent.children[index])) return;
  parent.replaceChildren(...elements);
}

export function drawBoards() {
  const { players, turn, state, rules } = picture;
  const there = inTheMiddle() === "boards";
  show(find("features"), there);
  show(find("rest"), there);
  if (!there) return;
  const { shooter, target } = state === "turn" ? featured() : {};
  const other = shooter === own ? target : shooter;
  const parts = cast(picture, (own && players.some(({ name }) => name === own) ? [own, other] : [shooter, target]).filter(Boolean), narrow.matches);
  if (narrow.matches) {
    const last = featured(); // also at the end, which has the board that was hit last
    const first = [mine, last.target, last.shooter].map((name) => players.find((player) => player.name === name)).find(Boolean);
    parts.large = first?.board ? [first] : [];
    parts.gallery = [...players].sort((a, b) => (b.name === mine) - (a.name === mine) || a.out - b.out);
  }
  const about = {
    rules, shooter: picture.last && shooter, target: picture.last && target, best: Math.max(rules.fleet.reduce((cells, [, length]) => cells + length, 0), ...players.map(({ hits }) => hits ?? 0)),
    acting: turn && !turn.fired ? turn.player : "",
  };
  const rank = parts.gallery.length > CROWD ? ranks(picture) : new Map();
  const drawn = (tile, player) => {
    tile.element.tile = tile;
    tile.set(player, { ...about, followed: player.name === mine, rank: !tile.large && rank.get(player.name) });
    return tile;
  };
  place(find("features"), parts.large.map((player, index) => drawn(tileAt(index), player)));
  const gallery = parts.gallery.map((player) => {
    if (!tiles.has(player.name)) tiles.set(player.name, new Tile(false, followTeam));
    return drawn(tiles.get(player.name), player);
  });
  place(find("gallery"), gallery);
  for (const name of tiles.keys()) if (!players.some((player) => player.name === name)) tiles.delete(name);
  fill(find("fallen"), JSON.stringify(parts.fallen.map(({ name }) => name)), () =>
    parts.fallen.map((player) => make("li", `team ${colourOf(player)}`, badge(player), nameOf(player.name))),
  );
  show(find("fallen"), parts.fallen.length > 0);
  say(find("tab-boards"), parts.boards ? "Boards" : "Teams");
  stage.dataset.kind = parts.boards ? "boards" : "cards";
  stage.dataset.size = parts.gallery.length > CROWD ? "crowd" : "few";
  if (narrow.matches) delete stage.dataset.mode; // of a window that was wider before
  else arrange(stage, parts);
}

export const aimsAt = (last, name) => (last?.aims || []).filter(([target]) => target === name).map(([, x, y]) => [x, y]);

// Shows all boards as they are now.
export function settle() {
  for (const tile of shownTiles()) {
    const player = picture.players.find(({ name }) => name === tile.name);
    const cells = player && cellsOf(player);
    if (cells && tile.board) tile.board.show(cells, aimsAt(picture.last, player.name));
  }
}

// The salvo that is new since the picture before: boards are as they were, then the shots fall one by one, the slower the longer a tape stays there.
export function fly(before) {
  const { last, players, tape } = picture;
  const shown = shownTiles().filter((tile) => tile.board);
  const cells = new Map(players.map((player) => [player.name, cellsOf(player)]));
  const earlier = new Map(before.players.map((player) => [player.name, cellsOf(player)]));
  for (const tile of shown) {
    const was = earlier.get(tile.name);
    const now = cells.get(tile.name);
    if (now) tile.board.show(was?.length === now.length ? was : now);
  }
  const seenOf = (name) => shown.filter((tile) => tile.name === name && tile.seen);
  const from = shownTiles().find((tile) => tile.name === last.player)?.muzzle;
  const shots = last.aims.flatMap(([name, x, y, hit]) => {
    const tile = seenOf(name)[0];
    return tile ? [{ name, x, y, hit, tile, to: tile.board.point(x, y) }] : [];
  });
  if (!from || !shots.length) return settle();
  const team = teamOf(last.player);
  const slower = tape ? Math.min(3, Math.max(1, tape.ms / 1200)) : 1;
  const end = volley(find("sky"), from, shots.map(({ to }) => to), team ? colourOf(team) : "", slower, {
    fire: () => play("fire"),
    land: (index) => {
      const { name, x, y, hit, tile } = shots[index];
      for (const each of shown) if (each.name === name) each.board.strike(x, y, cells.get(name), slower);
      if (hit) tile.shake();
      play(hit ? "hit" : "miss");
    },
    done: () => {
      endVolley = none;
      settle();
      if (last.sunk.length) play("sunk");
    },
  });
  endVolley = end;
}

function resized() {
  endVolley();
  if (!picture) return;
  drawBoards();
  settle();
}

new ResizeObserver(resized).observe(stage);
narrow.addEventListener("change", resized);
