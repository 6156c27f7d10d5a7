// Everything that is measured, task by task. A task measures some lines of a curve at one x at a time.

import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { stringify } from "yaml";
import { namespaceMetadata, WasmHost } from "../../cli/host/index.js";
import { startUpstream } from "../load/upstream.js";
import { lowered } from "../scenarios.js";
import { clusterAt, manyClusters, proxy, type Run } from "./configs.js";
import { CountedEnvoy } from "../counted-envoy.js";
import { numberedGroups, routesWithChains, RUNS } from "./per-request.js";
import { send } from "../requests.js";
import { measureCpu } from "./watched-cpu.js";
import { compositesOf, FAILING, INTERVAL, SERVED, WatchingEnvoy, type Mode } from "./watched.js";

/** What a task measures with. */
export interface Tools {
  /** Version of Envoy, and the path of its binary. */
  version: string;
  binary: string;
  /** Path of the module. */
  wasm: string;
  /** Requests that are counted for each point, and those before them: V8 has compiled the module's hot code by then. */
  requests: number;
  warmUp: number;
}

export interface Task {
  curve: string;
  lines: readonly string[];
  xs: readonly number[];
  measure: (x: number, tools: Tools) => Promise<Record<string, number>>;
}

const WATCHED_COUNTS = [1, 10, 100, 1_000, 5_000];
const ROUTE_COUNTS = [1, 10, 100, 1_000, 10_000];

export const TASKS: readonly Task[] = [
  ...RUNS.map((run) => ({ ...run, lines: Object.keys(run.paths), measure: measureRequests(run) })),
  ...(["native", "lowered"] as const).map((form) => ({
    curve: "watched-requests",
    lines: [`${form}, served`, `${form}, no host`],
    xs: WATCHED_COUNTS,
    measure: async (x: number, tools: Tools) => {
      const envoy = await WatchingEnvoy.start(x, form, "PROBE", INTERVAL.requests, tools);
      try {
        return {
          [`${form}, served`]: await envoy.countRequest(SERVED, 200, tools.warmUp),
          [`${form}, no host`]: await envoy.countRequest(FAILING, 503, tools.warmUp),
        };
      } finally {
        await envoy.stop();
      }
    },
  })),
  ...(["PROBE", "ADMIN"] as const).map((mode) => ({
    curve: "watched-tick",
    lines: [`${mode}, worker`, `${mode}, main thread`],
    xs: WATCHED_COUNTS,
    measure: (x: number, tools: Tools) => measureTick(x, mode, tools),
  })),
  ...(["PROBE", "ADMIN"] as const).map((mode) => ({
    curve: "watched-cpu",
    lines: [`${mode}, worker`, `${mode}, main thread`],
    xs: WATCHED_COUNTS,
    measure: async (x: number, { version, wasm }: Tools) => {
      const { worker, main } = await measureCpu(x, mode, version, wasm);
      return { [`${mode}, worker`]: worker, [`${mode}, main thread`]: main };
    },
  })),
  { curve: "lower", lines: ["input", "output", "memory", "seconds"], xs: ROUTE_COUNTS, measure: measureLower },
  { curve: "watched-start", lines: ["module"], xs: WATCHED_COUNTS, measure: measureConfiguration },
  { curve: "lower", lines: ["module"], xs: ROUTE_COUNTS, measure: measureModule },
];

/** Instructions of the worker for a request. */
function measureRequests(run: Run): Task["measure"] {
  return async (x, { binary, wasm, requests, warmUp }) => {
    const upstream = await startUpstream(undefined);
    const native = JSON.stringify(proxy(run.routes(x), manyClusters(upstream.ports.ok)));
    const envoy = await CountedEnvoy.start(binary, run.form === "native" ? native : lowered(native, wasm));
    const results: Record<string, number> = {};
    try {
      for (const [line, path] of Object.entries(run.paths)) {
        const target = { port: envoy.port("bench"), path: path(x), status: 200 };
        await send(target, Math.max(warmUp, (run.warmUpByX ?? 0) * x));
        const { worker } = await envoy.count(() => send(target, requests));
        results[line] = worker / requests;
      }
      return results;
    } finally {
      await envoy.stop();
      await upstream.envoy.stop();
    }
  };
}

/** Instructions of a tick in which clusters are asked about. */
async function measureTick(x: number, mode: Mode, tools: Tools): Promise<Record<string, number>> {
  const envoy = await WatchingEnvoy.start(x, "lowered", mode, INTERVAL.ticks, tools);
  try {
    const { worker, main } = await envoy.countTick();
    return { [`${mode}, worker`]: worker, [`${mode}, main thread`]: main };
  } finally {
    await envoy.stop();
  }
}

/** Bytes of the file before and after, greatest memory of the process in bytes, and seconds of CPU. */
async function measureLower(x: number, { wasm }: Tools): Promise<Record<string, number>> {
  const directory = await mkdtemp(join(tmpdir(), "attempt-router-curves-"));
  try {
    const file = join(directory, "native.yaml");
    await writeFile(
      file,
      stringify(
        proxy(
          routesWithChains(x),
          ["a1", "a2"].map((name) => clusterAt(name, 1)),
        ),
        { aliasDuplicateObjects: false },
      ),
    );
    const script = fileURLToPath(new URL("lower-once.ts", import.meta.url));
    const { stdout } = await execa("tsx", [script, file, wasm], { preferLocal: true });
    return JSON.parse(stdout) as Record<string, number>;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Bytes of the module's memory when it has seen a request on each of `x` routes, all with other chains. */
function measureModule(x: number, { wasm }: Tools): Promise<Record<string, number>> {
  const host = WasmHost.load(readFileSync(wasm));
  for (let i = 0; i < x; i++) {
    const priority_group = { priority_groups: numberedGroups(i).map((group) => ({ ...group })) };
    const routeMetadata = namespaceMetadata("attempt_router", { priority_group, slots: 2 });
    host.request({ routeName: `r@ar-${String(i + 1).padStart(32, "0")}`, routeMetadata }).end();
  }
  return Promise.resolve({ module: host.memorySize });
}

/** Milliseconds until a module that has to watch `x` clusters is loaded and configured, the best of three. */
function measureConfiguration(x: number, { wasm }: Tools): Promise<Record<string, number>> {
  const composite_clusters = compositesOf(x).map(({ name, list }) => ({
    name,
    clusters: list.map((inner) => ({ name: inner })),
  }));
  const configuration = namespaceMetadata("attempt_router", { composite_clusters });
  const times = Array.from({ length: 3 }, () => {
    const started = performance.now();
    WasmHost.load(readFileSync(wasm), { plugins: [{ name: "attempt_router", rootId: "downstream", configuration }] });
    return performance.now() - started;
  });
  return Promise.resolve({ module: Math.min(...times) });
}
