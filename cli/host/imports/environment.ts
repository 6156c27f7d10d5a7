import type { LogLevel, WasmResult } from "../abi.js";
import type { Context, RootContext } from "../contexts.js";
import type { HttpCallRequest } from "../http-calls.js";
import type { Metrics } from "../metrics.js";
import type { SharedData } from "../shared-data.js";
import type { SeededRandom } from "../random.js";
import type { Vm } from "../vm.js";

export type ForeignFunction = (argument: Uint8Array, context: Context) => WasmResult;

/** What the host functions need of the host. */
export interface HostEnvironment {
  vm: Vm;
  vmId: string;
  vmConfiguration: Uint8Array;
  metrics: Metrics;
  sharedData: SharedData;
  random: SeededRandom;
  foreignFunctions: Readonly<Record<string, ForeignFunction>>;
  log(level: LogLevel, message: string): void;
  logLevel(): LogLevel;
  /** Nanoseconds since the epoch. */
  now(): bigint;
  /** False when that root context has no on_done pending. */
  rootDone(root: RootContext): boolean;
  /** A token, or the code of an inline failure. */
  httpCall(root: RootContext, request: HttpCallRequest): { token: number } | WasmResult;
}
