// `npm run bench:curves -- [--curve NAME]… [--line TEXT]… [--min X] [--max X] [--requests N] [--warm-up N] [--json FILE]
// [--svg DIR] [--draw]`: how costs grow with the size of the configuration. Every point is put into the file as soon as it is
// measured, beside those that the file has; then all pictures are drawn from it. `--draw` only draws. Needs valgrind. Ends with 2
// where it cannot start.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { envoyVersions, findEnvoy } from "../tools/envoy/binary.js";
import { hasValgrind } from "./callgrind.js";
import { command } from "./command.js";
import { drawAll } from "./curves/pictures.js";
import { addPoint, readResults } from "./curves/results.js";
import { UnusableInput } from "./figures.js";
import { TASKS, type Task, type Tools } from "./curves/tasks.js";

const { values } = parseArgs({
  options: {
    curve: { type: "string", multiple: true, default: [] },
    line: { type: "string", multiple: true, default: [] },
    min: { type: "string", default: "0" },
    max: { type: "string", default: "Infinity" },
    requests: { type: "string", default: "600" },
    "warm-up": { type: "string", default: "800" },
    json: { type: "string", default: path("results/curves.json") },
    svg: { type: "string", default: path("../docs/images") },
    draw: { type: "boolean", default: false },
  },
});

await command(async () => {
  if (!values.draw) await measure();
  for (const [name, svg] of Object.entries(drawAll(await readResults(values.json)))) {
    await writeFile(join(values.svg, name), svg);
  }
});

async function measure(): Promise<void> {
  if (!(await hasValgrind())) throw new UnusableInput("valgrind is not installed: apt-get install valgrind");
  const { oracle } = await envoyVersions();
  const binary = await findEnvoy(oracle);
  const effort = { requests: Number(values.requests), warmUp: Number(values["warm-up"]) };
  const tools = { version: oracle, binary, wasm: path("../build/attempt-router.wasm"), ...effort };
  const tasks = TASKS.filter(isWanted);
  for (const [i, task] of tasks.entries()) {
    process.stderr.write(`[${i + 1}/${tasks.length}] ${task.curve}: ${task.lines.join("; ")}\n`);
    for (const x of task.xs.filter((x) => x >= Number(values.min) && x <= Number(values.max))) {
      await measurePoint(task, x, tools);
    }
  }
}

function isWanted({ curve, lines }: Task): boolean {
  if (values.curve.length > 0 && !values.curve.includes(curve)) return false;
  return values.line.length === 0 || lines.some((line) => values.line.some((text) => line.startsWith(text)));
}

async function measurePoint(task: Task, x: number, tools: Tools): Promise<void> {
  for (const [line, value] of Object.entries(await task.measure(x, tools))) {
    const rounded = Number(value.toPrecision(6));
    process.stdout.write(`| ${task.curve} | ${line} | ${x.toLocaleString("en")} | ${rounded.toLocaleString("en")} |\n`);
    await addPoint(values.json, task.curve, line, x, rounded);
  }
}

function path(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
