// Variables that a bot's file reads where it is started.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { withoutGaps } from "../src/contest.js";

test("a variable that was set from a file of Windows ends without its carriage return", () => {
  const folder = mkdtempSync(join(tmpdir(), "salvo-"));
  const file = join(folder, "mybot.mjs");
  writeFileSync(file, `import { run } from "${new URL("../src/run.js", import.meta.url)}";\nrun(() => []);\n`);
  const env = { ...process.env, SALVO_URL: "h\r", SALVO_TEAM: "red\r", SALVO_GAMES: "none\r" };
  const done = spawnSync(process.execPath, [file], { env, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  assert.match(done.stderr, /SALVO_GAMES is "none"/);
});

test("a secret is read with the gaps of its card, and any other one as it is", () => {
  for (const gap of ["", " ", "-", " - ", "\t"]) {
    assert.equal(withoutGaps(["0123", "4567", "89ab", "cdef", "ghjk", "mnpq", "rs"].join(gap)), "0123456789abcdefghjkmnpqrs");
  }
  for (const own of ["my own-secret", "", "0123-4567", "0123 4567 89ab cdef ghjk mnpq rS", "0123 4567 89ab cdef ghjk mnpq ro"]) {
    assert.equal(withoutGaps(own), own);
  }
});
