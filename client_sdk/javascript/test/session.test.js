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
