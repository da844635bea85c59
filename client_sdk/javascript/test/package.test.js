// The package as npm packs it: TypeScript knows its names, and bundlers put it into one file.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import ts from "typescript";

const sdk = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(sdk, "node_modules", "packed-")); // where what the SDK needs is found
after(() => rmSync(folder, { recursive: true }));

const BOT = `import * as salvo from "battleship-salvo";
salvo.run((view) => view.untouched.sample(view.shots));
`;
const write = (name, text) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

before(() => {
  write("package.json", '{"type": "module"}');
  const installed = join(folder, "node_modules", "battleship-salvo");
  mkdirSync(installed, { recursive: true });
  run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { cwd: sdk });
  const { version } = JSON.parse(readFileSync(join(sdk, "package.json"), "utf8"));
  run("tar", ["xzf", join(folder, `battleship-salvo-${version}.tgz`), "-C", installed, "--strip-components=1"]);
});

/** Run a program that has to succeed; what it prints. */
function run(program, words, options = {}) {
  const done = spawnSync(program, words, { encoding: "utf8", input: "", ...options });
  assert.equal(done.status, 0, done.stderr + done.stdout);
  return done.stdout;
}

// --- TypeScript -------------------------------------------------------------------------------------------------------

const TYPED = `
import * as salvo from "battleship-salvo";
import type { Answer, BotClass, ContestOptions, Fleet, GameReport, Placement, Result, RuleBook, Shot, Stats, Untouched, View } from "battleship-salvo";

class Mine extends salvo.Bot {
  #seen: Result[] = [];
  override placeFleet(rules: RuleBook): Fleet {
    const placements: Placement[] = rules.randomFleet(this.random).placements;
    return new salvo.Fleet(rules, placements);
  }
  override async chooseSalvo(view: View): Promise<Shot[]> {
    const cells: Untouched = view.untouched;
    const corner: Shot = { player: view.opponents[0]!, x: 1, y: 1 };
    return cells.has(corner) ? [corner] : cells.sample(view.shots);
  }
  override onResult(result: Result): void {
    this.#seen.push(result);
  }
  override onGameOver(winner: string | null, stats: Map<string, Stats>): void {
    this.say(\`\${winner} \${stats.get(this.name)?.place ?? 0} \${this.#seen.length}\`);
  }
}
const fire = (view: View): Answer => view.salvos.at(-1)?.shots ?? view.untouched.sample(view.shots);
const Simple: BotClass = salvo.bot(fire);
const options: ContestOptions = { games: 1, listener: (event: salvo.SessionEvent) => event.type };
export const reports: Promise<GameReport[]> = salvo.play(Simple, "ws://localhost/mqtt", "red", options);
salvo.run(Mine);
`;

/** Compile files strictly; what is wrong with them. */
function mistakes(texts, resolution) {
  const files = texts.map((text, number) => write(`typed${number}.mts`, text));
  const kinds = { NodeNext: ts.ModuleKind.NodeNext, Bundler: ts.ModuleKind.ESNext };
  const program = ts.createProgram(files, {
    strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noImplicitOverride: true, verbatimModuleSyntax: true, noEmit: true,
    target: ts.ScriptTarget.ES2022, module: kinds[resolution], moduleResolution: ts.ModuleResolutionKind[resolution], types: ["node"],
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText, file: at }) => `${at?.fileName ?? ""} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
}

for (const resolution of ["NodeNext", "Bundler"]) {
  test(`a strict bot in TypeScript is compiled, and a wrong one is not (${resolution})`, () => {
    const [wrong, ...more] = mistakes([TYPED, TYPED.replace("x: 1, y: 1", 'x: "A", y: 1')], resolution);
    assert.match(wrong, /typed1\.mts Type 'string' is not assignable to type 'number'/);
    assert.deepEqual(more, []);
  });
}

// --- bundles ----------------------------------------------------------------------------------------------------------

const specification = readFileSync(new URL("../../../proto/README.md", import.meta.url), "utf8");
const rules = JSON.parse(specification.match(/\{"rules":"salvo".*\}/)[0]);
const LINES = [{ type: "game", game: 1, me: "red", seed_text: "ashes", rules }, { type: "fleet", id: 1 }].map((line) => `${JSON.stringify(line)}\n`).join("");

/** Put a bot into one file. */
const bundle = (entry, outfile, more = {}) => build({
  entryPoints: [join(folder, entry)], outfile: join(folder, outfile), bundle: true, format: "esm", platform: "node", logLevel: "silent", ...more,
});
const answer = (words) => run(process.execPath, words, { cwd: folder, input: LINES });

test("a bot in one file answers as it does without, also with a source map or by another name", async () => {
  write("mybot.js", BOT);
  await bundle("mybot.js", "one.mjs", { sourcemap: true });
  const alone = answer(["mybot.js"]);
  assert.match(alone, /^\{"id":1,"fleet":\[/);
  symlinkSync("one.mjs", join(folder, "link.mjs"));
  for (const words of [["mybot"], ["one.mjs"], ["--enable-source-maps", "one.mjs"], ["link.mjs"]]) assert.equal(answer(words), alone, words);
});

test("a bot in parts, or loaded by a CommonJS file, answers, too", async () => {
  write("mybot.js", BOT);
  await build({ entryPoints: [join(folder, "mybot.js")], outdir: join(folder, "parts"), bundle: true, splitting: true, format: "esm", platform: "node", logLevel: "silent" });
  write("mybot.cjs", 'import("battleship-salvo").then((salvo) => salvo.run((view) => view.untouched.sample(view.shots)));\n');
  for (const words of [["parts/mybot.js"], ["mybot.cjs"]]) assert.match(answer(words), /^\{"id":1,"fleet":\[/);
});

test("a bot that another file imports does not play, in one file or not", async () => {
  write("mybot.js", BOT);
  await bundle("mybot.js", "one.mjs");
  for (const name of ["mybot.js", "one.mjs"]) {
    write("other.mjs", `import "./${name}";\n`);
    write("later.mjs", `await import("./${name}");\n`);
    for (const other of ["other.mjs", "later.mjs"]) assert.equal(answer([other]), "", `${other} imports ${name}`);
  }
});

test("a bot in one file shows its own line where it fails", async () => {
  write("failing.js", 'import * as salvo from "battleship-salvo";\nsalvo.run(class Mine extends salvo.Bot {\n  placeFleet() {\n    return this.nothing();\n  }\n});\n');
  await bundle("failing.js", "failing.mjs");
  for (const name of ["failing.js", "failing.mjs"]) {
    const { stderr, status } = spawnSync(process.execPath, [join(folder, name)], { encoding: "utf8", input: LINES });
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`^error: bot_raised: placeFleet: TypeError: .* at Mine\\.placeFleet \\(.*${name}:\\d+:\\d+\\)`));
  }
});

test("a bot in one file connects to the contest that SALVO_URL names", async () => {
  write("mybot.js", BOT);
  await bundle("mybot.js", "one.mjs");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const env = { ...process.env, SALVO_URL: `mqtt://127.0.0.1:${server.address().port}`, SALVO_TEAM: "red", SALVO_KNOWN_SERVERS: "none" };
  const bot = spawn(process.execPath, [join(folder, "one.mjs")], { env, stdio: ["ignore", "ignore", "inherit"] });
  try {
    const [socket] = await Promise.race([once(server, "connection"), once(bot, "exit").then(() => assert.fail("it has ended"))]);
    const [connect] = await once(socket, "data");
    assert.match(connect.toString("latin1"), /MQTT.*salvo-red/s);
    socket.destroy();
  } finally {
    bot.kill("SIGKILL");
    server.close();
  }
});

test("a bundle for browsers wants nothing of Node.js", async () => {
  write("page.js", 'import * as salvo from "battleship-salvo";\nsalvo.play(salvo.bot(() => []), "ws://localhost/mqtt", "red");\n');
  const { metafile, warnings } = await bundle("page.js", "page.mjs", { platform: "browser", metafile: true });
  assert.deepEqual(warnings, []);
  assert.deepEqual(Object.values(metafile.outputs).flatMap(({ imports }) => imports), []);
});

// --- Node.js ----------------------------------------------------------------------------------------------------------

test("an old Node.js gets a message with the version that is needed", () => {
  write("mybot.js", BOT);
  // What version 18 says of itself, and lacks.
  const old = write("old.cjs", 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.4" } });\ndelete globalThis.crypto;\n');
  const { stderr, status } = spawnSync(process.execPath, ["-r", old, join(folder, "mybot.js")], { encoding: "utf8", input: "" });
  assert.equal(status, 1);
  assert.match(stderr, /^Error: battleship-salvo needs Node\.js 20 or later, and this is 18\.20\.4: /m);
  const { engines } = JSON.parse(readFileSync(join(sdk, "package.json"), "utf8"));
  assert.equal(engines.node, ">=20");
});
