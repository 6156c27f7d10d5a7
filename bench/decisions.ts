// `npm run bench:decisions -- [--row TEXT]… [--json FILE]`: nanoseconds, allocations and bytes per request in the module,
// under Node's V8. The proxy is a stub that answers from prepared values, and what a request without settings costs on the
// same stub is taken off, so what is left is the decision and the host calls that it makes.

import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { countAllocations, decisionRows, inSteadyState, WITHOUT_SETTINGS, type DecisionRow } from "./decision-rows.js";
import { median } from "./numbers.js";
import { StubProxy } from "./stub-proxy.js";

const BATCH = 500;
const BATCHES = 401;
const WARM_UP = 30_000;
/** Nanoseconds that a decision on the happy path may take. */
const BUDGET = 300;

const { values } = parseArgs({
  options: { row: { type: "string", multiple: true, default: [] }, json: { type: "string" } },
});
const release = load("attempt-router.wasm");
const instrumented = load("debug.wasm");
const result: Record<"nanoseconds" | "allocations" | "bytes", Record<string, number>> = {
  nanoseconds: {},
  allocations: {},
  bytes: {},
};

const rows = decisionRows().filter(({ name }) => values.row.length === 0 || values.row.some((t) => name.startsWith(t)));
process.stdout.write("| row | ns | allocations | bytes |\n| --- | --- | --- | --- |\n");
for (const [index, row] of rows.entries()) {
  process.stderr.write(`[${index + 1}/${rows.length}] ${row.name}\n`);
  const nanoseconds = measure(inSteadyState(release, row), baseOf(row));
  const { objects, bytes } = countAllocations(inSteadyState(instrumented, row));
  const isOver = row.isHappyPath === true && nanoseconds > BUDGET;
  if (isOver) process.exitCode = 1;
  process.stdout.write(
    `| ${row.name} | ${nanoseconds}${isOver ? ` (over ${BUDGET})` : ""} | ${objects} | ${bytes} |\n`,
  );
  result.nanoseconds[row.name] = nanoseconds;
  result.allocations[row.name] = objects;
  result.bytes[row.name] = bytes;
}
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(result, null, 2)}\n`);

function load(name: string): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(new URL(`../build/${name}`, import.meta.url)));
}

/** The requests that cost what the calls into the module cost, and no decision. */
function baseOf(row: DecisionRow): StubProxy {
  // A filter with a chain of its own has no request without settings: one of no role is left alone at once.
  const isOwn = row.answers.properties === undefined;
  const proxy = new StubProxy(release, isOwn ? undefined : row.configuration, isOwn ? "none" : row.role);
  proxy.answer(WITHOUT_SETTINGS);
  return proxy;
}

/** The median difference of batches that are run in turn, in nanoseconds per request. */
function measure(proxy: StubProxy, base: StubProxy): number {
  for (const each of [base, proxy]) batch(each, WARM_UP);
  const differences = Array.from({ length: BATCHES }, () => batch(proxy, BATCH) - batch(base, BATCH));
  return Math.round(median(differences));
}

function batch(proxy: StubProxy, requests: number): number {
  const start = process.hrtime.bigint();
  for (let i = 0; i < requests; i++) proxy.request();
  return Number(process.hrtime.bigint() - start) / requests;
}
