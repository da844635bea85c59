// The tables by which the session runs are those that the protocol specification prints.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as following from "../src/session/following.js";
import * as joining from "../src/session/joining.js";
import * as machine from "../src/session/machineStates.js";
import * as placing from "../src/session/placing.js";
import * as playing from "../src/session/playing.js";
import { FOLLOWING, JOINING, machines, PLACING, PLAYING, RETURNING, SERVER } from "../src/session/tables.js";

const MODULES = Object.entries({ following, joining, placing, playing });
const MACHINES = {
  joining: [machine.JoiningState, machine.JoiningEvent, JOINING],
  placing: [machine.PlacingState, machine.PlacingEvent, PLACING],
  playing: [machine.PlayingState, machine.PlayingEvent, PLAYING],
  returning: [machine.ReturningState, machine.ReturningEvent, RETURNING],
  following: [machine.TablePhase, machine.TableEvent, FOLLOWING],
  server: [machine.ServerState, machine.ServerEvent, SERVER],
};
const specification = readFileSync(new URL("../../../proto/README.md", import.meta.url), "utf8");
const [, ...sections] = specification.split(/<!-- \/?client -->/)[1].split(/^### /m);

/** The cells of each line of the tables of a section. */
const tables = (section) => section.split("\n").filter((line) => /^\| (?!state \| meaning|event \| in)/.test(line))
  .map((line) => line.slice(2, -2).split(" | "));

/** What an action is called: the sentence that its function's comment opens with. */
function sentenceOf(action) {
  const [module] = MODULES.find(([, functions]) => Object.values(functions).includes(action));
  const source = readFileSync(new URL(`../src/session/${module}.js`, import.meta.url), "utf8");
  const [, sentence] = source.match(new RegExp(`/\\*\\* (.*)\\. @param \\{SessionState\\} session \\*/\\nexport function ${action.name}\\(`));
  return sentence[0].toLowerCase() + sentence.slice(1);
}

Object.entries(MACHINES).forEach(([name, [states, events, transitions]], number) => test(name, () => {
  const meanings = Object.entries(states).map(([state, meaning]) => [`\`${state}\``, meaning]);
  const rows = transitions.map(({ event, sources, target, action }) => {
    const all = sources.length === meanings.length && meanings.length > 2 ? "any" : sources.map((state) => `\`${state}\``).join(", ");
    return [events[event], all, target ? `\`${target}\`` : "the same", action ? sentenceOf(action) : "nothing"];
  });
  assert.deepEqual([...meanings, ...rows], tables(sections[number]));
}));

test("every machine of a session is printed, and begins in its first state", () => {
  const first = Object.entries(MACHINES).map(([name, [states]]) => [name, Object.keys(states)[0]]);
  assert.deepEqual(Object.entries(machines()).map(([name, { state }]) => [name, state]), first);
  assert.equal(sections.length, first.length);
});
