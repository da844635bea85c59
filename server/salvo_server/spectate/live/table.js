// What is known of a table, from the topics that this page hears (proto/README.md). Everything in a message may be anybody's
// invention: what is not of the expected shape is passed over, and what is kept has a bound. Nothing here draws.

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;
const SHIP = /^[A-Za-z0-9 _-]{1,32}$/;
const MAX_PLAYERS = 1000;
const MAX_TABLES = 100;
const MAX_SAID = 20_000; // of what is told ship by ship
const MAX_SALVOS = 60;
const MAX_LINES = 60;
const MAX_GAMES = 500;
const MAX_TEXT = 300;
const MAX_SIDE = 26;
const ROOTS = ["game", "players", "player"];

// Returns a table's name, "" for the default one, and what is below it; null for what is no topic of a table.
function topicOf(topic) {
  const levels = topic.split("/");
  if (levels[0] !== "" || levels.length < 3) return null;
  if (ROOTS.includes(levels[1])) return { table: "", levels: levels.slice(1) };
  return NAME.test(levels[1]) ? { table: levels[1], levels: levels.slice(2) } : null;
}

const prefixOf = (table) => (table ? `/${table}` : "");
const DISCOVERY = ["/game/state", "/+/game/state", "/game/server", "/+/game/server"];
const filtersOf = (table) =>
  [
    ...["rules", "state", "turn", "result", "winner", "stats/+", "chat", "referee"].map((each) => `/game/${each}`),
    ...["list", "+/ships/+/approved", "+/ships/+/sunk", "+/defeated", "+/board", "+/fleet"].map((each) => `/players/${each}`),
  ].map((path) => prefixOf(table) + path);

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
const isName = (value) => typeof value === "string" && NAME.test(value);
const shipKey = (name) => name.toLowerCase().replace(/[-_ ]/g, "");
// One line without what steers: control characters, and those that turn the direction of writing.
const shownText = (text) =>
  [...text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")].slice(0, MAX_TEXT).join("");

const PLAIN_RULES = {
  name: "salvo",
  width: 10,
  height: 10,
  fleet: [["carrier", 5], ["battleship", 4], ["destroyer", 3], ["submarine", 3], ["patrolboat", 2]],
  told: true,
  goal: 0,
};

function readRules(value) {
  if (!isObject(value) || !isObject(value.fleet)) return null;
  const { width, height } = value;
  if (![width, height].every((side) => isCount(side) && side >= 1 && side <= MAX_SIDE)) return null;
  const fleet = Object.entries(value.fleet).filter(([name, length]) => SHIP.test(name) && isCount(length) && length <= MAX_SIDE);
  if (fleet.length > 26) return null;
  const name = typeof value.rules === "string" ? shownText(value.rules) : "";
  return { name, width, height, fleet, told: value.sinkings !== "untold", goal: isCount(value.goal) ? value.goal : 0 };
}

function readTurn(value) {
  if (!isObject(value) || !isName(value.player)) return null;
  const numbers = ["game", "turn", "shots", "now", "deadline"];
  return numbers.every((each) => isCount(value[each])) ? value : null;
}

function readResult(value) {
  if (!isObject(value) || !isName(value.player)) return null;
  if (!["game", "turn", "shots", "hits"].every((each) => isCount(value[each]))) return null;
  const sunk = Array.isArray(value.sunk) ? value.sunk : [];
  const defeated = Array.isArray(value.defeated) ? value.defeated : [];
  const aims = Array.isArray(value.aims) ? value.aims : [];
  return {
    ...value,
    sunk: sunk.filter((each) => isObject(each) && isName(each.player) && SHIP.test(String(each.ship))).slice(0, MAX_PLAYERS),
    defeated: defeated.filter(isName).slice(0, MAX_PLAYERS),
    aims: aims.filter((each) => isObject(each) && isName(each.to) && isCell(each)).slice(0, 26),
  };
}

const isCell = ({ x, y }) => [x, y].every((side) => isCount(side) && side >= 1 && side <= MAX_SIDE);
const cellName = ({ x, y }) => `${String.fromCharCode(64 + y)}${x}`;

function readStats(value) {
  const numbers = ["shots", "hits", "sunk", "turns", "place"];
  return isObject(value) && numbers.every((each) => isCount(value[each])) ? value : null;
}

function readWinner(text) {
  if (NAME.test(text)) return [text];
  const value = parsed(text);
  return Array.isArray(value) && value.length && value.every(isName) ? value.slice(0, MAX_PLAYERS) : null;
}

function readReferee(value, { width, height }) {
  if (!isObject(value) || !isCount(value.game) || !isCount(value.turn) || !Array.isArray(value.boards)) return null;
  const row = new RegExp(`^[a-zA-Z.*]{${width}}$`);
  const boards = new Map();
  for (const each of value.boards.slice(0, MAX_PLAYERS)) {
    if (!isObject(each) || !isName(each.player) || !Array.isArray(each.rows) || each.rows.length !== height) return null;
    if (!each.rows.every((letters) => typeof letters === "string" && row.test(letters))) return null;
    boards.set(each.player, each.rows.join(""));
  }
  const shots = isObject(value.last) && Array.isArray(value.last.shots) ? value.last.shots : [];
  const latest = shots.filter((each) => isObject(each) && isName(each.to) && isCell(each)).slice(0, 26);
  const shooter = isObject(value.last) && isName(value.last.player) ? value.last.player : "";
  return { game: value.game, turn: value.turn, boards, latest, shooter };
}

// What the server says of itself at /game/server.
function readStatus(value) {
  if (!isObject(value)) return null;
  const status = ["online", "offline", "paused"].includes(value.status) ? value.status : "";
  const topic = typeof value.status_topic === "string" ? topicOf(value.status_topic) : null;
  if (!status && !topic) return null;
  return { status, table: topic ? topic.table : null, game: isCount(value.game) ? value.game : 0 };
}

class Table {
  rules = PLAIN_RULES;
  salvos = []; // the newest first
  lines = []; // of chat, the newest last
  evening = new Map(); // by game: {winners, stats}
  counts = { game: -1, last: 0, missed: false, players: new Map() };
  #offset = null; // how much later the server's clock is than ours

  constructor(name) {
    this.name = name;
    this.again();
  }

  // A connection is new: all that is retained comes once more, and what is gone does not.
  again() {
    this.state = "";
    this.names = [];
    this.turn = null;
    this.turnOver = false;
    this.ends = 0;
    this.winners = null;
    this.stats = new Map();
    this.placed = new Map();
    this.sunk = new Map(); // by player, the ships
    this.out = new Set();
    this.boards = new Map();
    this.fleets = new Map();
    this.referee = null;
    this.said = 0;
  }

  get game() {
    return this.turn ? this.turn.game : Math.max(0, this.counts.game);
  }

  // Takes in what was said below this table; `now` is ours, in epoch milliseconds. Returns what is worth calling out.
  take(levels, text, retained, now) {
    const news = this.#take(levels, text, retained, now) || "";
    this.#note();
    return news;
  }

  #take(levels, text, retained, now) {
    const path = levels.join("/");
    if (levels[0] === "players") return this.#ofPlayer(levels, path, text);
    if (levels[0] !== "game") return "";
    if (path === "game/state") return this.#stateIs(text);
    if (path === "game/rules") this.rules = readRules(parsed(text)) || this.rules;
    else if (path === "game/turn") this.#turnIs(text && readTurn(parsed(text)), retained, now);
    else if (path === "game/result") return this.#resolved(readResult(parsed(text)));
    else if (path === "game/winner") return this.#wonBy(text && readWinner(text));
    else if (path === "game/referee") this.referee = text ? readReferee(parsed(text), this.rules) || this.referee : null;
    else if (path === "game/chat" && !retained) this.#heard(parsed(text));
    else if (levels[1] === "stats" && levels.length === 3) this.#figures(levels[2], readStats(parsed(text)));
    return "";
  }

  #stateIs(text) {
    if (text === this.state || !["lobby", "turn", "over"].includes(text)) return "";
    const began = this.state === "lobby" && text === "turn";
    this.state = text;
    if (text === "lobby") this.#forget();
    return began ? "The game begins." : "";
  }

  // The next game begins from nothing; who plays, and which ships are placed, is told anew before the state is.
  #forget() {
    this.turn = this.winners = this.referee = null;
    this.counts.game = -1;
    for (const each of [this.stats, this.sunk, this.out, this.boards, this.fleets]) each.clear();
    this.said = [...this.placed.values()].reduce((count, ships) => count + ships.size, 0);
  }

  #turnIs(turn, retained, now) {
    this.turn = turn || null;
    if (!turn) return;
    if (!retained || this.#offset === null) this.#offset = retained ? 0 : turn.now - now;
    const whole = Math.max(0, turn.deadline - turn.now);
    const left = retained ? turn.deadline - now - this.#offset : whole;
    this.ends = now + Math.min(whole, Math.max(0, left));
    this.turnOver = this.#countsOf(turn.game).last >= turn.turn;
  }

  #countsOf(game) {
    if (this.counts.game !== game) this.counts = { game, last: 0, missed: false, players: new Map() };
    return this.counts;
  }

  #resolved(result) {
    if (!result) return "";
    const counts = this.#countsOf(result.game);
    if (result.turn <= counts.last) return "";
    // What lies between was missed: the figures are of what this page has heard.
    counts.missed ||= result.turn > counts.last + 1;
    counts.last = result.turn;
    this.#count(counts, result);
    if (this.turn && this.turn.game === result.game && result.turn >= this.turn.turn) this.turnOver = true;
    for (const { player, ship } of result.sunk) this.#sink(player, ship);
    for (const name of result.defeated) this.out.add(name);
    const news = [
      ...result.sunk.map(({ player, ship }) => `${player}'s ${ship} sunk`),
      ...result.defeated.map((name) => `${name} is out`),
    ];
    this.#log(result, news);
    return news.length ? `${result.player}: ${news.join(", ")}.` : "";
  }

  #count(counts, { player, shots, hits }) {
    if (!counts.players.has(player) && counts.players.size >= MAX_PLAYERS) return;
    const figures = counts.players.get(player) || { shots: 0, hits: 0, turns: 0, last: "" };
    figures.shots += shots;
    figures.hits += hits;
    figures.turns += 1;
    figures.last = `${hits} of ${shots}`;
    counts.players.set(player, figures);
  }

  #log(result, news) {
    const aims = result.aims.map((aim) => `${aim.to} ${cellName(aim)}`).join(", ");
    const { game, turn, player, shots, hits } = result;
    this.salvos.unshift({ key: `${game}/${turn}`, game, turn, player, shots, hits, aims, news: news.join(", ") });
    this.salvos.length = Math.min(this.salvos.length, MAX_SALVOS);
  }

  #wonBy(winners) {
    const fresh = winners && String(winners) !== String(this.winners);
    this.winners = winners || null;
    return fresh ? `${winners.join(" and ")} ${winners.length > 1 ? "tie" : "wins"}.` : "";
  }

  #figures(name, stats) {
    if (!isName(name)) return;
    if (!stats) this.stats.delete(name);
    else if (this.stats.size < MAX_PLAYERS) this.stats.set(name, stats);
  }

  #heard(line) {
    if (!isObject(line) || typeof line.text !== "string" || typeof line.from !== "string") return;
    if (line.from && !isName(line.from)) return;
    const key = this.lines.length ? this.lines[this.lines.length - 1].key + 1 : 0;
    this.lines.push({ key, from: line.from, text: shownText(line.text) });
    if (this.lines.length > MAX_LINES) this.lines.shift();
  }

  #ofPlayer(levels, path, text) {
    if (path === "players/list") {
      const names = text ? parsed(text) : [];
      if (Array.isArray(names)) this.names = [...new Set(names.filter(isName))].slice(0, MAX_PLAYERS);
      return "";
    }
    const [, player, what, ship, last] = levels;
    if (!isName(player)) return "";
    if (levels.length === 3) this.#toldOf(player, what, text);
    else if (levels.length === 5 && what === "ships" && SHIP.test(ship)) this.#toldOfShip(player, ship, last, text);
    return "";
  }

  #toldOf(player, what, text) {
    if (what === "defeated" && text === "true" && this.out.size < MAX_PLAYERS) this.out.add(player);
    else if (what === "defeated" && !text) this.out.delete(player);
    else if (what === "board" && /^[.X0]*$/.test(text) && this.boards.size < MAX_PLAYERS)
      text ? this.boards.set(player, text) : this.boards.delete(player);
    else if (what === "fleet" && this.fleets.size < MAX_PLAYERS) {
      const ships = text && parsed(text);
      ships ? this.fleets.set(player, ships) : this.fleets.delete(player);
    }
  }

  #toldOfShip(player, ship, last, text) {
    if (last === "approved") this.#mark(this.placed, player, ship, text === "true");
    else if (last === "sunk") text === "true" ? this.#sink(player, ship) : this.#mark(this.sunk, player, ship, false);
  }

  #sink(player, ship) {
    this.#mark(this.sunk, player, ship, true);
  }

  #mark(where, player, ship, is) {
    const ships = where.get(player) || new Set();
    const key = shipKey(ship);
    if (!is) ships.delete(key);
    else if (!ships.has(key) && ++this.said <= MAX_SAID) where.set(player, ships.add(key));
  }

  // The evening: a game that is over, once, however often its end is told.
  #note() {
    if (this.state !== "over" || !this.winners || !this.turn) return;
    if (this.evening.size >= MAX_GAMES && !this.evening.has(this.turn.game)) return;
    this.evening.set(this.turn.game, { winners: this.winners, stats: new Map(this.stats) });
  }

  hasSunk(player, ship) {
    return this.sunk.has(player) && this.sunk.get(player).has(shipKey(ship));
  }

  afloat(player) {
    return this.rules.fleet.filter(([ship]) => !this.hasSunk(player, ship)).length;
  }

  ready(player) {
    const placed = this.placed.get(player);
    return this.rules.fleet.filter(([ship]) => placed && placed.has(shipKey(ship))).length;
  }

  // Shots, hits and turns: the server's own figures at the end, before that what was heard.
  figures(player) {
    return this.stats.get(player) || this.counts.players.get(player) || { shots: 0, hits: 0, turns: 0, last: "" };
  }

  // Whether the figures leave out turns before this page came, or while it was away.
  get partial() {
    return this.counts.game === this.game && this.counts.missed && !this.stats.size;
  }

  // The games that this page has seen to their end: by player games, wins (a tie of two is half a win), shots and hits.
  standings() {
    const rows = new Map();
    for (const { winners, stats } of this.evening.values()) {
      for (const name of new Set([...stats.keys(), ...winners])) {
        const row = rows.get(name) || { name, games: 0, wins: 0, shots: 0, hits: 0 };
        const figures = stats.get(name) || { shots: 0, hits: 0 };
        row.games += 1;
        row.wins += winners.includes(name) ? 1 / winners.length : 0;
        row.shots += figures.shots;
        row.hits += figures.hits;
        rows.set(name, row);
      }
    }
    return [...rows.values()].sort((a, b) => b.wins - a.wins || a.games - b.games || a.name.localeCompare(b.name));
  }
}
