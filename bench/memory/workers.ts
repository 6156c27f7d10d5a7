// What a worker takes: an Envoy with a listener of so many chains, at one worker and at eight.

import { stringify } from "yaml";
import { ANY_PORT, EnvoyProcess } from "../../tools/envoy/process.js";
import { envoyPid } from "../../tools/envoy/threads.js";
import { load } from "../load/h2load.js";
import { median, sum } from "../numbers.js";
import { chainsListener, made, servingClusters, type Origin } from "./config.js";
import { readProcessMemory } from "./process-memory.js";

/** In bytes, the medians over the starts. */
export interface WorkerMemory {
  rss: number;
  own: number;
  /** Of all virtual machines together. */
  linear: number;
  vms: number;
}

const REQUESTS_PER_WORKER = 5_000;
const CONNECTIONS_PER_WORKER = 16;

/**
 * The memory of `starts` Envoys, each after a few thousand requests for every worker.
 * @param chains distinct weighted chains, a route each.
 */
export async function workerMemory(
  version: string,
  origin: Origin,
  chains: number,
  workers: number,
  starts: number,
): Promise<WorkerMemory> {
  const measured: WorkerMemory[] = [];
  for (let i = 0; i < starts; i++) measured.push(await measureOnce(version, origin, chains, workers));
  const of = (name: keyof WorkerMemory) => median(measured.map((one) => one[name]));
  return { rss: of("rss"), own: of("own"), linear: of("linear"), vms: of("vms") };
}

async function measureOnce(version: string, origin: Origin, chains: number, workers: number): Promise<WorkerMemory> {
  const envoy = await EnvoyProcess.start(version, bootstrap(origin, chains), ["--concurrency", String(workers)]);
  try {
    const paths = Array.from({ length: chains }, (_, i) => `/${i}`);
    const requests = REQUESTS_PER_WORKER * workers;
    const connections = CONNECTIONS_PER_WORKER * workers;
    const { statuses } = await load({ port: envoy.port("chains"), paths, requests, connections });
    if (statuses["2"] !== requests) throw new Error(`${requests} requests had ${JSON.stringify(statuses)}`);
    const { linear, ...process } = readProcessMemory(envoyPid(envoy));
    const vms = await envoy.admin.stat("wasm.wasm_vm_count");
    if (linear.length === 0 && vms > 0) throw new Error(`${vms} virtual machines, but no linear memory`);
    // The kernel shows reservations that lie side by side as one, so some are missing: the others stand for them.
    return { ...process, vms, linear: vms === 0 ? 0 : (sum(linear) / linear.length) * vms };
  } finally {
    await envoy.stop();
  }
}

function bootstrap(origin: Origin, chains: number): string {
  const balanced = { connection_balance_config: { exact_balance: {} } };
  const listeners = [{ ...chainsListener(chains), ...balanced }];
  const native = {
    admin: { address: ANY_PORT },
    static_resources: { listeners, clusters: servingClusters(origin.upstreams) },
  };
  return stringify(made(native, origin), { aliasDuplicateObjects: false });
}
