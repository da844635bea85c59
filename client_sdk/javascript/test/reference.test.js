// The printed reference is what comments and types say now; `npm run types` has written that.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const written = readFileSync(new URL("../types/reference.md", import.meta.url), "utf8");

test("docs/javascript.md is types/reference.md", () => {
  assert.equal(readFileSync(new URL("../../../docs/javascript.md", import.meta.url), "utf8"), written);
});

test("every type that the reference uses has a name that TypeScript can import", () => {
  const theirs = ["AbortSignal", "Iterable", "Map", "Promise", "Readonly", "ReadonlyMap", "T", "Uint8Array"];
  const named = new Set([...theirs, ...[...written.matchAll(/^## (\w+)$/gm)].map(([, name]) => name)]);
  const types = [...written.matchAll(/`([^`]*)`/g)].flatMap(([, code]) => code.replaceAll(/"[^"]*"/g, "").match(/(?<=: |<|[|>] |new |readonly )[A-Z]\w*\b/g) ?? []);
  assert.ok(new Set(types).size > 25);
  assert.deepEqual(types.filter((name) => !named.has(name)), []);
});
