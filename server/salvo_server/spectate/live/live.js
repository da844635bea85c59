// The page: draws what is known at most once a frame, asks for a name where one is needed, and says what is wrong. Whatever
// somebody has written gets into the page as text and in no other way.

function live() {
  const byId = (id) => document.getElementById(id);
  const root = byId("live");
  const given = root.dataset;
  const SVG = "http://www.w3.org/2000/svg";
  const [FEW_PLAYERS, MANY_PLAYERS] = [4, 8];
  const TELL_MS = 2500; // between two things that a screen reader is told

  const tables = new Map();
  const statuses = new Map(); // by table
  let chosen = given.table;
  let line;
  let known = false; // whether anything was heard since the connection stands
  let patience = 0;

  // --- the address, and the account -------------------------------------------------------------------------------------

  function brokerUrl() {
    if (given.broker) return given.broker;
    const url = new URL("mqtt", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.search = url.hash = "";
    return url.href;
  }

  const KEPT = "salvo.account";

  function kept() {
    try {
      const account = parsed(sessionStorage.getItem(KEPT) || "null");
      return isObject(account) && typeof account.user === "string" && typeof account.secret === "string" ? account : null;
    } catch {
      return null; // a browser that lets this page keep nothing
    }
  }

  function keep(account) {
    try {
      if (account) sessionStorage.setItem(KEPT, JSON.stringify(account));
      else sessionStorage.removeItem(KEPT);
    } catch {
      // then it is asked for again after a reload
    }
  }

  // Reads #user=..&secret=..&table=.., which no browser sends anywhere, and takes the secret out of the address.
  function fromAddress() {
    const told = new URLSearchParams(location.hash.slice(1));
    const table = told.get("table");
    if (table !== null && (table === "" || NAME.test(table))) chosen = table;
    const [user, secret] = [told.get("user"), told.get("secret")];
    if (!user || secret === null) return null;
    told.delete("user");
    told.delete("secret");
    const rest = told.toString();
    history.replaceState(null, "", `${location.pathname}${location.search}${rest ? `#${rest}` : ""}`);
    return { user: user.slice(0, 64), secret: secret.slice(0, 256) };
  }

  function ask(why) {
    byId("wrong").textContent = why;
    if (byId("login").hidden) {
      byId("login").hidden = false;
      byId("user").focus();
    }
    draw();
  }

  function come(account) {
    keep(account);
    byId("login").hidden = true;
    byId("secret").value = "";
    for (const table of tables.values()) table.again();
    statuses.clear();
    line.come(account);
    draw();
  }

  // --- what is heard ----------------------------------------------------------------------------------------------------

  function tableOf(name) {
    if (!tables.has(name) && tables.size >= MAX_TABLES) return null;
    if (!tables.has(name)) tables.set(name, new Table(name));
    return tables.get(name);
  }

  function heard(topic, text, retained) {
    const at = topicOf(topic);
    if (!at) return;
    const table = tableOf(at.table);
    if (!table) return;
    known = true;
    if (at.levels.join("/") === "game/server") {
      const status = text && readStatus(parsed(text));
      status ? statuses.set(at.table, status) : statuses.delete(at.table);
    } else {
      const news = table.take(at.levels, text, retained, Date.now());
      if (news && !retained && at.table === chosen) tell(news);
    }
    draw();
  }

  function accepted() {
    known = false;
    clearTimeout(patience);
    patience = setTimeout(draw, 5000);
    for (const table of tables.values()) table.again();
    line.subscribe([...DISCOVERY, ...filtersOf(chosen)]);
  }

  function choose(table) {
    line.unsubscribe(filtersOf(chosen).filter((filter) => !DISCOVERY.includes(filter)));
    chosen = table;
    const now = tableOf(chosen);
    if (now) now.again();
    byId("players").replaceChildren();
    cards.clear();
    line.subscribe([...filtersOf(chosen)]);
    const told = new URLSearchParams(location.hash.slice(1));
    told.set("table", table);
    history.replaceState(null, "", `#${told}`);
    draw();
  }

  function stateIs(state) {
    if (state === "login") ask("");
    else if (state === "wrong") {
      keep(null);
      ask(`The broker does not accept this name and secret: ${line.user.replace(/\.\d+$/, "")}.`);
    } else if (state === "on") byId("login").hidden = true;
    draw();
  }

  // A table's status; a further table's says at which table it is told.
  function statusOf(table) {
    const own = statuses.get(table);
    const from = own && own.status === "" && own.table !== null ? statuses.get(own.table) : own;
    return from ? from.status : "";
  }

  // --- for those who hear the page ------------------------------------------------------------------------------------

  let untold = [];
  let telling = 0;

  function tell(news) {
    untold = [...untold, news].slice(-6);
    telling ||= setTimeout(() => {
      byId("told").textContent = untold.join(" ");
      untold = [];
      telling = 0;
    }, TELL_MS);
  }

  // --- drawing ----------------------------------------------------------------------------------------------------------

  let frame = 0;
  const draw = () => (frame ||= requestAnimationFrame(show));

  function set(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  function made(tag, text = "", classes = "") {
    const element = document.createElement(tag);
    element.textContent = text;
    element.className = classes;
    return element;
  }

  const drawn = (tag, attributes) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };

  const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  function show() {
    frame = 0;
    const table = tableOf(chosen) || new Table(chosen);
    const trouble = troubleOf(table);
    byId("trouble").hidden = !trouble;
    set(byId("trouble"), trouble);
    showHeader(table);
    root.hidden = !table.state && !table.salvos.length;
    root.classList.toggle("stale", line.state !== "on" || statusOf(chosen) === "offline");
    showNow(table);
    showPlayers(table);
    showSalvos(table);
    showLines(table);
    showEvening(table);
  }

  function troubleOf(table) {
    if (line.state === "bad") return `This page has no valid broker address: ${brokerUrl()}`;
    if (line.state === "full")
      return `All viewers of ${line.user.replace(/\.\d+$/, "")} are in use. The organiser can allow more: salvo teams screens NAME N. Still retrying.`;
    if (line.state === "away") return "The broker does not answer. Still retrying; this is the last known state.";
    if (line.state !== "on") return "";
    const status = statusOf(chosen);
    if (status === "offline") return "The server is offline. The game continues when it is back.";
    if (status === "paused") return "The server is paused: its disk is full. The game continues when there is space.";
    if (!table.state && !known) return "No contest here yet: there is no server on this broker, or this account may not read it.";
    return "";
  }

  const PILLS = { "": "log in", connecting: "connecting", away: "broker away", login: "log in", wrong: "log in", full: "all places in use", bad: "no broker" };

  function showHeader(table) {
    const status = statusOf(chosen);
    const said = line.state !== "on" ? PILLS[line.state] || "" : status === "online" ? "live" : status || "waiting";
    set(byId("server"), said);
    byId("server").className = `pill ${said === "live" ? "good" : ["connecting", "waiting", "log in"].includes(said) ? "" : "bad"}`;
    const facts = [table.rules.name, `${table.rules.width} x ${table.rules.height}`, ...(line.user ? [`as ${line.user}`] : [])];
    set(byId("where"), table.state ? facts.join(" \u00b7 ") : "");
    byId("account").hidden = !line.user || line.state === "wrong";
    showTables();
  }

  function showTables() {
    const names = [...tables.keys()].filter((name) => name === chosen || tables.get(name).state).sort();
    byId("tables").hidden = names.length < 2;
    const select = byId("table");
    if (select.dataset.names !== JSON.stringify(names)) {
      select.dataset.names = JSON.stringify(names);
      select.replaceChildren(...names.map((name) => {
        const option = made("option", name || "main");
        option.value = name;
        return option;
      }));
    }
    if (select.value !== chosen) select.value = chosen;
  }

  // --- now --------------------------------------------------------------------------------------------------------------

  function showNow(table) {
    const { headline, more } = sayNow(table);
    set(byId("headline"), headline);
    set(byId("more"), more);
    document.title = table.state ? `${headline}: Salvo` : "Salvo, live";
    showClock(table);
  }

  function sayNow(table) {
    const game = table.game ? `game ${table.game}` : "";
    if (table.state === "over" && table.winners) {
      const who = table.winners.join(" and ");
      return { headline: `${who} ${table.winners.length > 1 ? "tie" : "wins"}`, more: `${game}, ${counted(table.counts.last, "turn")}` };
    }
    if (table.state === "turn" && table.turn) {
      const { player, shots, turn } = table.turn;
      const latest = table.salvos[0];
      const last = latest && latest.game === table.game ? `; before that ${latest.player} hit ${latest.hits} of ${latest.shots}` : "";
      if (table.turnOver && latest) return { headline: `${latest.player} hit ${latest.hits} of ${latest.shots}`, more: `${game}, turn ${turn}${latest.news && `; ${latest.news}`}` };
      return { headline: `${player} fires ${counted(shots, "shot")}`, more: `${game}, turn ${turn}${last}` };
    }
    if (table.state === "lobby") {
      const teams = table.names.length ? counted(table.names.length, "team") : "no team yet";
      return { headline: "The lobby is open", more: `${teams}; a game begins when the fleets are placed` };
    }
    return { headline: table.state ? "A game is on" : "", more: "" };
  }

  let ticking = 0;

  function showClock(table) {
    const runs = table.state === "turn" && table.turn && !table.turnOver && line.state === "on" && statusOf(chosen) !== "offline" && statusOf(chosen) !== "paused";
    byId("clock").hidden = table.state !== "turn";
    byId("clock").classList.toggle("idle", !runs);
    if (!runs) return;
    const left = Math.max(0, table.ends - Date.now());
    const whole = Math.max(1, table.turn.deadline - table.turn.now);
    set(byId("left"), `${Math.ceil(left / 1000)} s`);
    byId("bar").style.transform = `scaleX(${(Math.min(1, left / whole)).toFixed(3)})`;
    // Ten times a second is smooth enough for a bar, and nothing for a phone's battery.
    clearTimeout(ticking);
    if (left) ticking = setTimeout(draw, 100);
  }

  // --- players ----------------------------------------------------------------------------------------------------------

  const cards = new Map();

  function showPlayers(table) {
    const names = orderOf(table);
    const place = byId("players");
    const boards = boardsOf(table).size > 0;
    place.classList.toggle("few", names.length <= FEW_PLAYERS && !boards);
    place.classList.toggle("many", names.length > MANY_PLAYERS && !boards);
    for (const name of cards.keys()) if (!names.includes(name)) cards.delete(name);
    const wanted = names.map((name) => cardOf(table, name));
    if (place.children.length !== wanted.length || wanted.some(({ card }, at) => place.children[at] !== card))
      place.replaceChildren(...wanted.map(({ card }) => card));
    names.forEach((name, at) => showCard(table, name, wanted[at]));
    const late = table.referee && table.state === "turn" ? `The boards are those after turn ${table.referee.turn}. ` : "";
    const partial = table.partial ? "Shots, hits and turns are counted since this page was opened." : "";
    set(byId("note"), late + partial);
  }

  // By place when the game is over, else in play order.
  function orderOf(table) {
    const names = [...table.names];
    const place = (name) => (table.stats.has(name) ? table.stats.get(name).place : Infinity);
    if (table.state === "over") names.sort((a, b) => place(a) - place(b) || 0);
    return names;
  }

  function boardsOf(table) {
    return table.referee ? table.referee.boards : table.boards;
  }

  function cardOf(table, name) {
    const shape = JSON.stringify([table.rules.fleet, table.rules.told]);
    const had = cards.get(name);
    if (had && had.shape === shape) return had;
    const card = made("article", "", "card");
    const heading = made("h3");
    const parts = { card, shape, badge: made("b"), figures: made("p", "", "figures"), hulls: made("ul", "", "hulls"), board: null, drawn: "" };
    heading.append(made("span", name), parts.badge);
    card.append(heading, parts.figures, parts.hulls);
    parts.ships = table.rules.fleet.map(([ship, length]) => {
      const hull = made("li");
      hull.style.setProperty("--long", length);
      hull.append(made("span", ship));
      parts.hulls.append(hull);
      return hull;
    });
    cards.set(name, parts);
    return parts;
  }

  function showCard(table, name, { card, badge, figures, hulls, ships, ...parts }) {
    const lobby = table.state === "lobby";
    const fires = table.state === "turn" && table.turn && table.turn.player === name;
    const stats = table.stats.get(name);
    const won = table.winners && table.winners.includes(name);
    card.classList.toggle("acting", Boolean(fires));
    card.classList.toggle("first", Boolean(won));
    card.classList.toggle("out", table.out.has(name));
    badge.classList.toggle("won", Boolean(won));
    const ready = table.ready(name);
    const placed = ready === ships.length ? "ready" : `${ready} of ${ships.length} placed`;
    const place = won ? (table.winners.length > 1 ? "ties" : "winner") : stats && table.state === "over" ? `place ${stats.place}` : "";
    set(badge, place || (lobby ? placed : table.out.has(name) ? "out" : fires ? (table.turnOver ? "fired" : "fires") : ""));
    showFigures(figures, lobby ? [] : figuresOf(table, name));
    hulls.hidden = !lobby && !table.rules.told;
    table.rules.fleet.forEach(([ship], at) => {
      const gone = !lobby && table.hasSunk(name, ship);
      const missing = lobby && !(table.placed.has(name) && table.placed.get(name).has(shipKey(ship)));
      ships[at].className = gone ? "sunk" : missing ? "unplaced" : "";
      set(ships[at].firstChild, `${ship}${gone ? " sunk" : missing ? " not placed" : ""}`);
    });
    showBoard(table, name, cards.get(name), parts);
  }

  function figuresOf(table, name) {
    const { shots, hits, turns, last } = table.figures(name);
    const afloat = table.rules.told ? [["afloat", table.afloat(name)]] : [];
    const points = table.rules.goal ? `${hits} of ${table.rules.goal}` : hits;
    return [...afloat, ["hits", points], ["shots", shots], ["turns", turns], ...(last ? [["last", last]] : [])];
  }

  function showFigures(place, figures) {
    const now = JSON.stringify(figures);
    if (place.dataset.now === now) return;
    place.dataset.now = now;
    place.replaceChildren(...figures.map(([name, value]) => {
      const figure = made("span", `${name} `);
      figure.append(made("b", String(value)));
      return figure;
    }));
  }

  // --- boards -----------------------------------------------------------------------------------------------------------

  function showBoard(table, name, parts) {
    const cells = boardsOf(table).get(name) || "";
    const { width, height } = table.rules;
    const latest = table.referee ? table.referee.latest.filter(({ to }) => to === name) : [];
    const picture = cells.length === width * height ? JSON.stringify([cells, width, latest]) : "";
    if (parts.drawn === picture) return;
    parts.drawn = picture;
    if (parts.board) parts.board.remove();
    parts.board = picture ? boardOf(name, cells, width, height, latest, Boolean(table.referee)) : null;
    if (parts.board) parts.card.append(parts.board);
  }

  function boardOf(name, cells, width, height, latest, ships) {
    const sea = drawn("svg", { class: "sea", role: "img", viewBox: `0 0 ${10 * width + 12} ${10 * height + 12}` });
    sea.setAttribute("aria-label", `Board of ${name}`);
    const water = { x: 10, y: 10, width: 10 * width, height: 10 * height };
    const labels = drawn("g", { class: "labels" });
    for (let x = 1; x <= width; x++) labels.append(label(10 * x + 5, 7, String(x)));
    for (let y = 1; y <= height; y++) labels.append(label(5, 10 * y + 7, String.fromCharCode(64 + y)));
    sea.append(drawn("rect", { class: "water", ...water }));
    const wrecks = drawn("g", { class: "wrecks" });
    if (ships) sea.append(hullsOf(cells, width, wrecks));
    sea.append(drawn("rect", { class: "grid", ...water }), labels, shotsOf(cells, width, latest, ships), wrecks);
    return sea;
  }

  function label(x, y, text) {
    const element = drawn("text", { x, y });
    element.textContent = text;
    return element;
  }

  // A ship is all cells of one letter, in a row; who has more ships than letters is drawn cell by cell.
  function hullsOf(cells, width, wrecks) {
    const hulls = drawn("g", { class: "ships" });
    const ships = new Map();
    [...cells].forEach((letter, cell) => {
      if (/[a-z]/i.test(letter)) ships.set(letter.toLowerCase(), [...(ships.get(letter.toLowerCase()) || []), cell]);
    });
    for (const [letter, of] of ships) {
      const [first, last] = [of[0], of[of.length - 1]];
      const [wide, high] = [(last % width) - (first % width) + 1, Math.floor(last / width) - Math.floor(first / width) + 1];
      const parts = wide * high === of.length ? [[first, wide, high]] : of.map((cell) => [cell, 1, 1]);
      for (const [cell, across, down] of parts) {
        const at = { x: 10 * (cell % width) + 10.5, y: 10 * Math.floor(cell / width) + 10.5, width: 10 * across - 1, height: 10 * down - 1, rx: 4 };
        hulls.append(drawn("rect", at));
        if (!cells.includes(letter)) wrecks.append(drawn("rect", at));
      }
    }
    return hulls;
  }

  function shotsOf(cells, width, latest, ships) {
    const shots = drawn("g", { class: "shots" });
    const fresh = new Set(latest.map(({ x, y }) => (y - 1) * width + x - 1));
    [...cells].forEach((letter, cell) => {
      const hit = ships ? /[A-Z]/.test(letter) : letter === "X";
      if (!hit && letter !== (ships ? "*" : "0")) return;
      const at = { href: hit ? "#h" : "#m", x: 10 * (cell % width) + 10, y: 10 * Math.floor(cell / width) + 10 };
      shots.append(drawn("use", fresh.has(cell) ? { ...at, class: "new" } : at));
    });
    return shots;
  }

  // --- lists ------------------------------------------------------------------------------------------------------------

  // Makes a list of entries, each with a key of its own, anew at its head only.
  function showList(place, entries, row) {
    const there = new Map([...place.children].map((child) => [child.dataset.key, child]));
    const wanted = entries.map((entry) => {
      const had = there.get(String(entry.key));
      if (had) return had;
      const fresh = row(entry);
      fresh.dataset.key = entry.key;
      return fresh;
    });
    const keep = new Set(wanted);
    for (const child of there.values()) if (!keep.has(child)) child.remove();
    wanted.forEach((child, at) => {
      if (place.children[at] !== child) place.insertBefore(child, place.children[at] || null);
    });
  }

  function showSalvos(table) {
    byId("last").hidden = !table.salvos.length;
    showList(byId("salvos"), table.salvos, ({ game, turn, player, shots, hits, aims, news }) => {
      const row = made("li");
      row.append(made("small", `game ${game}, ${turn}`), made("b", player), ` hits ${hits} of ${shots} `);
      if (news) row.append(made("strong", news));
      if (aims) row.append(made("em", aims));
      return row;
    });
  }

  function showLines(table) {
    byId("chat").hidden = !table.lines.length;
    showList(byId("lines"), [...table.lines].reverse(), ({ from, text }) => {
      const row = made("li");
      row.append(made("b", from || "the server"), made("q", text));
      return row;
    });
  }

  let stood = "";

  function showEvening(table) {
    byId("evening").hidden = !table.evening.size;
    const rows = table.evening.size ? table.standings() : [];
    const now = JSON.stringify(rows);
    if (now === stood) return;
    stood = now;
    set(byId("seen"), `${counted(table.evening.size, "game")} seen here`);
    byId("standings").replaceChildren(...rows.map(({ name, wins, games, hits, shots }) => {
      const row = made("tr");
      const head = made("th", name);
      head.scope = "row";
      const rate = shots ? `${Math.round((100 * hits) / shots)}\u00a0%` : "-";
      row.append(head, ...[String(Math.round(100 * wins) / 100), games, rate].map((each) => made("td", String(each))));
      return row;
    }));
  }

  // --- it begins --------------------------------------------------------------------------------------------------------

  line = new Line(brokerUrl(), { accepted, message: heard, state: stateIs });
  byId("login").addEventListener("submit", (event) => {
    event.preventDefault();
    come({ user: byId("user").value.trim(), secret: byId("secret").value.trim() });
  });
  byId("account").addEventListener("click", () => {
    line.stop();
    keep(null);
    tables.clear(); // the next one may not read as much
    ask("");
  });
  byId("table").addEventListener("change", () => choose(byId("table").value));
  addEventListener("hashchange", () => {
    const before = chosen;
    const account = fromAddress();
    if (account) come(account);
    else if (chosen !== before) {
      const table = chosen;
      chosen = before;
      choose(table);
    }
  });
  for (const event of ["online", "focus"]) addEventListener(event, () => line.hurry());
  document.addEventListener("visibilitychange", () => document.hidden || line.hurry());

  const account = fromAddress() || kept();
  if (account || given.login !== "yes") come(account);
  else ask("");
}

if (typeof document !== "undefined") live();
