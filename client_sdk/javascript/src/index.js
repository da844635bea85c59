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

/** @typedef {import("./bot.js").Answer} Answer */
/** @typedef {import("./bot.js").BotClass} BotClass */
/** @typedef {import("./rules.js").Choice} Choice */
/** @typedef {import("./contest.js").ContestOptions} ContestOptions */
/** @typedef {import("./contest.js").GameReport} GameReport */
/** @typedef {import("./session/outbox.js").Message} Message */
/** @typedef {import("./rules.js").Orientation} Orientation */
/** @typedef {import("./view.js").OwnSalvo} OwnSalvo */
/** @typedef {import("./rules.js").Placement} Placement */
/** @typedef {import("./announcements.js").Result} Result */
/** @typedef {import("./seal.js").Sealer} Sealer */
/** @typedef {import("./announcements.js").Seat} Seat */
/** @typedef {import("./announcements.js").ServerKeys} ServerKeys */
/** @typedef {import("./session/session.js").SessionEvent} SessionEvent */
/** @typedef {import("./view.js").Shot} Shot */
/** @typedef {import("./announcements.js").State} State */
/** @typedef {import("./announcements.js").Stats} Stats */
/** @typedef {import("./announcements.js").Tally} Tally */
/** @typedef {import("./view.js").Untouched} Untouched */

/**
 * Play games in a contest; MQTT is loaded when it is called.
 *
 * @type {typeof import("./contest.js").play}
 */
export const play = async (...given) => (await import("./contest.js")).play(...given);
