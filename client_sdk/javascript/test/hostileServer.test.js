// Texts of a hostile server that would control a terminal.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readAnnouncement, readEvening, readSeat } from "../src/announcements.js";
import { SalvoError, WireError } from "../src/errors.js";
import { parseTopic } from "../src/topics.js";

const EVIL = "\u001b]0;owned\u0007\u001b[2J\u009b1A\u202e\nowned";
const TEXTS = [EVIL, "\u2028owned", "owned".repeat(3000)];

/** @param {any} value */
const payload = (value) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));

/** @param {import("../src/topics.js").Topic} topic @param {any} value */
const read = (topic, value) => readAnnouncement({ topic, player: "red", ship: "" }, payload(value));

test("no text of a hostile server reaches who reads its announcements", () => {
  const result = { game: 1, turn: 1, player: "red", shots: 1, hits: 1, sunk: [], defeated: [] };
  for (const text of TEXTS) {
    for (const act of [
      () => read("list", ["red", text]),
      () => read("turn", { game: 1, turn: 1, player: text, shots: 1, now: 0, deadline: 1 }),
      () => read("result", { ...result, player: text }),
      () => read("result", { ...result, sunk: [{ player: "red", ship: text }] }),
      () => read("winner", text),
      () => read("winner", [text]),
      () => read("server", { status: "online", version: text, game: 1, profile: "open", protocol: { major: 1, minor: 0 } }),
      () => read("chat", { from: text, text: "well fired" }),
      () => read("chat", { from: "", text }),
      () => read("hosted", { by: text, do: "pause" }),
      () => readSeat(payload({ table: text })),
      () => readEvening(payload({ name: text })),
    ]) assert.throws(act, WireError);
    assert.equal(parseTopic(`/game/stats/${text}`, "", "red"), null);
  }
});

test("an error's text has nothing that controls a terminal", () => {
  assert.equal(new SalvoError("bad", EVIL).message, "bad: \ufffd]0;owned\ufffd\ufffd[2J\ufffd1A\ufffd\nowned");
});
