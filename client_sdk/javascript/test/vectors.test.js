// The vectors of the protocol, as far as they are about what a player writes or reads: of `refusals` and `book_refusals`,
// which are for a server, the answers.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { PROTOCOL, readAnnouncement, readPlacement, readRecap } from "../src/announcements.js";
import { fromBase64, fromHex, sodium, toBytes, toText } from "../src/bytes.js";
import { cleanText } from "../src/chatText.js";
import { SalvoError } from "../src/errors.js";
import { LogError } from "../src/log.js";
import { generator } from "../src/random.js";
import { Fleet, RuleBook } from "../src/rules.js";
import { deriveKey, openBlob, parseBlob, Sealer, sealForServer } from "../src/seal.js";
import * as shape from "../src/shape.js";
import { parseJson, sameValue } from "../src/strictJson.js";
import { checkName, parseTopic } from "../src/topics.js";
import { View } from "../src/view.js";
import { Witness } from "../src/witness.js";

const folder = new URL("../../../proto/", import.meta.url);
/** What no player reads or writes, and for whom it is. */
const FOR_OTHERS = { hosts: "a server, of a host", referee_views: "referees", ships: "a server, which reads short names", standings: "spectators" };
const tried = new Set();

/** The cases of a file. */
function casesOf(name) {
  tried.add(name);
  return JSON.parse(readFileSync(new URL(`vectors/${name}.json`, folder), "utf8")).cases;
}

const keys = new Map();

/** The keys of a secret, each derived once. */
function keyOf(secret, salt) {
  const name = `${secret} ${salt}`;
  if (!keys.has(name)) keys.set(name, deriveKey(secret, salt));
  return keys.get(name);
}

const payloadOf = (input, name = "payload") => (input[`${name}_hex`] ? fromHex(input[`${name}_hex`]) : toBytes(input[name] ?? input));
const open = (secret, text) => {
  const blob = parseBlob(text);
  return openBlob(blob, keyOf(secret, blob.salt));
};

/** What a signed message says, if its open body and its blob agree (SALVO-SEAL-4). */
function openSigned(secret, payload) {
  const { signature, ...bodies } = parseJson(payload);
  const names = Object.keys(bodies);
  if (typeof signature !== "string" || names.length !== 1 || !["data", "payload"].includes(names[0])) throw new SalvoError("wrong_shape", "");
  const inside = parseJson(open(secret, signature));
  if (!sameValue(inside, bodies[names[0]])) throw new SalvoError("body_mismatch", "");
  return inside;
}

/** Try each case of a file: the result, or the code of the error. */
function vectors(name, work, wanted = (result) => result) {
  describe(name, () => {
    for (const { description, input, result, error } of casesOf(name)) {
      test(description, () => {
        if (error === undefined) assert.deepEqual(work(input), wanted(result));
        else assert.throws(() => work(input), { code: error });
      });
    }
  });
}

vectors("blobs", ({ secret, blob }) => toText(open(secret, blob)));
vectors("placements", (input) => {
  const said = parseJson(payloadOf(input, "text"));
  shape.exactly({ coordinates: shape.text, Orientation: shape.text })(said, "");
  const { x, y, orientation } = readPlacement({ ship: "carrier", ...said });
  return [x, y, orientation];
});
vectors("lines", (input) => {
  const { text, to } = shape.exactly({ text: shape.text, to: shape.optional(shape.text, "") })(parseJson(payloadOf(input)), "");
  return [cleanText(text), to];
});
vectors("participations", (input) => {
  const { name, secret } = shape.exactly({ name: shape.text, secret: shape.text })(parseJson(payloadOf(input)), "");
  if ([...secret].length < 1 || [...secret].length > 256) throw new SalvoError("wrong_shape", "");
  return checkName(name);
});
vectors("resends", (input) => shape.exactly({ log: shape.integer(0, 1e9) })(parseJson(payloadOf(input)), "").log);

const rules = JSON.parse(readFileSync(new URL("README.md", folder), "utf8").match(/\{"rules":"salvo".*\}/)[0]);

vectors("recaps", ({ text }) => {
  const book = new RuleBook(rules);
  const recap = readRecap(toBytes(text));
  const view = new View(book, "ann", recap.players, recap.game, book.randomFleet(generator("any")), generator("any"));
  view.recall(recap);
  const aiming = new View(book, "ann", recap.players, 1, view.fleet, view.random);
  const everyCell = aiming.untouched.of("bob");
  if (recap.earlier) aiming.sumUp(recap.earlier);
  aiming.fire(recap.shots.map(({ shot }) => shot));
  const struck = new Set(view.incoming.map(({ x, y }) => book.grid.cell(x, y)));
  return {
    first: (recap.earlier?.turns ?? 0) + 1, turn: recap.turn, afloat: Object.fromEntries(view.shipsAfloat), out: view.defeated,
    fired: Object.fromEntries([...view.tallies].map(([player, { shots, hits }]) => [player, [shots, hits]])),
    aimed: byCell(everyCell.filter((shot) => !aiming.untouched.has(shot)).map(({ player, x, y }) => [player, x, y])),
    struck: byCell([...struck].map((cell) => book.grid.xy(cell))),
  };
}, (result) => ({ ...result, aimed: byCell(result.aimed), struck: byCell(result.struck) }));

/** Cells in one order, whatever order they come in. */
function byCell(cells) {
  return cells.map((cell) => JSON.stringify(cell)).toSorted();
}

describe("what is sealed and signed reads as the vectors do", () => {
  for (const [name, body] of [["shots", { x: 3, y: 4 }], ["skips", { g: 1, t: 9 }], ["leaves", { g: 1 }]]) {
    test(name, () => {
      const salt = Uint8Array.from({ length: 16 }, (_, at) => at);
      const sealer = new Sealer("cockadoodledoo", salt);
      assert.deepEqual(openSigned("cockadoodledoo", sealer.sign(body)), body);
      for (const { description, input, result, error } of casesOf(name)) {
        if (error === "body_mismatch" || error === "forged") {
          assert.throws(() => openSigned(input.secret, payloadOf(input)), { code: error }, description);
        } else if (error === undefined && input.payload) {
          assert.equal(typeof openSigned(input.secret, payloadOf(input)), "object", `${description} ${result}`);
        }
      }
    });
  }

  test("sealed_participations", () => {
    for (const { description, input, result, error } of casesOf("sealed_participations")) {
      if (error !== undefined) continue; // a client never opens one
      const [publicKey, privateKey] = [fromHex(input.public_key_hex), fromHex(input.private_key_hex)];
      const text = JSON.stringify({ name: result[0], secret: result[1] });
      const box = fromBase64(sealForServer(text, publicKey), "sealed_unreadable");
      assert.deepEqual(JSON.parse(toText(sodium.crypto_box_seal_open(box, publicKey, privateKey))), JSON.parse(text), description);
    }
  });
});

describe("log", () => {
  const { publicKey: key, privateKey } = sodium.crypto_sign_seed_keypair(Uint8Array.from({ length: 32 }, (_, at) => at));
  const hear = (payloads) => {
    const witness = new Witness("cy");
    witness.follow(key, 2);
    const events = payloads.flatMap((payload) => witness.logged(toBytes(payload), 0));
    return events.some((event) => event.whole);
  };
  test("a ship counts only in the game of a team that its log lists", () => {
    const [{ input }] = casesOf("log");
    const judged = (name) => {
      const witness = new Witness(name);
      witness.follow(key, 2);
      witness.placed(1, { ship: "boat", x: 1, y: 1, orientation: "HORIZONTAL" }, "00".repeat(16));
      return input.flatMap((payload) => witness.logged(toBytes(payload), 0)).some((event) => event.whole);
    };
    assert.equal(judged("cy"), true);
    assert.throws(() => judged("ann"), { code: "unfair" });
  });

  for (const { description, input, result } of casesOf("log")) {
    test(description, () => {
      let fault = null;
      let whole = false;
      try {
        whole = hear(input);
      } catch (error) {
        assert.ok(error instanceof SalvoError || error instanceof LogError, String(error));
        fault = error.code;
      }
      // A witness holds the server to its signatures, its chain and its commitments; whether the game followed the rules
      // is for a referee, `salvo verify`.
      if (result === null) assert.deepEqual([whole, fault], [true, null]);
      else if (fault !== null) assert.equal(fault === "unfair", ["server", "forked"].includes(result.fault), fault);
    });
  }

  test("a later server's log that cannot be read is compared no further, and asked for no more", () => {
    const sign = sodium.crypto_sign_detached(toBytes('salvo log\0{"later":1}'), privateKey);
    const payload = toBytes(`{"entry":{"later":1},"sign":"${sodium.to_base64(sign, sodium.base64_variants.ORIGINAL)}"}`);
    const witness = new Witness("cy");
    witness.follow(key, PROTOCOL.minor + 1);
    assert.throws(() => witness.logged(payload, 0), { code: "unknown_version" });
    witness.connectedAnew();
    assert.deepEqual([1000, 2000].map((now) => witness.missed(now)), [null, null]);
  });
});

describe("a player reads the server's refusals", () => {
  for (const { description, answers } of [...casesOf("refusals"), ...casesOf("book_refusals")]) {
    const own = answers.filter(({ topic }) => topic.startsWith("/players/"));
    if (own.length) test(description, () => {
      for (const { topic, code } of own) {
        const [, , player] = topic.split("/");
        const said = readAnnouncement(parseTopic(topic, "", player), toBytes(`${code}: because`));
        assert.deepEqual([said.code, said.text], [code, "because"]);
        assert.equal(parseTopic(topic, "", "mallory"), null);
      }
    });
  }
});

test("every file of vectors is tried here, unless it is for others than players", () => {
  const files = readdirSync(new URL("vectors/", folder)).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));
  assert.deepEqual(files.toSorted(), [...tried, ...Object.keys(FOR_OTHERS)].toSorted());
});

test("a ship's name may be a number, and the fleet keeps its order", () => {
  const said = parseJson(toBytes(JSON.stringify(rules).replace(/"fleet":\{[^}]*\}/, '"fleet":{"b":3,"2":2,"1":1}')));
  assert.deepEqual(new RuleBook(said).fleet.map((ship) => ship.name), ["b", "2", "1"]);
  assert.throws(() => new Fleet(new RuleBook(said), []), { code: "fleet_incomplete" });
});
