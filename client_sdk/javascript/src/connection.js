// One connection to a broker: MQTT 3.1.1, QoS 1 both ways, endless reconnection with growing, random pauses (SALVO-MQTT).

import "./require.js";
import mqtt from "mqtt";
import { SalvoError } from "./errors.js";

const PORTS = /** @type {{[scheme: string]: number}} */ ({ "mqtt:": 1883, "mqtts:": 8883, "ws:": 80, "wss:": 443 });
/** Names have parts of 1 to 63 characters; an IPv6 address stands in brackets, where `URL` has checked it. */
const HOST = /^(?:[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?|\[[0-9A-Fa-f:.]+\])$/;
const MAX_NAME = 253;
const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 5000;
/** A connection that has lasted this long, in milliseconds, was no failed attempt. */
const ESTABLISHED = 3000;
/** After a shorter one: two programs of one team must not push each other out all day. */
const PAUSE_AFTER_SHORT = 1500;
/** How long a client that was accepted before tries again when it is refused: a broker that starts may lack accounts yet. */
const REFUSED = 60_000;
const CLOSING = 1000;

/** Where a broker is. */
export class BrokerUrl {
  /** @param {string} url `mqtt://HOST:PORT`, `mqtts://`, `ws://` or `wss://`; `HOST:PORT` alone is `mqtt://` @throws {SalvoError} `bad_url` */
  constructor(url) {
    const parts = read(url.trim());
    if (parts === null) {
      throw new SalvoError("bad_url", `"${url.replace(/^([a-z]*:\/\/)?.*@/, "$1")}" is not mqtt://HOST:PORT, mqtts://, ws:// or wss://`);
    }
    this.scheme = parts.protocol.slice(0, -1);
    this.encrypted = this.scheme === "mqtts" || this.scheme === "wss";
    /** `host:port`, whatever the scheme. */
    this.address = `${parts.hostname}:${parts.port || PORTS[parts.protocol]}`;
    const path = parts.pathname.length > 1 ? parts.pathname : "/mqtt";
    this.text = `${this.scheme}://${this.address}${this.scheme.startsWith("ws") ? path : ""}`;
    this.username = parts.username ? decodeURIComponent(parts.username) : null;
    this.password = parts.password ? decodeURIComponent(parts.password) : null;
  }
}

/** The parts of a broker's address; null where one of them cannot be used. @param {string} url */
function read(url) {
  try {
    const parts = new URL(url.includes("://") ? url : `mqtt://${url}`);
    decodeURIComponent(parts.username + parts.password); // throws where a % has no number behind
    const named = parts.hostname.length <= MAX_NAME && HOST.test(parts.hostname);
    const beyond = parts.search || parts.hash || (parts.protocol.startsWith("mqtt") && parts.pathname.length > 1);
    return parts.protocol in PORTS && named && parts.port !== "0" && !beyond ? parts : null;
  } catch {
    return null;
  }
}

/**
 * @typedef {object} Handlers
 * @property {() => void} connected whenever the broker has accepted the connection
 * @property {(topic: string, payload: Uint8Array, retained: boolean) => void} message
 * @property {(error: SalvoError) => void} failed no retry helps
 * @property {(text: string) => void} log
 */

/** A connection that is kept up until it is closed. */
export class Connection {
  #client;
  #acceptedAt = 0;
  #pause = FIRST_PAUSE;
  /** @type {number | null} */
  #refusedSince = null;
  /** Whether it is up. */
  connected = false;

  /**
   * @param {BrokerUrl} url
   * @param {{clientId: string, username: string | null, password: string | null, ca?: Uint8Array | null}} options
   * @param {Handlers} handlers
   */
  constructor(url, { clientId, username, password, ca = null }, handlers) {
    this.url = url;
    this.handlers = handlers;
    this.#client = mqtt.connect(url.text, {
      clientId, clean: true, protocolVersion: 4, keepalive: 60, connectTimeout: 5000, resubscribe: false, reconnectOnConnackError: true,
      reconnectPeriod: FIRST_PAUSE, ...(username === null ? {} : { username }), ...(password === null ? {} : { password }),
      ...(ca === null ? {} : { ca: /** @type {any} */ (ca) }),
    });
    this.#client.on("connect", () => this.#accepted());
    this.#client.on("close", () => this.#closed());
    this.#client.on("error", (error) => this.#failed(error));
    this.#client.on("message", (topic, payload, packet) => this.handlers.message(topic, payload, packet.retain));
  }

  #accepted() {
    const stream = /** @type {any} */ (this.#client.stream);
    stream.setNoDelay?.(true); // else a round trip takes 44 ms
    this.connected = true;
    this.#acceptedAt = performance.now();
    this.#refusedSince = null;
    this.handlers.connected();
  }

  #closed() {
    if (this.connected) this.handlers.log(`${this.url.text}: the connection was lost; trying again`);
    const lasted = performance.now() - this.#acceptedAt;
    if (this.connected) this.#pause = lasted > ESTABLISHED ? FIRST_PAUSE : Math.max(this.#pause, PAUSE_AFTER_SHORT);
    this.connected = false;
    this.#client.options.reconnectPeriod = this.#pause * (0.5 + Math.random() / 2);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
  }

  /** @param {Error & {code?: unknown}} error */
  #failed(error) {
    const { code } = error;
    if (code === 1 || code === 2 || code === 4 || code === 5) this.#refused(code);
    else if (typeof code === "string" && /CERT|SIGNED|ISSUER|ALTNAME/.test(code)) {
      this.handlers.failed(new SalvoError("tls_unknown_ca", `${this.url.text}: ${error.message}; name the operator's file in SALVO_CA`));
    }
  }

  /** @param {number} code of MQTT 3.1.1 */
  #refused(code) {
    this.#refusedSince ??= performance.now();
    if (this.#acceptedAt && performance.now() - this.#refusedSince < REFUSED) return;
    const unknown = code > 2;
    this.handlers.failed(unknown
      ? new SalvoError("not_authorised", `${this.url.text} has no account with this name and secret; ask the operator for both`)
      : new SalvoError("connection_refused", `${this.url.text} refuses the connection with code ${code}`));
  }

  /** @param {string[]} topics */
  subscribe(topics) {
    this.#client.subscribe(topics, { qos: 1 }, () => {});
  }

  /** @param {string[]} topics */
  unsubscribe(topics) {
    if (topics.length) this.#client.unsubscribe(topics, () => {});
  }

  /** @param {import("./session/outbox.js").Message} message */
  publish({ topic, payload }) {
    this.#client.publish(topic, /** @type {any} */ (payload), { qos: 1 }, () => {});
  }

  /** End it: what is on its way has a second to get there. */
  async close() {
    this.connected = false;
    const ended = new Promise((done) => this.#client.end(false, {}, () => done(undefined)));
    await Promise.race([ended, new Promise((done) => setTimeout(done, CLOSING))]);
    this.#client.end(true);
  }
}
