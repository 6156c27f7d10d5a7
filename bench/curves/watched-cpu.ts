import { setTimeout as pause } from "node:timers/promises";
import { cpuByThread } from "../../tools/envoy/threads.js";
import { EnvoyProcess } from "../../tools/envoy/process.js";
import { unusedPort } from "../../tools/ports.js";
import { startUpstream } from "../load/upstream.js";
import { lowered } from "../scenarios.js";
import { watchingProxy, type Mode } from "./watched.js";

/** Milliseconds between two ticks where the configuration says nothing, and clusters a tick asks about. */
const DEFAULTS = { PROBE: { interval: 50, clusters: 32 }, ADMIN: { interval: 250, clusters: 100 } };
const MEASURED_MS = 15_000;

/** CPU of the worker and of the main thread of an Envoy that only watches clusters, in percent of a core. */
export async function measureCpu(watched: number, mode: Mode, version: string, wasm: string) {
  const upstream = await startUpstream(undefined);
  const native = JSON.stringify(watchingProxy(watched, upstream.ports.ok, { availability: mode }, await unusedPort()));
  const envoy = await EnvoyProcess.start(version, lowered(native, wasm));
  try {
    const { interval, clusters } = DEFAULTS[mode];
    await pause(2 * Math.ceil(watched / clusters) * interval + 9_000);
    const [before, started] = [cpuByThread(envoy), performance.now()];
    await pause(MEASURED_MS);
    const elapsed = performance.now() - started;
    const percent = (name: RegExp) => {
      const thread = [...before.keys()].find((key) => name.test(key)) ?? "";
      return (100 * ((cpuByThread(envoy).get(thread) ?? 0) - (before.get(thread) ?? 0))) / elapsed;
    };
    return { worker: percent(/^wrk/), main: percent(/^envoy/) };
  } finally {
    await envoy.stop();
    await upstream.envoy.stop();
  }
}
