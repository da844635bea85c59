// Draws come out as in the Python SDK.

import assert from "node:assert/strict";
import { test } from "node:test";
import { generator, ownSeed } from "../src/random.js";

test("the same seed gives the same numbers as in Python", () => {
  const random = generator("abc", 1);
  assert.deepEqual([random.random(), random.random()], [0.04753393728609112, 0.9465088629326858]);
  for (let draw = 0; draw < 1999; draw++) random.random();
  assert.equal(random.random(), 0.9749113093749808);
});

test("a player's own seed is that of the Python SDK", () => {
  assert.equal(ownSeed("7", "ann", 3), "8c196ae15c6953d3c1b84454b1d716d5");
  assert.equal(ownSeed("7".repeat(300), "ann", 3), "f47ac5552d11276b10a5b4d60113e514");
});
