// The printed reference is what comments and types say now.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("docs/javascript.md is generated: npm run --silent reference > ../../docs/javascript.md", () => {
  const printed = execFileSync(process.execPath, [fileURLToPath(new URL("../reference.js", import.meta.url))], { encoding: "utf8" });
  assert.equal(readFileSync(new URL("../../../docs/javascript.md", import.meta.url), "utf8"), printed);
});
