// What a session asks for, and when.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../src/random.js";
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

test("a team that comes back to the next lobby asks until it is answered", () => {
  const session = new Session("me", "secret", new Random("1"));
  const say = (topic, text, retained = false) =>
    session.receive(topic, new TextEncoder().encode(typeof text === "string" ? text : JSON.stringify(text)), retained, now);
  const asked = () => session.takeOutbox().filter(({ topic }) => topic === "/game/request_participation").length;
  const server = { status: "online", version: "0", game: 1, profile: "open", protocol: { major: 1, minor: 0 } };
  let now = 0;
  session.connected(now);
  say("/game/server", server);
  say("/game/rules", {
    rules: "salvo", width: 10, height: 10, first: 1, fleet: { carrier: 5 }, spacing: "touch", shots: "afloat", order: "rotation",
    announce: "count", ending: "last_afloat", starter: "random", placement_seconds: 60, turn_seconds: 30, over_seconds: 300,
    empty_turns: 3, table: "",
  });
  say("/game/state", "lobby");
  const [{ rules }] = say("/players/list", ["me", "you"]);
  session.place(rules.randomFleet(new Random("2")), now);
  say("/players/me/ships/carrier/approved", "true");
  say("/game/state", "turn");
  say("/game/turn", { game: 1, turn: 1, player: "you", shots: 1, now: 0, deadline: 30_000 });
  assert.equal(session.view.game, 1);
  asked();
  now = 10;
  session.connected(now);
  assert.equal(asked(), 1);
  say("/players/list", ["you"], true);
  say("/game/state", "lobby", true);
  say("/game/server", { ...server, game: 2 }, true);
  session.handleTimer(now + 3.5);
  assert.equal(asked(), 1);
});
