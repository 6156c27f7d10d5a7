// What is measured, part by part, and the tables that it makes.

import { Progress } from "../progress.js";
import type { Origin } from "./config.js";
import { flatness } from "./flatness.js";
import { LEGS, manyRequests, type ManyRequests, type ManyRequestsOptions } from "./many-requests.js";
import type { Sample } from "./proxy.js";
import { workerMemory, type WorkerMemory } from "./workers.js";

const MIB = 2 ** 20;
const MANY = 8;
/** Half a byte for each of a million requests: what an allocator keeps or gives back. */
const ALLOCATORS_SHARE = 2 ** 19;

interface Column {
  of: (sample: Sample) => number;
  /** What a growth must exceed, in bytes. */
  resolution: number;
}

const COLUMNS: Record<string, Column> = {
  // A page of WebAssembly.
  "linear memories": { of: ({ linear }) => linear, resolution: 2 ** 16 },
  "resident set": { of: ({ rss }) => rss, resolution: ALLOCATORS_SHARE },
  "allocated by Envoy": { of: ({ allocated }) => allocated, resolution: ALLOCATORS_SHARE },
};
const CHAIN_COUNTS = [1, 16, 17];

/** Of a run over many requests: the samples in KiB, column by column, to be drawn. */
export interface Series extends Omit<ManyRequests, "samples"> {
  kib: Record<string, number[]>;
}

export interface Report {
  machine: object;
  envoy: string;
  requests: Record<string, Series>;
  /** By what is configured, then by the number of workers. */
  workers: Record<string, ByWorkers>;
}

type Origins = Record<"native" | "lowered", Origin>;

/** Measures into a report, and prints. */
export class MemoryBench {
  constructor(
    private readonly report: Report,
    private readonly origins: Origins,
  ) {}

  /** Sets the exit code where memory has grown. `reloadEvery`: see ManyRequestsOptions. */
  async overRequests(requests: number, reloadEvery: number): Promise<void> {
    const suffix = reloadEvery > 0 ? ", updated" : "";
    print("series", "memory", "first tenth", "last tenth", "growth", "tolerated");
    print(...Array.from({ length: 6 }, () => "---"));
    const measured = async (name: keyof Origins) => {
      const options = { ...this.origins[name], version: this.report.envoy, requests, reloadEvery };
      const result = await withProgress(`${name}${suffix}: ${requests} requests`, options);
      this.report.requests[`${name}${suffix}`] = seriesOf(result);
      return result;
    };
    const native = await measured("native");
    printGrowth(`native${suffix}`, native, undefined);
    printGrowth(`lowered${suffix}`, await measured("lowered"), native);
  }

  async perWorker(starts: number): Promise<void> {
    const progress = new Progress();
    print("configuration", "machines", "resident", "per worker", "more than native", "linear memories per worker");
    print(...Array.from({ length: 6 }, () => "---"));
    for (const [index, chains] of CHAIN_COUNTS.entries()) {
      const name = `${chains} ${chains === 1 ? "chain" : "chains"}`;
      progress.start(index + 1, CHAIN_COUNTS.length, `${name}, native and lowered, 1 and ${MANY} workers`);
      const measured = async (origin: Origin) => {
        const of = (workers: number) => workerMemory(this.report.envoy, origin, chains, workers, starts);
        return { 1: await of(1), [MANY]: await of(MANY) };
      };
      const [native, lowered] = [await measured(this.origins.native), await measured(this.origins.lowered)];
      progress.end();
      printWorkers(`native, ${name}`, native, 0);
      printWorkers(`lowered, ${name}`, lowered, each(native, "rss"));
      Object.assign(this.report.workers, { [`native, ${name}`]: native, [`lowered, ${name}`]: lowered });
    }
  }
}

async function withProgress(name: string, options: ManyRequestsOptions): Promise<ManyRequests> {
  const progress = new Progress();
  progress.start(1, 1, name);
  try {
    return await manyRequests(options, (leg) => progress.phase(`leg ${leg} of ${LEGS}`));
  } finally {
    progress.end();
  }
}

function seriesOf({ samples, ...run }: ManyRequests): Series {
  const columns = Object.entries(COLUMNS).map(([name, { of }]) => [name, samples.map((sample) => of(sample) / 1024)]);
  return { ...run, kib: Object.fromEntries(columns) as Series["kib"] };
}

/** @param baseline the native series; without one nothing is held against the series. */
function printGrowth(name: string, { samples }: ManyRequests, baseline: ManyRequests | undefined): void {
  for (const [memory, { of, resolution }] of Object.entries(COLUMNS)) {
    const { first, last, tolerance, flat } = flatness(samples.map(of), resolution, baseline?.samples.map(of));
    const verdict = baseline === undefined ? "" : `${mib(tolerance, 2)}${flat ? "" : " GROWN"}`;
    print(name, memory, mib(first, 2), mib(last, 2), mib(last - first, 2), verdict);
    if (baseline !== undefined && !flat) process.exitCode = 1;
  }
}

export type ByWorkers = Record<number, WorkerMemory>;

function printWorkers(name: string, measured: ByWorkers, nativeEach: number): void {
  const [one, many] = [measured[1] as WorkerMemory, measured[MANY] as WorkerMemory];
  const more = nativeEach === 0 ? "" : mib(each(measured, "rss") - nativeEach, 2);
  const both = (write: (memory: WorkerMemory) => string) => `${write(one)}, ${write(many)}`;
  const cells = [both(({ vms }) => String(vms)), both(({ rss }) => mib(rss)), mib(each(measured, "rss"), 2), more];
  print(name, ...cells, mib(each(measured, "linear"), 2));
}

/** What one worker more takes. */
function each(measured: ByWorkers, of: keyof WorkerMemory): number {
  return ((measured[MANY]?.[of] ?? NaN) - (measured[1]?.[of] ?? NaN)) / (MANY - 1);
}

function mib(bytes: number, digits = 1): string {
  return `${(bytes / MIB).toFixed(digits)} MiB`;
}

function print(...cells: string[]): void {
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}
