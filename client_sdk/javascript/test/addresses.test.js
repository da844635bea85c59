// Addresses as people type them: what is wrong with one is found where it is read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BrokerUrl } from "../src/connection.js";

const WRONG = [
  "mqtt://contest..example", "mqtt://.example", `mqtt://${"a".repeat(64)}.example`, "mqtt://[::zz]", "mqtt://[a", "mqtt://", "ftp://h",
  "h:0", "h:99999", "mqtt://h/games", "ws://h/mqtt?a=b", "ws://h/mqtt#a", "mqtt://u%zz:HUSH@h", "mqtt://u:HUSH/HUSH@h",
];

for (const url of WRONG) {
  test(`${url} is refused, without its password`, () => {
    assert.throws(() => new BrokerUrl(url), (error) => error.code === "bad_url" && !error.message.includes("HUSH"));
  });
}

test("an address is read as it is pasted, and with any kind of host", () => {
  for (const host of ["contest.example", "contest.example.", "salvo_broker", "127.0.0.1", "[::1]"]) {
    assert.equal(new BrokerUrl(` ${host}:1884\r\n`).address, `${host}:1884`);
  }
  assert.equal(new BrokerUrl("wss://h/games").text, "wss://h:443/games");
});
