// Many chains, in worlds, on every version, and what was found made small.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../../cli/findings.js";
import { envoyVersions } from "../../../tools/envoy/binary.js";
import type { Config } from "../../support/case.js";
import type { Upstreams } from "../../support/upstreams.js";
import { shrink } from "../shrink.js";
import { generateWorld, type World } from "./generate.js";
import { acceptedWorld, runWorld, startUpstreams, type Difference } from "./world.js";

export interface Report {
  chains: number;
  /** On all versions together. */
  requests: number;
  /** Specifiers that `lower` refused and that were left out, by the reason. */
  refused: Record<string, number>;
  failures: { seed: number; version: string; found: Difference; file?: string }[];
}

export interface RunOptions {
  chains: number;
  seed: number;
  /** Where small forms of what differs are written; nowhere where it is not given. */
  folder?: string;
  onProgress?: (report: Report) => void;
}

/** Runs of Envoy that one failure may take to become small, and failures that are made small. */
const SHRINK_TRIES = 150;
const SHRUNK = 5;

/** Runs worlds of the seeds `seed`, `seed` + 1 and so on until there were that many chains. */
export async function runChains(options: RunOptions): Promise<Report> {
  const report: Report = { chains: 0, requests: 0, refused: {}, failures: [] };
  const { versions } = await envoyVersions();
  const upstreams = await startUpstreams();
  try {
    for (let seed = options.seed; report.chains < options.chains; seed++) {
      await runSeed(seed, versions, upstreams, options, report);
      options.onProgress?.(report);
    }
  } finally {
    await upstreams.close();
  }
  return report;
}

async function runSeed(
  seed: number,
  versions: readonly string[],
  upstreams: Upstreams,
  { folder }: RunOptions,
  report: Report,
): Promise<void> {
  const count = (message: string): void => void (report.refused[message] = (report.refused[message] ?? 0) + 1);
  const [world, config] = acceptedWorld(generateWorld(seed), upstreams, count);
  report.chains += world.chains;
  for (const version of versions) {
    const found = await runWorld(world, config, version, upstreams);
    report.requests += world.requests.length;
    for (const one of found) {
      const isShrunk = folder !== undefined && report.failures.length < SHRUNK;
      const file = isShrunk
        ? await written(world, one, version, upstreams, join(folder, `${seed}-${version}`))
        : undefined;
      report.failures.push({ seed, version, found: one, ...(file !== undefined && { file }) });
    }
  }
}

async function written(
  world: World,
  { request }: Difference,
  version: string,
  upstreams: Upstreams,
  name: string,
): Promise<string> {
  const requests = [{ ...request, listener: 0 }];
  const differs = async (config: Config) =>
    (await differences({ configs: [config], requests, chains: 1 }, version, upstreams)).length > 0;
  const config = await shrink(world.configs[request.listener] ?? {}, differs, SHRINK_TRIES);
  const [found] = await differences({ configs: [config], requests, chains: 1 }, version, upstreams);
  const file = `${name}-${world.requests.indexOf(request)}.json`;
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ config, ...found }, null, 1)}\n`);
  return file;
}

/** Nothing where the configuration is no legal one. */
async function differences(world: World, version: string, upstreams: Upstreams): Promise<Difference[]> {
  try {
    const refuse = (message: string): never => {
      throw new InputError([{ file: "", line: 0, col: 0, path: "", message }]);
    };
    return await runWorld(world, acceptedWorld(world, upstreams, refuse)[1], version, upstreams);
  } catch {
    // Refused, or of a form that the generator does not write and the model does not know.
    return [];
  }
}
