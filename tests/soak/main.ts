// Composite clusters over many clusters whose hosts come and go, under load:
//   npm run soak [-- --seconds 300 --clusters 1000 --workers 2 --interval 50 --idle --native --admin]
// Each composite is four flapping clusters and one that always has a host. A request may only fail where one of its
// composite's clusters changed within the staleness window. `--idle` measures what asking costs, without load and flaps;
// `--admin` takes availability: ADMIN.

import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import { lower } from "../../cli/lower.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { ANY_PORT, EnvoyProcess } from "../../tools/envoy/process.js";
import { WASM } from "../support/lowering.js";
import { cpuByThread } from "../../tools/envoy/threads.js";
import { unusedPort } from "../../tools/ports.js";
import { Load } from "./load.js";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "300" },
    clusters: { type: "string", default: "1000" },
    workers: { type: "string", default: "2" },
    interval: { type: "string", default: "50" },
    idle: { type: "boolean", default: false },
    native: { type: "boolean", default: false },
    admin: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const clusterCount = Number(values.clusters);
const interval = Number(values.interval);
const WIDTH = 4;
const composites = Math.ceil(clusterCount / WIDTH);
/** A tick asks about 32 clusters; a change may come right after the question, and Envoy takes a moment to apply it. */
const ROUND_MS = Math.ceil(clusterCount / (values.admin ? 100 : 32)) * interval;
const WINDOW_MS = 1.25 * ROUND_MS + interval + 500;
const FLAP_MS = 200;
const FLAPS = Math.max(1, Math.round(clusterCount / 100));
const COMPOSITE = "type.googleapis.com/envoy.extensions.clusters.composite.v3.ClusterConfig";

const CLUSTER = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

const mode = { availability: values.admin ? "ADMIN" : "PROBE" };

type Json = Record<string, unknown>;

const directory = mkdtempSync(join(tmpdir(), "attempt-router-soak-"));
const file = join(directory, "clusters.json");
const load = await Load.start(composites);
const adminPort = values.admin ? await unusedPort() : 0;
/** When each cluster changed last, and whether it has a host. */
const changed = new Float64Array(clusterCount);
const up = Array.from({ length: clusterCount }, () => true);

try {
  writeClusters();
  const native = stringify(bootstrap(), { aliasDuplicateObjects: false });
  const text = values.native ? native : lower(native, { file: "soak.yaml", wasm: WASM }).text;
  const { oracle } = await envoyVersions();
  const envoy = await EnvoyProcess.start(oracle, text, ["--concurrency", values.workers]);
  try {
    await (values.idle ? measureIdle(envoy) : soak(envoy));
  } finally {
    await envoy.stop();
  }
} finally {
  await load.close();
  rmSync(directory, { recursive: true });
}

async function measureIdle(envoy: EnvoyProcess): Promise<void> {
  // Until nothing has changed for five seconds, at which asking slows down.
  await pause(ROUND_MS + 9000);
  const before = cpuByThread(envoy);
  const rounds = await envoy.admin.stat("wasmcustom.attempt_router.availability_rounds");
  await pause(seconds * 1000);
  const after = cpuByThread(envoy);
  const more = (await envoy.admin.stat("wasmcustom.attempt_router.availability_rounds")) - rounds;
  for (const [thread, ms] of after) {
    const share = (ms - (before.get(thread) ?? 0)) / (10 * seconds);
    if (/^(wrk|envoy)/.test(thread)) print(`${thread}: ${share.toFixed(2)} % of a core`);
  }
  print(`${clusterCount} clusters: ${(more / Number(values.workers) / seconds).toFixed(2)} rounds a second and worker`);
}

async function soak(envoy: EnvoyProcess): Promise<void> {
  if (!values.native) {
    const rounds = 2 * Number(values.workers) + 1;
    const isReady = (count: number) => count >= rounds;
    await envoy.admin.waitForStat("wasmcustom.attempt_router.availability_rounds", isReady, 60_000);
  }
  const memory = [await memoryMiB(envoy)];
  const end = Date.now() + seconds * 1000;
  const unexcused: string[] = [];
  const failures = { count: 0, other: 0 };
  const running = load.run(envoy.port("ingress"), end, (composite, status, body, startedAt) => {
    failures.count++;
    // An empty body is that of a cluster that does not exist.
    if (status !== 503 || !["no healthy upstream", ""].includes(body)) failures.other++;
    const first = composite * WIDTH;
    const times = Array.from(changed.subarray(first, first + WIDTH));
    if (times.some((time) => time > startedAt - WINDOW_MS)) return;
    unexcused.push(
      `composite ${composite}: ${status} ${body}, last change ${startedAt - Math.max(...times)} ms before`,
    );
  });
  let next = Date.now() + seconds * 250;
  while (Date.now() < end) {
    for (let i = 0; i < FLAPS; i++) flap(Math.floor(Math.random() * clusterCount));
    writeClusters();
    await pause(FLAP_MS);
    if (Date.now() < next) continue;
    memory.push(await memoryMiB(envoy));
    next += seconds * 250;
  }
  const requests = await running;
  memory.push(await memoryMiB(envoy));
  print(`${requests} requests, ${failures.count} failed (${failures.other} otherwise than by a missing host)`);
  print(`outside of the window of ${WINDOW_MS} ms: ${unexcused.length}`);
  print(`memory in MiB over time: ${memory.map((mib) => mib.toFixed(1)).join(", ")}`);
  for (const name of ["rounds", "unknown", "lost", "signal"]) {
    const count = await envoy.admin.stat(`wasmcustom.attempt_router.availability_${name}`);
    print(`availability_${name}: ${count}`);
  }
  for (const line of unexcused.slice(0, 10)) print(line);
  if (unexcused.length > 0 || failures.other > 0) process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function memoryMiB(envoy: EnvoyProcess): Promise<number> {
  return (await envoy.admin.stat("server.memory_allocated")) / 1024 / 1024;
}

function flap(index: number): void {
  up[index] = !up[index];
  changed[index] = Date.now();
}

/** Replaces the file of all clusters as a whole, which is what Envoy watches for. A cluster is hostless, or gone. */
function writeClusters(): void {
  const resources = Array.from({ length: clusterCount }, (_, index) => index)
    .filter((index) => up[index] === true || index % 2 === 0)
    .map((index) => ({ "@type": CLUSTER, ...staticCluster(`c${index}`, up[index] === true) }));
  writeFileSync(`${file}.new`, JSON.stringify({ resources }));
  renameSync(`${file}.new`, file);
}

function staticCluster(name: string, hasHost: boolean): Json {
  const lb_endpoints = [{ endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: load.port } } } }];
  const load_assignment = { cluster_name: name, endpoints: hasHost ? [{ lb_endpoints }] : [] };
  return { name, type: "STATIC", connect_timeout: "1s", load_assignment };
}

function bootstrap(): Json {
  const flapping = Array.from({ length: clusterCount }, (_, index) => ({ name: `c${index}` }));
  const lists = Array.from({ length: composites }, (_, k) => flapping.slice(k * WIDTH, (k + 1) * WIDTH));
  const definitions = lists.map((list, k) => ({
    name: `k${k}`,
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: {
      name: "envoy.clusters.composite",
      typed_config: { "@type": COMPOSITE, clusters: [...list.map(({ name }) => ({ name })), { name: "stable" }] },
    },
  }));
  const routes = definitions.map(({ name }) => ({
    match: { path: `/${name}` },
    metadata: { filter_metadata: { attempt_router: { availability_interval_ms: interval, ...mode } } },
    route: { cluster: name },
  }));
  const manager = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "ingress",
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes }] },
    http_filters: [
      {
        name: "router",
        typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
      },
    ],
  };
  const filters = [{ name: "manager", typed_config: manager }];
  return {
    node: { id: "soak", cluster: "soak" },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: adminPort } } },
    dynamic_resources: { cds_config: { resource_api_version: "V3", path_config_source: { path: file } } },
    static_resources: {
      listeners: [{ name: "ingress", address: ANY_PORT, filter_chains: [{ filters }] }],
      clusters: [staticCluster("stable", true), ...definitions],
    },
  };
}
