// `tsx lower-once.ts FILE WASM`: lowers a file and prints what that took, as JSON. A process of its own, so that its greatest
// memory is that of one run.

import { readFileSync } from "node:fs";
import { lower } from "../../cli/lower.js";

const [file = "", wasm = ""] = process.argv.slice(2);
const text = readFileSync(file, "utf8");
const before = process.cpuUsage();
const output = lower(text, { file, wasm }).text;
const { user, system } = process.cpuUsage(before);
const result = {
  input: Buffer.byteLength(text),
  output: Buffer.byteLength(output),
  memory: process.resourceUsage().maxRSS * 1024,
  seconds: (user + system) / 1e6,
};
process.stdout.write(JSON.stringify(result));
