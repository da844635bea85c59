// What Node.js has, and a browser has not. Loaded before everything else: what the SDK uses fails in a Node.js that is too old.

const OLDEST = 20;

/** The version of Node.js; undefined in a browser, also where a bundler has put something of its own for `process`. */
const version = globalThis.process?.versions?.node;

if (version !== undefined && Number.parseInt(version, 10) < OLDEST) {
  throw new Error(`battleship-salvo needs Node.js ${OLDEST} or later, and this is ${version}: install a newer one, such as that of https://nodejs.org`);
}

/** Whether this is Node.js. */
export const isNode = version !== undefined;

/**
 * Load a module of Node.js. Its name stands nowhere as `import` has it, so a bundler for browsers does not look for it.
 *
 * @template {keyof Builtins} Name
 * @param {Name} name
 * @returns {Promise<Builtins[Name]>}
 */
export const builtin = (name) => import(/* webpackIgnore: true */ /* @vite-ignore */ `node:${name}`);

/**
 * @typedef {{fs: typeof import("node:fs"), module: typeof import("node:module"), os: typeof import("node:os"),
 *   path: typeof import("node:path"), readline: typeof import("node:readline"), url: typeof import("node:url")}} Builtins by name
 */

/** Whether a bundler has put the SDK into one file with other code. */
export const isBundled = !import.meta.url.endsWith("/src/node.js");
