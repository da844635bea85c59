// MQTT.js loads modules of Node.js with `require`, which a bundle of ES modules has not. Loaded before it.

import { builtin, isBundled, isNode } from "./node.js";

if (isNode && isBundled && !("require" in globalThis)) {
  Object.assign(globalThis, { require: (await builtin("module")).createRequire(import.meta.url) });
}
