// `npm run bench:decisions -- [--json FILE]`: nanoseconds per request in the module, under Node's V8 with the emulated
// proxy. The figures hold what the emulation costs, so a row without settings is taken off the others.

import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import type { JsonObject } from "@bufbuild/protobuf";
import { namespaceMetadata, WasmHost, type RequestSpec } from "../cli/host/index.js";
import { bootstrap, FAILS, HOLDS, lowered, timeoutOverrides } from "./scenarios.js";

const WASM = new URL("../build/attempt-router.wasm", import.meta.url).pathname;
const BATCH = 2_000;
const BATCHES = 25;
const WARM_UP = 20_000;

const { values } = parseArgs({ options: { json: { type: "string" } } });
const host = WasmHost.load(WASM);
const results: Record<string, number> = {};
const base = measure({ routeName: "plain" });
const entries = Object.entries(rows());
for (const [index, [name, spec]] of entries.entries()) {
  process.stderr.write(`[${index + 1}/${entries.length}] ${name}\n`);
  results[name] = Math.round(measure(spec) - base);
  process.stdout.write(`| ${name} | ${results[name]} |\n`);
}
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify({ nanoseconds: results }, null, 2)}\n`);

function rows(): Record<string, RequestSpec> {
  const chain = (clusters: number) => ({
    priority_group: {
      priority_groups: [group("g1", clusters), group("g2", 1), group("g3", 1)],
      header_name: "x-pick",
    },
    slots: 3,
  });
  return {
    "single clusters": onRoute("1", chain(1)),
    "two clusters, the default picked": onRoute("2", chain(2), { "x-pick": "0" }),
    "two clusters, the other picked": onRoute("3", chain(2), { "x-pick": "1" }),
    "ten specifiers that fail": specified(FAILS),
    "ten specifiers that hold": specified(HOLDS),
  };
}

function group(name: string, clusters: number) {
  return { name, clusters: Array.from({ length: clusters }, (_, i) => ({ cluster_name: `c${i}`, weight: 1 })) };
}

/** The route that `lower` makes of one with ten specifiers. */
function specified(when: object): RequestSpec {
  const config = bootstrap({ cluster: "a1" }, { ok: 1, failing: 1 }, "", [], timeoutOverrides(10, { ...when }));
  const routes = at(parse(lowered(config, WASM)), [
    ...["static_resources", "listeners", 0, "filter_chains", 0, "filters", 0],
    ...["typed_config", "route_config", "virtual_hosts", 0, "routes"],
  ]) as { name: string; metadata: { filter_metadata: { attempt_router: JsonObject } } }[];
  const route = routes[routes.length - 1];
  if (route === undefined) throw new Error("the lowered configuration has routes");
  const routeMetadata = namespaceMetadata("attempt_router", route.metadata.filter_metadata.attempt_router);
  return { routeName: route.name, routeMetadata };
}

function at(value: unknown, path: (string | number)[]): unknown {
  return path.reduce((inner, key) => (inner as Record<string | number, unknown>)[key], value);
}

function onRoute(id: string, settings: JsonObject, headers: Record<string, string> = {}): RequestSpec {
  const name = `r@ar-${id.padStart(16, "0")}`;
  return { routeName: name, routeMetadata: namespaceMetadata("attempt_router", settings), headers };
}

/** The median batch, in nanoseconds per request. */
function measure(spec: RequestSpec): number {
  for (let i = 0; i < WARM_UP; i++) host.request(spec).end();
  const batches = Array.from({ length: BATCHES }, () => {
    const started = process.hrtime.bigint();
    for (let i = 0; i < BATCH; i++) host.request(spec).end();
    return Number(process.hrtime.bigint() - started) / BATCH;
  });
  const sorted = batches.sort((a, b) => a - b);
  return sorted[BATCHES >> 1] ?? 0;
}
