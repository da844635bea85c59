// The hall: one table as everybody watches it. Each picture that arrives says all; the page keeps only what it needs to move from one to the next.

import { Board, cellsOf } from "./boards.js";
import { atKey, badge, byName, colourOf, counted, fill, find, fit, keep, kept, make, nameOf, plain, say, still, titleOf } from "./dom.js";
import { director } from "./director.js";
import { arrange, cast } from "./layout.js";
import { live } from "./live.js";
import { play, toggle } from "./sound.js";
import { Tile } from "./tiles.js";
import { volley } from "./volley.js";
import { aiming, atZero, awaited, champions, eveningWords, hostLine, inLeague, inRound, news, outcome, ownLine, percents, progress, reason, spoken, trouble, victory, waiting } from "./words.js";

const OUTCOME_MS = 4000; // what a salvo came to is the headline for that long, then who is to fire
const SPLASH_MS = 7_000;
const CEREMONY_MS = 30_000; // of a league
const SPOKEN_MS = 4000;
const MANY_CHANCES = 8; // more than these would be stripes without names
const BEST_CHANCES = 5;
const MANY_PLACES = 7; // of a splash: more teams are counted
const FEW_PLACES = 2; // which leave a splash room for a board
const PLACES = 16; // of the result beside the boards, which have all of them

const body = document.body;
const stage = find("boards");
const narrow = matchMedia("(max-width: 700px)");
const tiles = new Map(); // of the gallery, by name
const features = []; // tiles of the large boards, by place

let picture = null;
let away = false;
const none = () => {};
let endVolley = none;
let outcomeUntil = 0;
let ends = null; // when the clock is at zero, by performance.now()
let splashEnds = 0;
const own = new URLSearchParams(location.search).get("team") || ""; // whose page this is, if it is a team's
let mine = own || kept("team");
let missed = null; // that team's last turn without a shot
let seated = []; // the teams at all tables, for such a page
const SLOW_MS = 1000; // a cut of a tape that stays for less is shown at once, without a flight

// --- pieces ----------------------------------------------------------------------------------------------------------

const teamOf = (name) => [picture.players, picture.standings, picture.league?.rows || []].flatMap((teams) => teams.find((team) => team.name === name) || [])[0];

function pieces(words) {
  return words.map((piece) => {
    if (typeof piece === "string") return piece;
    const team = teamOf(piece.team);
    const name = nameOf(piece.team);
    return team ? make("span", `team ${colourOf(team)}`, badge(team), name) : name;
  });
}

const show = (element, is) => {
  if (element.hidden === is) element.hidden = !is;
};

// --- headline --------------------------------------------------------------------------------------------------------

function headline() {
  const { state, turn, last, winners, players, rules, withheld, game, evening, host } = picture;
  if (withheld) return [`Game ${game} is over`];
  if (picture.trouble === "nothing" || !state) return ["No contest here yet"];
  if (evening.phase === "break" && state !== "over" && !picture.tape) return [`Break${inRound(picture)}`];
  if (state === "lobby") return eveningWords(picture) || waiting(players, rules.fleet.length, picture.lobby);
  if (state === "over") return winners.length ? victory(picture) : [picture.aborted ? "The host has ended the game" : "The game is over"];
  if (host.paused && !picture.tape) return ["The game is paused"];
  const told = outcome(last);
  const aims = turn && turn.player && !turn.fired ? aiming(turn) : null;
  if (told && (!aims || performance.now() < outcomeUntil)) return told;
  return aims || told || ["The game begins"];
}

function beside() {
  const { state, turn, comment, last, withheld } = picture;
  if (withheld) return ["How it went: the tape is next"];
  if (state === "over") return reason(picture);
  if (state !== "turn") return [];
  const told = outcome(last) || [];
  const more = comment && comment.replace(/\.$/, "").replaceAll("'", "’") !== spoken(told) ? comment : "";
  if (turn && turn.player && !turn.fired && performance.now() < outcomeUntil) return more ? [more] : ["Next: ", ...aiming(turn)];
  return more ? [more] : turn && turn.player && !turn.fired ? told : [];
}

function drawHeadline() {
  if (!picture) return;
  const words = headline();
  const line = find("headline");
  fill(line, JSON.stringify(words), () => pieces(words));
  fit(line);
  const more = beside();
  fill(find("comment"), JSON.stringify(more), () => pieces(more));
  const far = progress(picture);
  fill(find("progress"), JSON.stringify(far), () => pieces(far));
  announce(spoken(words));
}

let announced = 0;
let toSay = "";
function announce(text) {
  toSay = text;
  if (announced) return;
  say(find("told"), toSay);
  announced = setTimeout(() => {
    announced = 0;
    if (find("told").textContent !== toSay) announce(toSay);
  }, SPOKEN_MS);
}

// --- clock -----------------------------------------------------------------------------------------------------------

function setClock() {
  const { state, turn, lobby, players, rules } = picture;
  const word = state === "lobby" ? atZero(players, rules.fleet.length) : "left to fire";
  const left = inLeague(picture) || !word ? null : state === "turn" && turn && !turn.fired ? turn.left_ms : state === "lobby" && lobby ? lobby.left_ms : null;
  ends = left === null || picture.trouble || picture.host.paused ? null : { at: performance.now() + left, whole: state === "turn" ? turn.whole_ms : null };
  say(find("clockword"), word);
  tick();
}

function tick() {
  const left = ends && Math.max(0, ends.at - performance.now());
  show(find("clock"), ends !== null);
  if (ends) say(find("left"), left >= 60_000 ? `${Math.floor(left / 60_000)}:${String(Math.floor(left / 1000) % 60).padStart(2, "0")}` : `${Math.ceil(left / 1000)} s`);
  find("bar").style.transform = `scaleX(${ends?.whole ? Math.min(1, left / ends.whole) : 0})`;
}

setInterval(() => {
  if (!picture) return;
  tick();
  if (outcomeUntil && performance.now() >= outcomeUntil) {
    outcomeUntil = 0;
    drawHeadline();
  }
  if (splashEnds && performance.now() >= splashEnds) closeSplash();
}, 250);

// --- boards ----------------------------------------------------------------------------------------------------------

// Who the last salvo is about: its shooter, and the one that it hit hardest.
function featured() {
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
  mine = mine === name ? "" : name;
  keep("team", mine);
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

function drawBoards() {
  if (!picture) return;
  const { players, turn, state, rules } = picture;
  const lobby = state === "lobby" || !state;
  show(find("lobby"), lobby);
  show(find("features"), !lobby);
  show(find("rest"), !lobby);
  if (lobby) return drawLobby();
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
  const drawn = (tile, player) => {
    tile.element.tile = tile;
    tile.set(player, { ...about, followed: player.name === mine });
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
  stage.dataset.kind = parts.boards ? "boards" : "cards";
  stage.dataset.size = parts.gallery.length > 16 ? "crowd" : parts.gallery.length > 8 ? "many" : "few";
  if (narrow.matches) delete stage.dataset.mode; // of a window that was wider before
  else arrange(stage, parts);
}

const aimsAt = (last, name) => (last?.aims || []).filter(([target]) => target === name).map(([, x, y]) => [x, y]);

// Shows all boards as they are now.
function settle() {
  for (const tile of shownTiles()) {
    const player = picture.players.find(({ name }) => name === tile.name);
    const cells = player && cellsOf(player);
    if (cells && tile.board) tile.board.show(cells, aimsAt(picture.last, player.name));
  }
}

// The salvo that is new since the picture before: boards are as they were, then the shots fall one by one, the slower the longer a tape stays there.
function fly(before) {
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

// --- lobby -----------------------------------------------------------------------------------------------------------

function drawLobby() {
  const { players, rules, lobby, league, evening } = picture;
  const ships = rules.fleet.length;
  if (inLeague(picture)) return drawRound(league);
  const missing = evening.missing.filter((name) => !players.some((player) => player.name === name));
  if (awaited(picture)) return drawArrivals(league.rows, missing);
  const complete = players.filter(({ placed }) => (placed ?? 0) >= ships).length;
  const needed = lobby?.players ? ` of ${lobby.players}` : "";
  say(find("roster-count"), players.length ? `${players.length}${needed} here, ${complete} complete` : needed ? `Nobody yet${needed}` : "Nobody is here yet");
  const join = find("join"); // stands with the teams while a place is free
  const home = find("lobby").querySelector(players.length < (lobby?.players ?? 2) ? ".arrived" : ".invitation");
  if (join.parentElement !== home) home.append(join);
  document.querySelectorAll(".watch b, .join b").forEach(fit);
  inColumns(players.length + missing.length);
  find("roster").classList.remove("matches");
  fill(find("roster"), JSON.stringify([players.map(({ name, placed }) => [name, placed, ships]), missing]), () => [
    ...players.map((player) => {
      const placed = Math.min(ships, player.placed ?? 0);
      const done = placed >= ships;
      const told = make("span", "placed", done ? "ready" : `${placed}/${ships}`);
      return make("li", `team ${colourOf(player)}${done ? " complete" : ""}`, badge(player), nameOf(player.name), told);
    }),
    ...missing.map(anAbsent),
  ]);
}

const anAbsent = (name) => make("li", "team absent", nameOf(name), make("span", "placed", "not here yet"));

// Who has come to a league that has not begun; its teams may be at other tables meanwhile.
function drawArrivals(rows, missing) {
  const all = rows.length + missing.length;
  say(find("roster-count"), rows.length ? `${missing.length ? `${rows.length} of ${all}` : rows.length} ${all === 1 ? "team" : "teams"} here` : "Nobody is here yet");
  inColumns(all);
  find("roster").classList.remove("matches");
  fill(find("roster"), JSON.stringify(["here", rows, missing]), () => [
    ...rows.map((team) => make("li", `team complete ${colourOf(team)}`, badge(team), nameOf(team.name))),
    ...missing.map(anAbsent),
  ]);
}

// More than `most` lines stand in two columns, and many more in three or four.
function inColumns(lines, most = 8) {
  const columns = [1, 2, 4].filter((more) => lines > more * most).length + 1;
  const { style } = find("roster");
  style.setProperty("--columns", columns);
  style.setProperty("--rows", Math.max(1, Math.ceil(lines / columns)));
}

// A round of a league: who plays whom and where, and once it has been played, who was first.
function drawRound({ name, over, left, matches, rows }) {
  say(find("roster-count"), over ? "Final table" : [plain(name), left].filter(Boolean).join(" · "));
  const lines = over ? rows : matches;
  if (over) inColumns(rows.length);
  else inColumns(matches.flatMap(({ teams }) => teams).length, 12);
  find("roster").classList.toggle("matches", !over);
  fill(find("roster"), JSON.stringify(["league", over, lines]), () => (over ? rows.map(aRow) : matches.map(aMatch)));
}

const aTeam = (team, place) => make("span", `team ${colourOf(team)}`, ...(place ? [make("b", "place", `${place}.`)] : []), badge(team), nameOf(team.name));

function aMatch({ teams, table, places }) {
  const order = teams.map((team, index) => [team, places[index]]).sort(([, a], [, b]) => (a ?? 0) - (b ?? 0));
  const told = teams.length < 2 ? "bye" : places.length ? "played" : table === null ? "next" : titleOf(table);
  return make("li", places.length ? "match complete" : "match", make("span", "teams", ...order.map(([team, place]) => aTeam(team, place))), make("span", "placed", told));
}

const aRow = (row) => make("li", `row complete${row.place === 1 ? " first" : ""}`, aTeam(row, row.place), make("span", "placed", counted(Number(row.points.toFixed(2)), "point")));

// --- beside the boards -----------------------------------------------------------------------------------------------

const mark = (kind) => {
  const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  icon.setAttribute("viewBox", "0 0 24 24");
  icon.setAttribute("aria-hidden", "true");
  icon.append(document.createElementNS("http://www.w3.org/2000/svg", "use"));
  icon.firstChild.setAttribute("href", `#${kind}`);
  return icon;
};
const KINDS = ["sunk", "defeated", "began", "won"];

// The heads of a list's columns; a screen reader has them in each line's title.
function columnHeads(...heads) {
  const line = make("li", "heads", ...heads.map((head) => make("span", "", head)));
  line.setAttribute("aria-hidden", "true");
  return line;
}

function drawSide() {
  const { feed, chat, league } = picture;
  const inTable = inLeague(picture) && league.over; // the boards' place has the final table
  const standings = inTable ? [] : league?.rows.length ? league.rows : picture.standings;
  say(find("standings").querySelector("h2"), league?.rows.length ? plain(league.name) : "This evening");
  fill(find("feed-list"), JSON.stringify(feed), () =>
    feed.map((item) => {
      const kind = KINDS.includes(item.kind) ? item.kind : "began";
      return make("li", kind, mark(kind), make("p", "", ...pieces(news(item))));
    }),
  );
  fill(find("standings-list"), JSON.stringify([standings, mine]), () => [
    ...(standings.length ? [columnHeads("", "Team", "Points", "Games", league ? "Won" : "Hits")] : []),
    ...standings.map((row) => {
      const figures = [Number(row.points.toFixed(2)), row.games, "wins" in row ? row.wins : row.shots ? `${Math.round((100 * row.hits) / row.shots)} %` : ""];
      const team = make("span", `team ${colourOf(row)}`, badge(row), nameOf(row.name));
      return make("li", row.name === mine ? `followed ${colourOf(row)}` : "", make("span", "place", String(row.place)), team, ...figures.map((figure) => make("span", "", String(figure))));
    }),
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

function drawChances() {
  const all = picture.players.filter(({ chance, out }) => chance !== null && !out);
  const racing = all.length > MANY_CHANCES ? [...all].sort((a, b) => b.chance - a.chance).slice(0, BEST_CHANCES) : all;
  const others = all.filter((player) => !racing.includes(player));
  const there = picture.state === "turn" && racing.length > 1;
  show(find("chances"), there);
  if (!there) return;
  const list = find("chances-list");
  fill(list, JSON.stringify([racing.map(({ name }) => name), all.length]), () => [
    ...racing.map((player) => make("li", colourOf(player), badge(player), nameOf(player.name), make("b"))),
    ...(others.length ? [make("li", "others", `${others.length} others`, make("b"))] : []),
  ]);
  const rest = others.length ? [others.reduce((sum, { chance }) => sum + chance, 0)] : [];
  const words = percents([...racing.map(({ chance }) => chance), ...rest]).map((percent) => `${percent} %`);
  if (others.length) say(list.lastChild.lastChild, words.at(-1));
  racing.forEach((player, index) => {
    const item = list.children[index];
    item.style.flexGrow = Math.max(0.4, 100 * player.chance);
    item.title = `${plain(player.name)} ${words[index]}`;
    say(item.lastChild, words[index]);
  });
}

const clockTime = (ms) => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });

function drawTop() {
  const { tables, table, tape, game, rules, state, trouble, withheld } = picture;
  const names = tables.map(([name]) => name);
  if (!names.includes(table)) names.push(table);
  const choice = find("table");
  if (fill(choice, JSON.stringify(names), () => names.sort(byName).map((name) => Object.assign(make("option", "", titleOf(name)), { value: name })))) choice.value = table;
  choice.value = table;
  show(choice, names.length > 1);
  say(find("game"), state && game ? `game ${game} · ${plain(rules.name)} ${rules.width} × ${rules.height}` : state ? `${plain(rules.name)} ${rules.width} × ${rules.height}` : "");
  say(find("of"), tape ? `tape${tape.table !== table.split("@")[0] ? ` of ${titleOf(tape.table)}` : ""}, over at ${clockTime(tape.ended)}` : "live");
  find("of").classList.toggle("late", Boolean(tape));
  show(find("of"), Boolean(state && (tape || !(trouble || withheld)))); // else what is shown is of a moment ago
  show(find("live"), !own && (asksLive() || Boolean(tape)));
  find("live").setAttribute("aria-pressed", asksLive());
  document.title = `Salvo: ${titleOf(table)}`;
}

function drawOwn() {
  if (!own) return;
  const { last } = picture;
  if (last?.player === own && !last.shots) missed = last;
  const words = ownLine(picture, own, missed, seated);
  fill(find("own-line"), JSON.stringify(words), () => pieces(words));
  show(find("own"), true);
}

function drawTrouble() {
  const words = trouble(picture, away);
  say(find("trouble"), words);
  show(find("trouble"), words !== "");
  body.classList.toggle("stale", words !== "");
  const line = hostLine(picture);
  say(find("host"), line);
  show(find("host"), line !== "");
}

// --- the end of a game -----------------------------------------------------------------------------------------------

function openSplash() {
  const { winners, players, last, rules } = picture;
  const { target } = featured();
  const struck = players.find(({ name }) => name === target);
  const cells = struck && cellsOf(struck);
  const others = players.filter((player) => !winners.includes(player.name) && player.place);
  const more = [];
  if (cells && others.length <= FEW_PLACES) {
    const board = new Board(rules, false);
    board.show(cells, aimsAt(last, target));
    board.element.setAttribute("aria-label", `Board of ${plain(target)}`);
    const sea = make("div", "sea", board.element);
    sea.style.aspectRatio = `${rules.width} / ${rules.height}`;
    more.push(make("figure", "", sea, make("figcaption", "", make("span", `team ${colourOf(struck)}`, badge(struck), nameOf(target)), " after the last salvo")));
  }
  if (picture.game && find("again").querySelector("a")) more.push(Object.assign(find("again").cloneNode(true), { id: "", hidden: false }));
  crown(winners, victory(picture), reason(picture), others, more);
}

// The end of a league: its first three, then the rest.
function crownLeague(league) {
  const first = league.rows.filter(({ place }) => place === 1);
  crown(first.map(({ name }) => name), champions(league), [], league.rows.slice(first.length));
  splashEnds += CEREMONY_MS - SPLASH_MS;
}

// The winners large, each on a line of its own, with what `words` say after their names.
function crown(winners, words, why, others, more = []) {
  const teams = winners.map(teamOf).filter(Boolean);
  if (!teams.length) return;
  find("splash").className = colourOf(teams[0]);
  find("winner").replaceChildren(
    ...teams.slice(0, 3).map((team) => make("p", `team ${colourOf(team)}`, badge(team), nameOf(team.name))),
    make("p", "wins", words.at(-1)),
    make("p", "why", ...pieces(why)),
  );
  const rows = others.slice(0, MANY_PLACES).map((team) => make("li", `team ${colourOf(team)}`, make("b", "place", String(team.place)), badge(team), nameOf(team.name)));
  if (others.length > rows.length) rows.push(make("li", "", `and ${others.length - rows.length} more`));
  find("places").replaceChildren(...rows);
  find("beside-winner").replaceChildren(...more);
  find("splash").hidden = false;
  for (const line of find("winner").querySelectorAll(".team, .wins")) fit(line);
  splashEnds = performance.now() + SPLASH_MS;
  play("won");
}

function closeSplash() {
  splashEnds = 0;
  show(find("splash"), false);
}

// --- a picture -------------------------------------------------------------------------------------------------------

const salvoOf = ({ last }) => (last ? `${last.game ?? ""}/${last.turn}` : "");
const gameOf = ({ table, tape, game }) => `${tape ? `tape of ${tape.table}` : table}/${game}`;

function take(next) {
  const before = picture && picture.table === next.table ? picture : null;
  const fresh = before && next.last && next.state !== "lobby" && salvoOf(next) !== salvoOf(before);
  const runsBy = next.tape !== null && next.state === "turn" && next.tape.ms < SLOW_MS; // too short for its sentence and its flight
  const flying = before && !fresh && before.state === next.state && endVolley !== none; // news of something else ends no flight
  if (!flying) endVolley();
  picture = next;
  if (runsBy) outcomeUntil = 0;
  else if (fresh) outcomeUntil = performance.now() + OUTCOME_MS;
  else if (!before || next.state !== "turn") outcomeUntil = 0;
  body.dataset.state = next.state;
  drawTop();
  drawTrouble();
  setClock();
  drawHeadline();
  drawBoards();
  drawSide();
  drawChances();
  drawOwn();
  if (fresh && !runsBy && gameOf(before) === gameOf(next) && !still() && !document.hidden) fly(before);
  else if (!flying) settle();
  if (before?.league && !before.league.over && next.league?.over) crownLeague(next.league);
  else if (next.state !== "over") next.league?.over || closeSplash();
  else if (before && next.winners.length && !(before.state === "over" && before.winners.length)) openSplash();
}

// --- which table -----------------------------------------------------------------------------------------------------

let leave = () => {};

function watch(table) {
  leave();
  endVolley();
  closeSplash();
  leave = live(
    table,
    take,
    (is) => {
      away = is;
      drawTrouble();
    },
    Boolean(own) || asksLive(),
  );
}

// Whether this page is to be live where it would show a tape.
const asksLive = () => new URLSearchParams(location.search).has("live");

function switchLive() {
  const query = new URLSearchParams(location.search);
  if (asksLive()) query.delete("live");
  else query.set("live", "");
  history.replaceState(null, "", `?${query}`);
  watch(picture?.table ?? chosen());
}

const chosen = () => new URLSearchParams(location.search).get("table") || "";

function choose(table) {
  history.pushState(null, "", table ? `?table=${encodeURIComponent(table)}` : location.pathname);
  watch(table);
}

// A team's page follows it from table to table: to a game that it plays, or to the lobby of its next one.
function followOwn() {
  let here = null;
  const rank = (table) => (table ? ["over", "lobby", "turn"].indexOf(table.state) : -2);
  live(undefined, ({ tables }) => {
    seated = tables.flatMap(({ players }) => players.map(({ name }) => name));
    if (picture) drawOwn();
    const found = tables.filter(({ players }) => players.some(({ name }) => name === own));
    const [best] = [...found].sort((a, b) => rank(b) - rank(a));
    if (here !== null && rank(best) <= rank(found.find(({ table }) => table === here))) return;
    here = best?.table ?? "";
    watch(here);
  }, () => {});
}

const rotation = "director" in body.dataset ? director(watch) : null;
if (own) followOwn();
else if (!rotation) watch(chosen());
addEventListener("popstate", () => rotation || own || watch(chosen()));
find("table").addEventListener("change", (event) => (rotation ? rotation.show(event.target.value) : choose(event.target.value)));

function step(by) {
  const names = picture ? picture.tables.map(([name]) => name).sort(byName) : [];
  if (names.length < 2) return;
  const next = names[(names.indexOf(picture.table) + by + names.length) % names.length];
  if (rotation) rotation.show(next);
  else choose(next);
}

// --- keys, tabs and what depends on the window -----------------------------------------------------------------------

atKey("f", find("full"), () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.()));
atKey("l", find("live"), switchLive);
atKey("s", find("sound"), () => find("sound").setAttribute("aria-pressed", toggle()));
atKey("ArrowLeft", null, () => step(-1));
atKey("ArrowRight", null, () => step(1));
atKey("Escape", null, closeSplash);
find("splash").addEventListener("click", closeSplash);

const tabs = [...document.querySelectorAll("[role=tab]")];

function select(tab) {
  body.dataset.view = tab.getAttribute("aria-controls");
  for (const each of tabs) {
    each.setAttribute("aria-selected", each === tab);
    each.tabIndex = each === tab ? 0 : -1;
  }
}

for (const [index, tab] of tabs.entries()) {
  tab.addEventListener("click", () => select(tab));
  tab.addEventListener("keydown", ({ key }) => {
    const to = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: -1 }[key];
    if (to === undefined) return;
    const next = tabs.at(to % tabs.length);
    select(next);
    next.focus();
  });
}

function resized() {
  endVolley();
  if (!picture) return;
  drawBoards();
  settle();
  fit(find("headline"));
}

new ResizeObserver(resized).observe(stage);
narrow.addEventListener("change", resized);
