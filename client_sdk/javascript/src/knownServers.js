// The servers that this user knows: the key of each, by the broker's address (SALVO-IDENT-2). In Node.js it is the file
// that the Python SDK has, too; in a browser it is the page's local storage.

import { sameBytes, toBase64 } from "./bytes.js";
import { SalvoError, TrustError } from "./errors.js";
import { builtin, isNode } from "./node.js";
import { fingerprint } from "./seal.js";
import * as shape from "./shape.js";
import { parseJson } from "./strictJson.js";

/** @typedef {{[address: string]: Uint8Array}} Keys */
/** @typedef {{where: string, read: () => Keys, add: (address: string, key: Uint8Array) => Uint8Array}} Store */

const KEY = shape.base64(32);
const MAX_BYTES = 1024 * 1024;

/** Remembers servers, in a store. */
export class KnownServers {
  /** @param {Store} store */
  constructor(store) {
    this.store = store;
  }

  /** Return those of this user; null for a user who has none, or who names `none` in SALVO_KNOWN_SERVERS. */
  static async ofUser() {
    const store = isNode ? await fileStore() : browserStore();
    return store === null ? null : new KnownServers(store);
  }

  /** Return a server's signing key; null for an unknown one. @param {string} address `host:port` of the broker */
  keyOf(address) {
    return this.store.read()[address] ?? null;
  }

  /**
   * Remember a new server's signing key, or check a known server's.
   *
   * @param {string} address
   * @param {Uint8Array | null} key null for a server without keys
   * @throws {TrustError} `server_changed`
   */
  meet(address, key) {
    let known = this.keyOf(address);
    if (known === null && key !== null) known = this.store.add(address, key);
    if (known === null || (key !== null && sameBytes(known, key))) return;
    const now = key === null ? "one without a key" : fingerprint(key);
    throw new TrustError("server_changed", `the server at ${address} was ${fingerprint(known)} and now is ${now}: this may be an impostor. Ask the `
      + `operator for its fingerprint; if it has a new identity, remove ${address} from ${this.store.where}`);
  }
}

/** @returns {Store | null} */
function browserStore() {
  const prefix = "salvo server ";
  try {
    localStorage.getItem(prefix);
  } catch {
    return null; // a page that may store nothing
  }
  return {
    where: "this page's local storage",
    read: () => Object.fromEntries(Object.entries({ ...localStorage }).filter(([name]) => name.startsWith(prefix))
      .map(([name, key]) => [name.slice(prefix.length), KEY(key, name)])),
    add: (address, key) => {
      localStorage.setItem(prefix + address, toBase64(key));
      return key;
    },
  };
}

/** @returns {Promise<Store | null>} */
async function fileStore() {
  const [fs, path, os] = await Promise.all([builtin("fs"), builtin("path"), builtin("os")]);
  const named = process.env.SALVO_KNOWN_SERVERS;
  if (named === "none") return null;
  const folder = process.platform === "win32" ? process.env.APPDATA : (process.env.XDG_CONFIG_HOME || path.join(os.homedir(), ".config"));
  const file = named || path.join(folder ?? os.homedir(), "salvo", "known_servers.json");
  const read = () => {
    try {
      return shape.record(KEY)(parseJson(fs.readFileSync(file), MAX_BYTES), "");
    } catch (error) {
      if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")) return {};
      throw new SalvoError("known_servers", `${file} cannot be read (${error}): repair it, or name another file with SALVO_KNOWN_SERVERS`);
    }
  };
  /** @param {string} address @param {Uint8Array} key */
  const add = (address, key) => {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    /** @type {Keys} */
    const servers = { [address]: key, ...read() }; // one that another bot has just added stays
    const texts = Object.fromEntries(Object.entries(servers).map(([where, its]) => [where, toBase64(its)]));
    const part = `${file}.${process.pid}`;
    fs.writeFileSync(part, `${JSON.stringify(texts, null, 1)}\n`, { mode: 0o600 });
    fs.renameSync(part, file);
    return servers[address];
  };
  return { where: file, read, add };
}
