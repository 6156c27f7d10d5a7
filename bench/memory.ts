// `npm run bench:memory -- [--part requests|updates|workers]… [--requests N] [--starts N] [--json FILE]`: memory over many requests
// of every kind, native and lowered, with and without updates of listeners and routes; and what each worker takes. Needs
// h2load, and Linux. Parts are added to those that FILE has. Ends with 1 where memory has grown, with 2 where it cannot start.

import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { envoyVersions } from "../tools/envoy/binary.js";
import { command, numberOption } from "./command.js";
import { UnusableInput } from "./figures.js";
import { requireH2load } from "./load/h2load.js";
import { describeMachine } from "./load/machine.js";
import { startUpstream } from "./load/upstream.js";
import { MemoryBench, type Report } from "./memory/parts.js";

const WASM = fileURLToPath(new URL("../build/attempt-router.wasm", import.meta.url));
/** Legs between two updates, in the series that have them. */
const RELOAD_EVERY = 5;
const PARTS = ["requests", "updates", "workers"];

await command(main);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      part: { type: "string", multiple: true, default: [...PARTS] },
      requests: { type: "string", default: "1000000" },
      starts: { type: "string", default: "5" },
      json: { type: "string" },
    },
  });
  const unknown = values.part.filter((part) => !PARTS.includes(part));
  if (unknown.length > 0) throw new UnusableInput(`expected --part ${PARTS.join(", ")}, found ${unknown.join(", ")}`);
  const requests = numberOption("requests", values.requests, 20_000);
  const starts = numberOption("starts", values.starts, 1);
  await requireH2load();
  const { oracle: envoy } = await envoyVersions();
  const earlier = await earlierReport(values.json);
  const report: Report = { requests: {}, workers: {}, ...earlier, machine: describeMachine(), envoy };
  const upstream = await startUpstream(undefined);
  try {
    const upstreams = upstream.ports;
    const bench = new MemoryBench(report, {
      native: { upstreams, wasm: undefined },
      lowered: { upstreams, wasm: WASM },
    });
    if (values.part.includes("requests")) await bench.overRequests(requests, 0);
    if (values.part.includes("updates")) await bench.overRequests(requests, RELOAD_EVERY);
    if (values.part.includes("workers")) await bench.perWorker(starts);
    if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(report, null, 1)}\n`);
  } finally {
    await upstream.envoy.stop();
  }
}

/** What `file` has from other parts, if there is one. */
async function earlierReport(file: string | undefined): Promise<Partial<Report>> {
  if (file === undefined || !existsSync(file)) return {};
  return JSON.parse(await readFile(file, "utf8")) as Report;
}
