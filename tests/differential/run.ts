// Many random configurations, with what was found written down as case files.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Case } from "../support/case.js";
import { compare, type Failure, type Verdict } from "./compare.js";
import { generate } from "./generate.js";
import { shrink } from "./shrink.js";

/** How often each verdict was given, and the failures. */
export interface Report {
  configs: number;
  requests: number;
  counts: Record<Verdict["kind"], number>;
  /** Why `lower` refused, or native Envoy did, with how often. */
  reasons: Record<string, number>;
  failures: { seed: number; file: string | undefined; because: string }[];
}

export interface RunOptions {
  configs: number;
  seed: number;
  /** Where failing cases are written, smaller than they were found; nowhere where it is not given. */
  folder?: string;
  onProgress?: (done: number, report: Report) => void;
}

/** Two Envoys at a time keep two cores busy. */
const CONCURRENT = 2;
/** Runs of Envoy that one failure may take to become small. */
const SHRINK_TRIES = 200;

/** Compares configurations of the seeds `seed`, `seed` + 1 and so on. */
export async function runConfigs(options: RunOptions): Promise<Report> {
  const report: Report = {
    configs: 0,
    requests: 0,
    counts: { equal: 0, illegal: 0, refused: 0, crashed: 0, different: 0 },
    reasons: {},
    failures: [],
  };
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < options.configs) {
      const seed = options.seed + next++;
      await runOne(seed, options, report);
      options.onProgress?.(report.configs, report);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
  return report;
}

async function runOne(seed: number, { folder }: RunOptions, report: Report): Promise<void> {
  const test = generate(seed);
  const verdict = await compare(test);
  report.configs += 1;
  report.counts[verdict.kind] += 1;
  switch (verdict.kind) {
    case "equal":
      report.requests += verdict.requests;
      return;
    case "illegal":
    case "refused": {
      const reason = `${verdict.kind}: ${general(verdict.because)}`;
      report.reasons[reason] = (report.reasons[reason] ?? 0) + 1;
      return;
    }
    default: {
      const file = folder === undefined ? undefined : await written(test, verdict, folder);
      report.failures.push({ seed, file, because: `${verdict.kind} on ${verdict.version}: ${verdict.because}` });
    }
  }
}

/** A reason without what is different in each configuration. */
function general(because: string): string {
  return because
    .slice(0, 300)
    .replace(/seed-\d+\.yaml:\d+:\d+: /, "")
    .replace(/\[\d+\]/g, "[]")
    .replace(/"[^"]*"/g, "…");
}

async function written(test: Case, verdict: Failure, folder: string): Promise<string> {
  const small = await shrink(
    test,
    async (smaller) => {
      const found = await compare(smaller, verdict.version).catch(() => undefined);
      return found?.kind === verdict.kind;
    },
    SHRINK_TRIES,
  );
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${test.name}.yaml`);
  const content = Object.fromEntries(Object.entries(small).filter(([key]) => key !== "file"));
  const comment = `${verdict.kind} on ${verdict.version}: ${verdict.because}`.replace(/^/gm, "# ");
  writeFileSync(file, `${comment}\n${stringify(content, { aliasDuplicateObjects: false, lineWidth: 120 })}`);
  return file;
}
