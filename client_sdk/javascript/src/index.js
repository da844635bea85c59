// Everything that a bot, a page or a client of your own needs.

import "./node.js"; // first: what the others use fails in a Node.js that is too old
export { Bot, bot } from "./bot.js";
export { SalvoError, TrustError, WireError } from "./errors.js";
export { generator, ownSeed, Random } from "./random.js";
export { Fleet, Grid, RuleBook } from "./rules.js";
export { run } from "./run.js";
export { fingerprint } from "./seal.js";
export { Session } from "./session/session.js";
export { View } from "./view.js";

/**
 * Play games in a contest; MQTT is loaded when it is called.
 *
 * @type {typeof import("./contest.js").play}
 */
export const play = async (...given) => (await import("./contest.js")).play(...given);
