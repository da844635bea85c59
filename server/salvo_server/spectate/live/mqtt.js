// MQTT 3.1.1 over a WebSocket, as much of it as a spectator needs, with reconnection.
// Nothing here knows of games. Whatever a broker sends, the worst that comes of it is another connection.

const MAX_PACKET_BYTES = 300_000; // more than any announcement; the log, which is larger, is not asked for
const KEEP_ALIVE_SECONDS = 180; // browsers let the timers of a page in the background go once a minute
const PING_MS = 30_000;
const ANSWER_MS = 20_000;
const CONNECT_MS = 10_000;
const MAX_PAUSE_MS = 10_000;
const BAD_USER = 4;
const NOT_AUTHORISED = 5;

class ProtocolFault extends Error {}

const utf8 = new TextEncoder();
const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function packetOf(first, ...parts) {
  const body = joined(...parts);
  const header = [first];
  let length = body.length;
  do {
    header.push((length & 127) | (length > 127 ? 128 : 0));
    length >>= 7;
  } while (length);
  return joined(header, body);
}

function textField(text) {
  const bytes = utf8.encode(text);
  if (bytes.length > 65_535) throw new ProtocolFault("a text of more than 65535 bytes");
  return joined([bytes.length >> 8, bytes.length & 255], bytes);
}

function connectPacket(clientId, user, password) {
  const flags = 0x02 | (user === null ? 0 : 0x80) | (password === null ? 0 : 0x40);
  const fields = [textField("MQTT"), [4, flags, KEEP_ALIVE_SECONDS >> 8, KEEP_ALIVE_SECONDS & 255], textField(clientId)];
  for (const each of [user, password]) if (each !== null) fields.push(textField(each));
  return packetOf(0x10, ...fields);
}

const subscribePacket = (id, filters) =>
  packetOf(0x82, [id >> 8, id & 255], ...filters.map((filter) => joined(textField(filter), [1])));
const unsubscribePacket = (id, filters) => packetOf(0xa2, [id >> 8, id & 255], ...filters.map(textField));
const PINGREQ = Uint8Array.of(0xc0, 0);
const DISCONNECT = Uint8Array.of(0xe0, 0);

// Cuts packets out of a stream that comes in pieces of any size.
class Packets {
  #rest = new Uint8Array(0);

  // Returns those that are whole by now, each its first byte and its body.
  feed(bytes) {
    const stream = this.#rest.length ? joined(this.#rest, bytes) : bytes;
    const found = [];
    let at = 0;
    for (;;) {
      const place = bodyAt(stream, at);
      if (!place) break;
      found.push([stream[at], stream.subarray(place[0], place[1])]);
      at = place[1];
    }
    this.#rest = stream.slice(at);
    return found;
  }
}

// Returns where the body of the packet at a place begins and ends; null while it is not all there.
function bodyAt(stream, at) {
  let length = 0;
  for (let place = at + 1; place < at + 5; place++) {
    if (place >= stream.length) return null;
    length += (stream[place] & 127) * 128 ** (place - at - 1);
    if (stream[place] < 128) {
      if (length > MAX_PACKET_BYTES) throw new ProtocolFault(`a packet of ${length} bytes`);
      return place + 1 + length <= stream.length ? [place + 1, place + 1 + length] : null;
    }
  }
  throw new ProtocolFault("a malformed length");
}

// Returns topic, payload, packet id or 0, and whether it was retained.
function readPublish(first, body) {
  const qos = (first >> 1) & 3;
  const end = 2 + (body[0] << 8) + body[1];
  const start = qos ? end + 2 : end;
  if (qos > 1 || body.length < 2 || start > body.length) throw new ProtocolFault("a malformed message");
  const id = qos ? (body[end] << 8) + body[end + 1] : 0;
  if (qos && !id) throw new ProtocolFault("a message without its number");
  let topic;
  try {
    topic = strictText.decode(body.subarray(2, end));
  } catch {
    throw new ProtocolFault("a topic that is no text");
  }
  return { topic, payload: body.subarray(start), id, retained: (first & 1) === 1 };
}

// One connection from its greeting to its end. It ends once: `hear.ended` is told why, and nothing comes after that.
//   {kind: "refused", code}  the broker does not let this user in
//   {kind: "lost"}           it was let in, and then the connection ended
//   {kind: "unreachable"}    nobody answers there, or not with MQTT
class MqttConnection {
  #hear;
  #socket;
  #packets = new Packets();
  #timer = 0;
  #accepted = false;
  #over = false;
  #nextId = 1;

  constructor(url, user, password, hear) {
    this.#hear = hear;
    this.#socket = new WebSocket(url, "mqtt");
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => {
      const name = `salvo-live-${Math.random().toString(36).slice(2, 12)}`;
      this.#send(connectPacket(name, user, password));
    };
    this.#socket.onmessage = (event) => this.#received(event.data);
    this.#socket.onclose = () => this.#end({ kind: this.#accepted ? "lost" : "unreachable" });
    this.#timer = setTimeout(() => this.#end({ kind: "unreachable" }), CONNECT_MS);
  }

  subscribe(filters) {
    this.#send(subscribePacket(this.#id(), filters));
  }

  unsubscribe(filters) {
    this.#send(unsubscribePacket(this.#id(), filters));
  }

  // Says goodbye; `ended` is not told.
  close() {
    if (this.#accepted) this.#send(DISCONNECT);
    this.#over = true;
    this.#letGo();
  }

  #id() {
    this.#nextId = (this.#nextId % 65_535) + 1;
    return this.#nextId;
  }

  #send(packet) {
    if (!this.#over && this.#socket.readyState === 1) this.#socket.send(packet);
  }

  #received(data) {
    if (this.#over) return;
    try {
      if (typeof data === "string") throw new ProtocolFault("text in place of packets");
      for (const [first, body] of this.#packets.feed(new Uint8Array(data))) {
        this.#handle(first, body);
        if (this.#over) return;
      }
    } catch (error) {
      if (!(error instanceof ProtocolFault)) console.error(error);
      this.#end({ kind: this.#accepted ? "lost" : "unreachable" });
      return;
    }
    if (this.#accepted) this.#rest();
  }

  // Something was heard, so the other side is there; when it is quiet it is asked.
  #rest() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#send(PINGREQ);
      this.#timer = setTimeout(() => this.#end({ kind: "lost" }), ANSWER_MS);
    }, PING_MS);
  }

  #handle(first, body) {
    const kind = first >> 4;
    if (!this.#accepted && kind !== 2) throw new ProtocolFault("no answer to the greeting");
    if (kind === 2) this.#greeted(body);
    else if (kind === 3) this.#published(first, body);
    else if (kind !== 9 && kind !== 11 && kind !== 13) throw new ProtocolFault(`a packet of type ${kind}`);
  }

  #greeted(body) {
    if (this.#accepted || body.length !== 2) throw new ProtocolFault("a malformed answer to the greeting");
    if (body[1]) {
      this.#end({ kind: "refused", code: body[1] });
      return;
    }
    this.#accepted = true;
    this.#hear.accepted(this);
  }

  #published(first, body) {
    const { topic, payload, id, retained } = readPublish(first, body);
    if (id) this.#send(Uint8Array.of(0x40, 2, id >> 8, id & 255));
    let text;
    try {
      text = strictText.decode(payload);
    } catch {
      return; // nothing that this page shows
    }
    this.#hear.message(topic, text, retained);
  }

  #end(why) {
    if (this.#over) return;
    this.#over = true;
    this.#letGo();
    this.#hear.ended(why);
  }

  #letGo() {
    clearTimeout(this.#timer);
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
  }
}

// --- who to come as ---------------------------------------------------------------------------------------------------

// The users of an account, NAME.1, NAME.2 ..., until one is free. A broker tells neither which is free nor how many there
// are: who comes as a user throws out who was there, and that one comes back at once and throws the newcomer out again.
// So begin with any of the first four; after each that was in use look further out, where fewer are (screen_users.py).
class ScreenUsers {
  static FIRST = 4;
  static MOST = 1000;
  static MAX_TRIES = 16;
  #random;
  #taken = new Set();
  #most = ScreenUsers.MOST;
  #near = 0;
  #reach = ScreenUsers.FIRST;

  constructor(name, random = Math.random) {
    this.#random = random;
    this.name = name;
    this.single = name.includes(".");
    this.number = 1 + Math.floor(random() * ScreenUsers.FIRST);
  }

  get user() {
    return this.single ? this.name : `${this.name}.${this.number}`;
  }

  // The broker does not let this user in: perhaps there are not so many. False when the account itself is refused.
  refused() {
    if (this.single || this.number === 1) return false;
    this.#most = this.number - 1;
    return this.#choose();
  }

  // Somebody else is this user. False when all are in use.
  taken() {
    if (this.single) return false;
    this.#taken.add(this.number);
    this.#near = this.#reach;
    this.#reach *= 2;
    return this.#choose();
  }

  #choose() {
    if (this.#taken.size >= ScreenUsers.MAX_TRIES) return false;
    const free = [];
    for (let number = 1; number <= Math.min(this.#reach, this.#most); number++)
      if (!this.#taken.has(number)) free.push(number);
    if (!free.length) return false;
    const far = free.filter((number) => number > this.#near);
    const chosen = far.length ? far : free;
    this.number = chosen[Math.floor(this.#random() * chosen.length)];
    return true;
  }
}

// --- again and again --------------------------------------------------------------------------------------------------

const ESTABLISHED_MS = 3000; // who has held a user for so long stays, and a newcomer goes on to another one (rivals.py)
const THROWN_OUT_MS = 8000;
const MAX_THROWN_OUT = 30;
const ALL_IN_USE_MS = 30_000;

// Keeps a connection, whatever becomes of it. `hear.state` is told how it stands, "" while nobody has come:
//   "connecting", "on", "away" (nobody answers), "login" (a name is asked for), "wrong" (name or secret), "full" (all in use)
class Line {
  #url;
  #hear;
  #account = null;
  #users = null;
  #connection = null;
  #timer = 0;
  #acceptedAt = 0;
  #established = false;
  #thrownOut = 0;
  #pause = 0;

  constructor(url, hear) {
    this.#url = url;
    this.#hear = hear;
    this.state = "";
  }

  get user() {
    return this.#users ? this.#users.user : "";
  }

  // Comes as {user, secret}, or without a name for null, from now on.
  come(account) {
    this.stop();
    this.#account = account;
    this.#users = account && new ScreenUsers(account.user);
    this.#established = false;
    this.#thrownOut = this.#pause = 0;
    this.#connect();
  }

  stop() {
    clearTimeout(this.#timer);
    if (this.#connection) this.#connection.close();
    this.#connection = null;
    this.state = "";
  }

  // Tries now what it would try later.
  hurry() {
    if (this.state === "away") {
      clearTimeout(this.#timer);
      this.#connect();
    }
  }

  // Asks for topics; `connection.subscribe` where it stands, nothing elsewhere.
  subscribe(filters) {
    if (this.state === "on") this.#connection.subscribe(filters);
  }

  unsubscribe(filters) {
    if (this.state === "on") this.#connection.unsubscribe(filters);
  }

  #say(state) {
    this.state = state;
    this.#hear.state(state);
  }

  #connect() {
    if (this.state !== "away" && this.state !== "full") this.#say("connecting");
    const hear = {
      accepted: () => this.#accepted(),
      message: (topic, text, retained) => this.#hear.message(topic, text, retained),
      ended: (why) => this.#ended(why),
    };
    const secret = this.#account ? this.#account.secret : null;
    try {
      this.#connection = new MqttConnection(this.#url, this.#users && this.#users.user, secret, hear);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error;
      this.#say("bad"); // the address is none
    }
  }

  #accepted() {
    this.#acceptedAt = performance.now();
    this.state = "on";
    this.#hear.accepted();
    this.#hear.state("on");
  }

  #ended(why) {
    this.#connection = null;
    if (why.kind === "refused" && (why.code === BAD_USER || why.code === NOT_AUTHORISED)) this.#refused();
    else if (why.kind === "lost") this.#lost();
    else this.#later("away", this.#growing());
  }

  #refused() {
    if (!this.#users) this.#say("login");
    else if (this.#users.refused()) this.#later("connecting", 50);
    else this.#say("wrong");
  }

  #lost() {
    const held = performance.now() - this.#acceptedAt;
    this.#thrownOut = held < THROWN_OUT_MS ? this.#thrownOut + 1 : 1;
    this.#established ||= held >= ESTABLISHED_MS;
    if (held >= THROWN_OUT_MS) this.#pause = 0;
    if (!this.#users || (this.#established && this.#thrownOut < MAX_THROWN_OUT)) {
      // At once: a newcomer that has taken this user goes on to another one if it is thrown out soon.
      this.#later("away", this.#users && this.#pause === 0 ? 100 * Math.random() : this.#growing());
      return;
    }
    this.#established = false;
    this.#thrownOut = 0;
    if (this.#users.taken()) {
      this.#later("connecting", 200 * Math.random());
      return;
    }
    this.#users = new ScreenUsers(this.#account.user);
    this.#later("full", ALL_IN_USE_MS);
  }

  #growing() {
    this.#pause = Math.min(MAX_PAUSE_MS, Math.max(500, this.#pause * 1.7));
    return this.#pause * (0.5 + Math.random() / 2);
  }

  #later(state, milliseconds) {
    this.#say(state);
    this.#timer = setTimeout(() => this.#connect(), milliseconds);
  }
}
