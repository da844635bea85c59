// The last line of a bot's file: it plays wherever the file is started (Node.js).

import { botClass } from "./bot.js";
import { SalvoError } from "./errors.js";
import { builtin, isNode } from "./node.js";

const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM"]);

/**
 * Play: in the contest that SALVO_URL names, else on standard streams, for `salvo play mybot.js hunter`.
 *
 * Reads `SALVO_URL`, `SALVO_TEAM`, `SALVO_SECRET`, `SALVO_TABLE`, `SALVO_GAMES`, `SALVO_SEED` and `SALVO_CA`. Errors end
 * the program with one line on standard error and exit code 1. Does nothing in a file that another one imports, such as
 * its test.
 *
 * @param {import("./bot.js").BotClass | ((view: import("./view.js").View) => import("./bot.js").Answer)} given
 * @returns {Promise<void>}
 */
export async function run(given) {
  const file = isNode ? callersFile() : "";
  try {
    const Player = botClass(given);
    if (!isNode) throw new SalvoError("bad_bot", "in a browser, call play(Bot, url, team)");
    if (!(await isStarted(file))) return;
    trimVariables();
    if (process.env.SALVO_URL) await contest(Player, process.env.SALVO_URL);
    else await streams(Player);
  } catch (error) {
    if (!isNode) throw error;
    console.error(error instanceof SalvoError ? `error: ${error.message}` : error);
    process.exit(1);
  }
}

/** Take off our variables what a file made on Windows, from which they were set, leaves at the end of each. */
function trimVariables() {
  for (const [name, value] of Object.entries(process.env)) {
    if (name.startsWith("SALVO_") && value !== value?.trim()) process.env[name] = value?.trim();
  }
}

/**
 * Return the file that calls `run`: the first of the stack that is not this one; in a bundle, both are one. No source map
 * applies, and no caller from before an `await` counts, which is who has imported the file.
 */
function callersFile() {
  const { prepareStackTrace } = Error;
  Error.prepareStackTrace = (_, sites) => sites;
  const sites = /** @type {NodeJS.CallSite[]} */ (/** @type {unknown} */ (new Error().stack));
  Error.prepareStackTrace = prepareStackTrace;
  const files = sites.filter((site) => !site.isAsync()).map((site) => site.getFileName() ?? "node:").filter((file) => !file.startsWith("node:"));
  return files.find((file) => file !== files[0]) ?? files[0];
}

/** Whether a file, as a path or an address, is the one that Node.js was started with. @param {string} file */
async function isStarted(file) {
  const [{ fileURLToPath }, { createRequire }] = await Promise.all([builtin("url"), builtin("module")]);
  try {
    const started = createRequire(import.meta.url).resolve(process.argv[1]); // also where it was named without its ending
    return started === (file.startsWith("file:") ? fileURLToPath(file) : file);
  } catch {
    return false; // started without a file, as a test may be
  }
}

/** @param {import("./bot.js").BotClass} Player @param {string} url */
async function contest(Player, url) {
  const [{ play, reportLine }, { readFileSync }, { parse }] = await Promise.all([import("./contest.js"), builtin("fs"), builtin("path")]);
  const { SALVO_TEAM, SALVO_SECRET, SALVO_TABLE, SALVO_GAMES, SALVO_SEED, SALVO_CA } = process.env;
  const team = SALVO_TEAM || teamName(parse(process.argv[1]).name);
  const stopped = new AbortController();
  /** The first signal lets the team leave, the next one ends the process at once. @param {NodeJS.Signals} signal */
  const stop = (signal) => {
    for (const each of SIGNALS) process.off(each, stop);
    process.exitCode = signal === "SIGINT" ? 130 : 143;
    stopped.abort();
  };
  for (const each of SIGNALS) process.on(each, stop);
  const reports = await play(Player, url, team, {
    secret: SALVO_SECRET || null, table: SALVO_TABLE ?? "", games: games(SALVO_GAMES), ca: SALVO_CA ? readFileSync(SALVO_CA) : null,
    signal: stopped.signal, ...(SALVO_SEED ? { seed: SALVO_SEED } : {}),
  });
  for (const report of reports) console.log(reportLine(report, team));
}

/** @param {string | undefined} given */
function games(given) {
  if (!given) return null;
  if (!/^[1-9][0-9]{0,8}$/.test(given)) {
    throw new SalvoError("bad_setting", `SALVO_GAMES is "${given.slice(0, 40)}": give a whole number from 1 on, or leave it out to play on`);
  }
  return Number(given);
}

/** @param {string} file */
const teamName = (file) => file.replace(/[^A-Za-z0-9_-]/g, "-").replace(/^[-_]+|[-_]+$/g, "").slice(0, 24) || "bot";

/** @param {import("./bot.js").BotClass} Player */
async function streams(Player) {
  if (process.stdin.isTTY) {
    throw new SalvoError("bad_bot", `play a game with: salvo play ${process.argv[1]} hunter; or name a contest in SALVO_URL`);
  }
  const [{ answerLines }, { createInterface }] = await Promise.all([import("./streams.js"), builtin("readline")]);
  console.log = console.info = console.error; // standard output is for answers
  await answerLines(Player, createInterface({ input: process.stdin }), (answer) => process.stdout.write(`${answer}\n`));
}
