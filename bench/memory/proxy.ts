// An Envoy whose listeners, routes and clusters come from files, which can be replaced while it runs.

import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { ANY_PORT, EnvoyProcess } from "../../tools/envoy/process.js";
import { envoyPid } from "../../tools/envoy/threads.js";
import { sum } from "../numbers.js";
import { chainsListener, made, servingClusters, type Json, type Origin } from "./config.js";
import { CHAINS, resources, type Resources } from "./mix.js";
import { readProcessMemory } from "./process-memory.js";

/** In bytes. */
export interface Sample {
  /** Resident, and resident and nobody else's. */
  rss: number;
  own: number;
  /** The linear memories of all virtual machines. */
  linear: number;
  /** What Envoy's own allocator has given out. */
  allocated: number;
}

type Files = Pick<Resources, "listeners" | "routes">;

const LISTENERS = "listeners.json";
const ROUTES = "routes.json";
const SETTLE_TIMEOUT_MS = 30_000;
// What was replaced has to go before the next look at the memory.
const DRAIN_SOON = ["--drain-time-s", "1", "--drain-strategy", "immediate"];
const INTERNAL_LISTENERS = {
  name: "envoy.bootstrap.internal_listener",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.bootstrap.internal_listener.v3.InternalListener",
  },
};

export class ReloadableProxy {
  #vms = 0;

  private constructor(
    readonly envoy: EnvoyProcess,
    private readonly directory: string,
    private readonly origin: Origin,
  ) {}

  static async start(version: string, origin: Origin): Promise<ReloadableProxy> {
    const directory = await mkdtemp(join(tmpdir(), "attempt-router-memory-"));
    const { clusters, ...files } = resources(0, join(directory, ROUTES), origin);
    await writeFiles(directory, files);
    const bootstrap = bootstrapWith(clusters, join(directory, LISTENERS), origin);
    const envoy = await EnvoyProcess.start(version, bootstrap, DRAIN_SOON);
    const proxy = new ReloadableProxy(envoy, directory, origin);
    proxy.#vms = await envoy.admin.stat("wasm.wasm_vm_count");
    return proxy;
  }

  /** Replaces listeners and routes by those of `variant`, and waits until Envoy has taken both. */
  async reload(variant: number): Promise<void> {
    const { admin } = this.envoy;
    const counters = ["listener_manager.lds.update_success", "http.rds.rds.rds.update_success"];
    const before = await Promise.all(counters.map((counter) => admin.stat(counter)));
    const { listeners, routes } = resources(variant, join(this.directory, ROUTES), this.origin);
    await writeFiles(this.directory, { listeners, routes });
    const more = (index: number) => (value: number) => value > (before[index] ?? 0);
    await Promise.all(counters.map((counter, index) => admin.waitForStat(counter, more(index))));
  }

  /** The memory in use once what was replaced is gone, virtual machines included. */
  async sample(): Promise<Sample> {
    const { admin } = this.envoy;
    const draining = ["total_filter_chains_draining", "total_listeners_draining"];
    for (const gauge of draining)
      await admin.waitForStat(`listener_manager.${gauge}`, (value) => value === 0, SETTLE_TIMEOUT_MS);
    await admin.waitForStat("wasm.wasm_vm_count", (value) => value <= this.#vms, SETTLE_TIMEOUT_MS);
    const { allocated } = JSON.parse(await admin.get("/memory")) as { allocated: string };
    const { linear, ...process } = readProcessMemory(envoyPid(this.envoy));
    return { ...process, linear: sum(linear), allocated: Number(allocated) };
  }

  async stop(): Promise<void> {
    await this.envoy.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** The bootstrap of an Envoy with these clusters, and with listeners of its own and from a file. */
function bootstrapWith(clusters: Json[], listenersFile: string, origin: Origin): string {
  const native = {
    node: { id: "memory", cluster: "memory" },
    admin: { address: ANY_PORT },
    bootstrap_extensions: [INTERNAL_LISTENERS],
    dynamic_resources: {
      lds_config: { resource_api_version: "V3", path_config_source: { path: listenersFile } },
    },
    static_resources: { listeners: [chainsListener(CHAINS)], clusters: servingClusters(origin.upstreams) },
  };
  const { static_resources, ...rest } = made(native, origin);
  const known = static_resources.clusters.map(({ name }) => name);
  const others = clusters.filter(({ name }) => !known.includes(name));
  const all = { ...static_resources, clusters: [...static_resources.clusters, ...others] };
  return stringify({ ...rest, static_resources: all }, { aliasDuplicateObjects: false });
}

// By renaming, which is what Envoy watches for.
async function writeFiles(directory: string, { listeners, routes }: Files): Promise<void> {
  for (const [name, resources] of Object.entries({ [ROUTES]: routes, [LISTENERS]: listeners })) {
    const path = join(directory, name);
    await writeFile(`${path}.new`, JSON.stringify({ resources }));
    await rename(`${path}.new`, path);
  }
}
