// The tables by which the session runs are those that the protocol specification prints.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ACTIONS, MACHINES } from "../src/session/tables.js";

const specification = readFileSync(new URL("../../../proto/README.md", import.meta.url), "utf8");
const printed = specification.slice(specification.indexOf("<!-- client -->"), specification.indexOf("<!-- /client -->"));

/** The cells of each line of the tables of a section. */
const tables = (section) => section.split("\n").filter((line) => /^\| (?!state \| meaning|event \| in)/.test(line))
  .map((line) => line.slice(2, -2).split(" | "));

for (const section of printed.split(/^### /m).slice(1)) {
  const title = section.slice(0, section.indexOf("\n"));
  test(title, () => {
    const machine = Object.values(MACHINES).find((each) => each.title === title);
    const states = Object.entries(machine.states).map(([name, meaning]) => [`\`${name}\``, meaning]);
    const rows = machine.rows.map(({ event, sources, target, action }) => {
      const all = sources.length === states.length && states.length > 2 ? "any" : sources.map((each) => `\`${each}\``).join(", ");
      return [machine.events[event], all, target ? `\`${target}\`` : "the same", action ? ACTIONS[action] : "nothing"];
    });
    assert.deepEqual([...states, ...rows], tables(section));
  });
}

test("every machine is printed", () => {
  assert.equal(printed.split(/^### /m).length - 1, Object.keys(MACHINES).length);
});
