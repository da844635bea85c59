// Checks of the live page's script without a browser: its MQTT, what it makes of any message, and as whom it comes.
// Run by test_live_page.py, which puts the script before this file; prints by check what went wrong, or null.
const assert = require("node:assert");

class FakeSocket {
  static made = [];
  constructor(url, protocol) {
    Object.assign(this, { url, protocol, readyState: 1, sent: [] });
    FakeSocket.made.push(this);
  }
  send(packet) {
    this.sent.push(...packet);
  }
  close() {
    this.readyState = 3;
  }
  say(...bytes) {
    this.onmessage?.({ data: Uint8Array.from(bytes).buffer });
  }
}
globalThis.WebSocket = FakeSocket;

function connection(user = null, password = null) {
  const told = { accepted: 0, messages: [], ended: [] };
  const hear = {
    accepted: () => (told.accepted += 1),
    message: (...message) => told.messages.push(message),
    ended: (why) => told.ended.push(why),
  };
  const mqtt = new MqttConnection("ws://x/mqtt", user, password, hear);
  const socket = FakeSocket.made.at(-1);
  socket.onopen();
  return { told, mqtt, socket };
}

function accepted() {
  const made = connection();
  made.socket.say(0x20, 2, 0, 0);
  made.socket.sent.length = 0;
  return made;
}

const bytes = (text) => [...new TextEncoder().encode(text)];
const published = (topic, payload, first = 0x30, id = []) => [
  ...packetOf(first, [topic.length >> 8, topic.length & 255], bytes(topic), id, bytes(payload)),
];

function heard(...messages) {
  const table = new Table("");
  const news = messages.map(([topic, payload, retained = false, now = 0]) =>
    table.take(topicOf(topic).levels, typeof payload === "string" ? payload : JSON.stringify(payload), retained, now),
  );
  return { table, news };
}

const TURN = { game: 1, turn: 3, player: "ann", shots: 5, now: 50_000, deadline: 80_000 };
const RESULT = { game: 1, turn: 3, player: "ann", shots: 5, hits: 2, sunk: [{ player: "bob", ship: "carrier" }], defeated: ["bob"] };
const STATS = { shots: 80, hits: 19, sunk: 6, turns: 18, place: 1 };
const PLAYERS = ["/players/list", ["ann", "bob"]];

// Numbers by chance that come again with their seed (mulberry32).
function chance(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const checks = {
  "a greeting says MQTT 3.1.1, a clean session, and user and password only where there are some": () => {
    assert.deepEqual([...connectPacket("id", null, null)], [0x10, 14, 0, 4, ...bytes("MQTT"), 4, 2, 0, 180, 0, 2, ...bytes("id")]);
    const known = [...connectPacket("id", "ü", "s")];
    assert.equal(known[9], 0xc2);
    assert.deepEqual(known.slice(-7), [0, 2, ...bytes("ü"), 0, 1, ...bytes("s")]);
  },
  "packets come whole however they are split and joined": () => {
    const stream = Uint8Array.from([
      ...published("/game/state", "turn"),
      ...published("/a", "x".repeat(200_000), 0x32, [0, 7]),
      0xd0, 0,
      ...published("/b", ""),
    ]);
    for (const seed of [1, 2, 3]) {
      const [random, packets, found] = [chance(seed), new Packets(), []];
      for (let at = 0; at < stream.length; ) {
        const end = at + 1 + Math.floor(random() * random() * 30_000);
        found.push(...packets.feed(stream.slice(at, end)));
        at = end;
      }
      assert.deepEqual(found.map(([first, body]) => [first, body.length]), [[0x30, 17], [0x32, 200_006], [0xd0, 0], [0x30, 4]]);
    }
  },
  "messages are taken at QoS 0 and 1, and those at QoS 1 are acknowledged": () => {
    const { told, socket } = accepted();
    socket.say(...published("/a", "one"), ...published("/b", "zwölf", 0x33, [1, 2]));
    assert.deepEqual(told.messages, [["/a", "one", false], ["/b", "zwölf", true]]);
    assert.deepEqual(socket.sent, [0x40, 2, 1, 2]);
  },
  "a payload that is no text is acknowledged and passed over": () => {
    const { told, socket } = accepted();
    socket.say(0x32, 7, 0, 2, 47, 97, 0, 5, 0xff);
    assert.deepEqual([told.messages, told.ended, socket.sent], [[], [], [0x40, 2, 0, 5]]);
  },
  "whatever breaks the protocol ends the connection once, and nothing more is heard": () => {
    const bad = [
      [0x30, 0xff, 0xff, 0xff, 0xff, 1], // a length of five digits
      [0x30, 0xff, 0xff, 0xff, 0x7f], // 256 MiB
      [0x30, 1, 0], [0x30, 0], [0x30, 3, 0, 9, 47], // cut off
      [0x34, 6, 0, 2, 47, 97, 0, 1], [0x36, 6, 0, 2, 47, 97, 0, 1], // QoS 2 and 3
      [0x32, 6, 0, 2, 47, 97, 0, 0], [0x32, 4, 0, 2, 47, 97], // without a number
      [0x30, 4, 0, 2, 47, 0xff], // a topic that is no text
      [0x20, 2, 0, 0], [0x20, 3, 0, 0, 0], [0x10, 0], [0x62, 2, 0, 1], [0, 0], [0xf0, 0],
    ];
    for (const each of bad) {
      const { told, socket } = accepted();
      socket.say(...each, ...published("/a", "x"));
      socket.say(...published("/a", "x"));
      assert.deepEqual([told.ended, told.messages], [[{ kind: "lost" }], []], String(each));
      assert.equal(socket.readyState, 3);
    }
  },
  "what is said before the greeting is answered is no answer": () => {
    for (const each of [[0x30, 4, 0, 2, 47, 97], [0xd0, 0], [0x20, 1, 0]]) {
      const { told, socket } = connection();
      socket.say(...each);
      assert.deepEqual([told.accepted, told.ended], [0, [{ kind: "unreachable" }]], String(each));
    }
    const { told, socket } = connection();
    socket.onmessage({ data: "text" });
    assert.deepEqual(told.ended, [{ kind: "unreachable" }]);
  },
  "a refusal is told with its code": () => {
    const { told, socket } = connection("hall.1", "s");
    socket.say(0x20, 2, 0, 5);
    assert.deepEqual([told.accepted, told.ended], [0, [{ kind: "refused", code: 5 }]]);
  },
  "any bytes end the connection or are read": () => {
    const random = chance(11);
    for (let round = 0; round < 3000; round++) {
      const { told, socket } = accepted();
      const noise = [...published("/game/turn", JSON.stringify(TURN), 0x32, [0, 1])];
      for (let each = 0; each < 4; each++) noise[Math.floor(random() * noise.length)] = Math.floor(random() * 256);
      socket.say(...noise);
      assert.ok(told.ended.length <= 1);
      socket.onclose?.();
    }
  },
  "of an account's users one after the other is tried, those that do not exist but once": () => {
    for (let seed = 1; seed < 200; seed++) {
      const users = new ScreenUsers("hall", chance(seed));
      const [tried, screens, free] = [new Set(), 6, 1 + (seed % 6)];
      while (users.number !== free) {
        assert.ok(!tried.has(users.number), users.user);
        tried.add(users.number);
        assert.ok(users.number <= screens ? users.taken() : users.refused());
      }
    }
  },
  "when all of an account's users are in use it is known": () => {
    for (let seed = 1; seed < 100; seed++) {
      const users = new ScreenUsers("hall", chance(seed));
      let tries = 1;
      while (users.number <= 4 ? users.taken() : users.refused()) assert.ok((tries += 1) < 40);
    }
  },
  "a wrong secret is known by the first user": () => {
    for (let seed = 1; seed < 50; seed++) {
      const users = new ScreenUsers("hall", chance(seed));
      while (users.refused());
      assert.equal(users.user, "hall.1");
    }
    assert.equal(new ScreenUsers("hall.7").refused() || new ScreenUsers("hall.7").taken(), false);
  },
  "topics of a table are told from those of others and from what is none": () => {
    assert.deepEqual(topicOf("/game/state"), { table: "", levels: ["game", "state"] });
    assert.deepEqual(topicOf("/second/game/state"), { table: "second", levels: ["game", "state"] });
    for (const none of ["", "/", "game/state", "/<b>/game/state", "/-/x", "$SYS/x"]) assert.equal(topicOf(none), null);
  },
  "a salvo is counted once however often it is told": () => {
    const salvo = ["/game/result", RESULT];
    const { table } = heard(PLAYERS, ["/game/state", "turn"], ["/game/turn", TURN], salvo, salvo);
    assert.deepEqual(table.figures("ann"), { shots: 5, hits: 2, turns: 1, last: "2 of 5" });
    assert.deepEqual([table.afloat("bob"), table.out.has("bob"), table.turnOver], [4, true, true]);
    assert.equal(table.salvos.length, 1);
    assert.ok(table.partial); // two turns were before this page
  },
  "a game from its first turn is known in full": () => {
    const { table } = heard(PLAYERS, ["/game/state", "turn"], ["/game/result", { ...RESULT, turn: 1 }], ["/game/turn", { ...TURN, turn: 2 }]);
    assert.deepEqual([table.partial, table.turnOver], [false, false]);
  },
  "the turn's time is what the server says, and for latecomers what is left of it": () => {
    assert.equal(heard(["/game/turn", TURN, false, 1000]).table.ends, 31_000);
    assert.equal(heard(["/game/turn", TURN, true, 70_000]).table.ends, 80_000);
    assert.equal(heard(["/game/turn", TURN, true, 1000]).table.ends, 31_000); // our clock is slow: never more than the whole
    const late = heard(["/game/turn", TURN, false, 1000], ["/game/turn", { ...TURN, turn: 4, now: 60_000, deadline: 90_000 }, true, 13_000]);
    assert.equal(late.table.ends, 41_000);
  },
  "a game counts once for the evening, and a tie of two is half a win": () => {
    const end = [["/game/turn", TURN], ["/game/state", "over"], ["/game/stats/ann", STATS], ["/game/winner", "ann"]];
    const { table } = heard(...end, ...end);
    table.again();
    for (const [topic, value] of [...end].reverse())
      table.take(topicOf(topic).levels, typeof value === "string" ? value : JSON.stringify(value), true, 0);
    table.take(["game", "state"], "lobby", false, 0);
    for (const [topic, value] of [["turn", { ...TURN, game: 2 }], ["winner", ["ann", "bob"]]])
      table.take(["game", topic], JSON.stringify(value), false, 0);
    table.take(["game", "state"], "over", false, 0);
    assert.deepEqual(table.standings().map(({ name, games, wins }) => [name, games, wins]), [["ann", 2, 1.5], ["bob", 1, 0.5]]);
  },
  "a new lobby forgets the game and keeps the evening": () => {
    const { table } = heard(PLAYERS, ["/game/turn", TURN], ["/game/result", RESULT], ["/game/winner", "ann"], ["/game/state", "over"], ["/game/state", "lobby"]);
    assert.deepEqual([table.winners, table.turn, table.out.size, table.sunk.size, table.evening.size], [null, null, 0, 0, 1]);
  },
  "a line of chat is one line without what steers, and a retained one is old news": () => {
    const { table } = heard(
      ["/game/chat", { from: "ann", text: "a\u202eb\nc\u0007" }],
      ["/game/chat", { from: "<b>", text: "x" }],
      ["/game/chat", { from: "", text: "x".repeat(9999) }],
      ["/game/chat", { from: "ann", text: "old" }, true],
    );
    assert.deepEqual(table.lines.map(({ text }) => text), ["a\ufffdb\ufffdc\ufffd", "x".repeat(300)]);
  },
  "names and rules of somebody's making are passed over": () => {
    const { table } = heard(
      ["/players/list", ["ann", "<img src=x>", 7, "ann", "x".repeat(33)]],
      ["/game/rules", { fleet: { a: 1 }, width: 1e9, height: 10 }],
      ["/game/rules", "[1,"],
      ["/game/state", "<script>"],
      ["/game/winner", "<b>x</b>"],
      ["/game/referee", { game: 1, turn: 1, boards: [{ player: "ann", rows: ["<"] }] }],
      ["/players/ann/board", "<b>"],
    );
    assert.deepEqual([table.names, table.rules.width, table.state, table.winners, table.referee, table.boards.size], [["ann"], 10, "", null, null, 0]);
  },
  "any message leaves a table that can be asked": () => {
    const random = chance(5);
    const pick = (list) => list[Math.floor(random() * list.length)];
    const odd = () => pick([null, 0, -1, 1.5, 1e308, "", "ann", "__proto__", "<b>", true, [], [null], {}, TURN, RESULT, STATS, { toString: 1 }]);
    const topics = [...filtersOf("").map((filter) => filter.replaceAll("+", pick(["ann", "__proto__", "carrier", "toString"]))), "/game/server"];
    const whole = { turn: TURN, result: RESULT, chat: { from: "ann", text: "x" }, referee: { game: 1, turn: 1, boards: [{ player: "ann", rows: [] }], last: {} } };
    const table = new Table("");
    for (let round = 0; round < 20_000; round++) {
      const topic = pick(topics);
      const value = { ...(pick(Object.values(whole)) || {}) };
      for (let each = 0; each < 2; each++) value[pick(Object.keys(value))] = odd();
      const text = pick([JSON.stringify(value), JSON.stringify(odd()), "lobby", "turn", "over", "true", "", "ann", "[["]);
      table.take(topicOf(topic).levels, text, random() < 0.5, round);
      table.figures("ann");
      table.afloat("ann");
      table.ready("ann");
      table.standings();
      readStatus(parsed(text));
    }
    assert.equal(Object.getPrototypeOf(table.stats), Map.prototype);
  },
  "what a table keeps has a bound": () => {
    const table = new Table("");
    const say = (topic, value) => table.take(topicOf(topic).levels, typeof value === "string" ? value : JSON.stringify(value), false, 0);
    for (let each = 0; each < 3000; each++) {
      say("/game/chat", { from: "ann", text: "x" });
      say("/game/result", { ...RESULT, turn: each, player: `p${each}` });
      say(`/game/stats/p${each}`, STATS);
      say("/game/turn", { ...TURN, game: each });
      say("/game/winner", "ann");
      say("/game/state", "over");
      for (const what of ["board", "fleet", "defeated"]) say(`/players/p${each}/${what}`, what === "board" ? "." : "true");
    }
    for (let each = 0; each < 25_000; each++) say(`/players/p${each % 5000}/ships/s${each}/approved`, "true");
    assert.deepEqual([table.lines.length, table.salvos.length], [MAX_LINES, MAX_SALVOS]);
    assert.ok(table.stats.size <= MAX_PLAYERS && table.boards.size <= MAX_PLAYERS && table.out.size <= MAX_PLAYERS + 1);
    assert.ok(table.evening.size <= MAX_GAMES && table.said <= MAX_SAID + 5000 + 1);
  },
};

const came = {};
for (const [name, check] of Object.entries(checks)) {
  try {
    check();
    came[name] = null;
  } catch (error) {
    came[name] = error.stack || String(error);
  }
}
console.log(JSON.stringify(came));
process.exit(0);
