// The file of servers that were met, which the Python SDK has, too.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, afterEach, describe, test } from "node:test";
import { toBase64 } from "../src/bytes.js";
import { KnownServers } from "../src/knownServers.js";
import { fingerprint } from "../src/seal.js";

const KEY = Uint8Array.from({ length: 32 }, (_, at) => at);
const OTHER = Uint8Array.from({ length: 32 }, (_, at) => at + 1);

describe("known servers", () => {
  let folder, file, known;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "salvo-"));
    file = process.env.SALVO_KNOWN_SERVERS = join(folder, "folder", "known_servers.json");
    known = await KnownServers.ofUser();
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  test("the first meeting is noted and the second compared", () => {
    assert.equal(known.keyOf("a:1883"), null);
    known.meet("a:1883", KEY);
    known.meet("a:1883", KEY);
    known.meet("b:1883", OTHER);
    assert.deepEqual([known.keyOf("a:1883"), known.keyOf("b:1883")], [KEY, OTHER]);
    assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { "a:1883": toBase64(KEY), "b:1883": toBase64(OTHER) });
  });

  for (const [name, now] of [["another key", OTHER], ["no key", null]]) {
    test(`a server with ${name} is refused, with both fingerprints and a cure`, () => {
      known.meet("a:1883", KEY);
      const named = [fingerprint(KEY), now === null ? "without a key" : fingerprint(now), file, "a:1883"];
      assert.throws(() => known.meet("a:1883", now), (error) => error.code === "server_changed" && named.every((part) => error.text.includes(part)));
      assert.deepEqual(known.keyOf("a:1883"), KEY);
    });
  }

  test("a server without keys is not noted, and known once it has one", () => {
    known.meet("a:1883", null);
    assert.equal(existsSync(file), false);
    known.meet("a:1883", KEY);
    assert.deepEqual(known.keyOf("a:1883"), KEY);
  });

  for (const content of ["", "[]", "3", '{"a:1": 3}', '{"a:1": "AAAA"}', '{"a:1": "?"}', '{"a:1":"x","a:1":"x"}', "\0"]) {
    test(`a damaged file is said to be, and stays: ${JSON.stringify(content)}`, () => {
      mkdirSync(dirname(file));
      writeFileSync(file, content);
      assert.throws(() => known.keyOf("a:1"), { code: "known_servers" });
      assert.throws(() => known.meet("a:1", KEY), { code: "known_servers" });
      assert.equal(readFileSync(file, "utf8"), content);
    });
  }

  test("none remembers nobody", async () => {
    process.env.SALVO_KNOWN_SERVERS = "none";
    assert.equal(await KnownServers.ofUser(), null);
  });
});
