// Which processor runs what, so that client and upstream do not take turns with the Envoy that is measured.

import { availableParallelism } from "node:os";
import { execa } from "execa";
import { envoyPid } from "../../tools/envoy/threads.js";
import type { EnvoyProcess } from "../../tools/envoy/process.js";

/** Indices of processors; undefined where there is only one, or no taskset. */
export interface Cores {
  /** For the Envoys that are compared: one of them works at a time. */
  measured: number | undefined;
  /** For client and upstream. */
  rest: number | undefined;
}

export async function chooseCores(): Promise<Cores> {
  const { failed } = await execa("taskset", ["--version"], { reject: false });
  return failed || availableParallelism() < 2 ? { measured: undefined, rest: undefined } : { measured: 0, rest: 1 };
}

/** File and arguments of a command that runs on one processor. */
export function pinned(core: number | undefined, file: string, args: string[]): [string, string[]] {
  return core === undefined ? [file, args] : ["taskset", ["-c", String(core), file, ...args]];
}

/** Puts all threads of a running Envoy on one processor. */
export async function pin(envoy: EnvoyProcess, core: number | undefined): Promise<void> {
  if (core !== undefined) await execa("taskset", ["-a", "-c", "-p", String(core), String(envoyPid(envoy))]);
}
