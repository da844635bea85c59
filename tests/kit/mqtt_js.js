// MQTT.js, driven by a test: each line of JSON on standard input is a call of the client, each on standard output an
// event. It ends with its input.
const [url, version, name] = process.argv.slice(2);
const client = require("mqtt").connect(url, { protocolVersion: Number(version), clientId: name, reconnectPeriod: 200 });
const say = (...event) => process.stdout.write(JSON.stringify(event) + "\n");
client.on("connect", () => say("connect"));
client.on("close", () => say("close"));
client.on("error", (error) => say("error", error.message));
client.on("message", (topic, payload, packet) => say("message", topic, payload.toString(), packet.qos, packet.retain));
const told = require("readline").createInterface({ input: process.stdin });
told.on("line", (line) => {
  const [call, ...given] = JSON.parse(line);
  client[call](...given, (error, done) => say(call, error ? error.message : null, call === "subscribe" ? done : null));
});
told.on("close", () => process.exit());
