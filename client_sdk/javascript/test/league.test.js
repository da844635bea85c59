// What a team reads of its league.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readEvening } from "../src/announcements.js";
import { WireError } from "../src/errors.js";
import { LeagueNews } from "../src/leagueNews.js";

const ROWS = [
  { place: 1, team: "bob", points: 1000, games: 1, wins: 1 },
  { place: 2, team: "ann", points: 500, games: 1, wins: 0 },
];
const CUP = { by: "desk", name: "cup", phase: "round", at: 1, teams: 4 };

/** @param {object} shown */
const payload = (shown) => new TextEncoder().encode(JSON.stringify(shown));

test("a team reads its round, table and rivals, how it stands, and when it plays next", () => {
  const news = new LeagueNews("ann");
  const ann = { teams: ["ann", "bob"] };
  const others = { teams: ["cy", "dan"], table: "t2" };
  const round = { ...CUP, round: 1, rounds: 2 };
  const printed = [
    { ...CUP, round: 0, rounds: 2 },
    { ...round, matches: [ann, others] },
    { ...round, matches: [{ ...ann, table: "t1" }, others] },
    { ...round, matches: [{ ...ann, table: "t1" }, { ...others, places: [1, 2] }] },
    { ...round, matches: [{ ...ann, table: "", places: [2, 1] }, others], rows: ROWS },
    { ...round, round: 2, matches: [{ teams: ["ann"] }, { ...others, places: [1, 2] }], rows: ROWS },
    { ...round, round: 2, over: true, rows: ROWS },
  ].map((shown) => news.lines(readEvening(payload(shown))));
  assert.deepEqual(printed, [
    [],
    ["cup, round 1 of 2: plays bob when a table is free"],
    ["cup, round 1 of 2: plays bob at table t1"],
    [],
    ["cup, round 1 of 2: 2nd of 2; stands 2nd of 4 with 0.5 points so far; the next round begins when 1 more game is over"],
    ["cup, round 2 of 2: stands 2nd of 4 with 0.5 points; has a bye; the league is over now"],
    ["cup is over: stands 2nd of 4 with 0.5 points"],
  ]);
});

test("a league that is over, or not there, is not on", () => {
  const news = new LeagueNews("ann");
  for (const [shown, isOn] of [[CUP, true], [{ ...CUP, over: true }, false], [{ phase: "free", at: 1 }, false]]) {
    news.lines(readEvening(payload(shown)));
    assert.equal(news.isOn, isOn);
  }
  assert.deepEqual(news.lines(readEvening(new Uint8Array())), []);
});

test("what is no league is refused", () => {
  for (const text of ["{", "[]", '{"round":-1}', '{"matches":[{}]}', '{"rows":[3]}', '{"matches":[{"teams":["a","b"],"places":[1]}]}']) {
    assert.throws(() => readEvening(new TextEncoder().encode(text)), WireError);
  }
});
