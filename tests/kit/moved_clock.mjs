// The clocks of a program, moved by a test: MOVED_CLOCK=file node --import moved_clock.mjs bot.js (see moved_clock.py).

import { readFileSync } from "node:fs";

const moved = () => readFileSync(process.env.MOVED_CLOCK, "utf8").split(" ").map((seconds) => 1000 * seconds);
const TrueDate = Date;
const now = performance.now.bind(performance);

globalThis.Date = class extends TrueDate {
  constructor(...given) {
    super(...(given.length ? given : [TrueDate.now() + moved()[0]]));
  }

  static now() {
    return TrueDate.now() + moved()[0];
  }
};
performance.now = () => now() - moved()[1];
