// What a session asks for, and when.

import assert from "node:assert/strict";
import { test } from "node:test";
import { toBytes } from "../src/bytes.js";
import { Random } from "../src/random.js";
import { Fleet } from "../src/rules.js";
import { keyToTeam, Sealer } from "../src/seal.js";
import { Session } from "../src/session/session.js";

test("a team whose seat returns after it has left the lobby asks again", () => {
  const session = new Session("me", "secret", new Random("1"), { table: "t3" });
  const say = (topic, text) => session.receive(`/t3${topic}`, new TextEncoder().encode(text), false, 1);
  const asked = () => session.takeOutbox().map(({ topic }) => topic);
  session.connected(0);
  say("/game/server", JSON.stringify({ status: "online", version: "0", game: 1, profile: "contest", protocol: { major: 1, minor: 0 } }));
  say("/game/state", "lobby");
  say("/players/list", '["me"]');
  session.leave();
  asked();
  say("/players/list", "[]");
  assert.deepEqual(asked(), []);
  session.wantsToPlay = true;
  assert.deepEqual(asked(), ["/t3/game/request_participation"]);
});

/** A team that has placed its fleet of one carrier in game 1, whose first turn is its own; `clock.now` is the time. */
function inAGame() {
  const sealer = new Sealer("secret", new Uint8Array(16));
  const session = new Session("me", "secret", new Random("1"), { sealer });
  const clock = { now: 0 };
  const say = (topic, text, retained = false) =>
    session.receive(topic, toBytes(typeof text === "string" ? text : JSON.stringify(text)), retained, clock.now);
  const asked = () => session.takeOutbox().map(({ topic }) => topic);
  const server = { status: "online", version: "0", game: 1, profile: "open", protocol: { major: 1, minor: 0 } };
  const myTurn = () => say("/game/turn", { game: 1, turn: 1, player: "me", shots: 1, now: 0, deadline: 30_000 });
  session.connected(clock.now);
  say("/game/server", server);
  say("/game/rules", {
    rules: "salvo", width: 10, height: 10, first: 1, fleet: { carrier: 5 }, spacing: "touch", shots: "afloat", order: "rotation",
    announce: "count", ending: "last_afloat", starter: "random", placement_seconds: 60, turn_seconds: 30, over_seconds: 300,
    empty_turns: 3, table: "",
  });
  say("/game/state", "lobby");
  const [{ rules }] = say("/players/list", ["me", "you"]);
  session.place(new Fleet(rules, [{ ship: "carrier", x: 1, y: 1, orientation: "HORIZONTAL" }]), clock.now);
  say("/players/me/ships/carrier/approved", "true");
  return { session, clock, say, asked, server, sealer, myTurn };
}

test("a team that comes back to the next lobby asks until it is answered", () => {
  const { session, clock, say, asked, server, myTurn } = inAGame();
  say("/game/state", "turn");
  myTurn();
  assert.equal(session.view.game, 1);
  asked();
  clock.now = 10;
  session.connected(clock.now);
  assert.deepEqual(asked(), ["/game/request_participation"]);
  say("/players/list", ["you"], true);
  say("/game/state", "lobby", true);
  say("/game/server", { ...server, game: 2 }, true);
  session.handleTimer(clock.now + 3.5);
  assert.deepEqual(asked(), ["/game/request_participation"]);
});

test("a recap that a broker delivers again is no answer", () => {
  const { session, clock, say, asked, sealer, myTurn } = inAGame();
  const fleet = [{ ship: "carrier", coordinates: "1;1", Orientation: "HORIZONTAL" }];
  const lobby = { game: 1, turn: 0, players: ["me", "you"], fleet, first: 1, results: [], sunk: [], defeated: [], shots: [], hits: [] };
  const toTeam = Object.defineProperty(new Sealer("", sealer.salt), "key", { value: keyToTeam(sealer.key) });
  const delivered = toTeam.seal(JSON.stringify(lobby));
  say("/players/me/recap", delivered);
  say("/game/state", "turn");
  assert.deepEqual(myTurn().map(({ type }) => type), ["salvoWanted"]);
  session.fire([{ player: "you", x: 1, y: 1 }]);
  clock.now = 1;
  session.connected(clock.now);
  asked();
  say("/game/state", "lobby", true);
  say("/players/me/recap", delivered);
  say("/game/state", "turn");
  assert.deepEqual(myTurn(), []);
  session.handleTimer(4.5);
  assert.deepEqual(asked(), ["/game/request_participation"]);
});
