// The printed reference is what comments and types say now; `npm run types` has written that.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

test("docs/javascript.md is types/reference.md", () => {
  const [printed, written] = ["../../../docs/javascript.md", "../types/reference.md"].map((name) => readFileSync(new URL(name, import.meta.url), "utf8"));
  assert.equal(printed, written);
});
