// `npm run bench:throughput -- [--pair TEXT]… [--rounds N] [--seconds S] [--rate R] [--connections N] [--json FILE]`:
// throughput and latency of two Envoys that take turns on one machine, pair by pair. Needs h2load. A round takes about
// nine times `--seconds`. Pairs are added to those that FILE has. Ends with 2 where it cannot start.

import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { envoyVersions } from "../tools/envoy/binary.js";
import { command, numberOption } from "./command.js";
import { UnusableInput } from "./figures.js";
import { chooseCores } from "./load/cores.js";
import { requireH2load } from "./load/h2load.js";
import { describeMachine } from "./load/machine.js";
import { startUpstream } from "./load/upstream.js";
import { Progress } from "./progress.js";
import { median } from "./numbers.js";
import { measureRound, type Figures, type Options, type Round } from "./throughput/measure.js";
import { allPairs, type Pair } from "./throughput/rows.js";
import { summarizeRatios, type RatioSummary } from "./throughput/statistics.js";

const WASM = fileURLToPath(new URL("../build/attempt-router.wasm", import.meta.url));
const METRICS = ["throughput", "cpu", "p50", "p90", "p99"] as const;
type Metric = (typeof METRICS)[number];
const HEAD = ["compared", "requests per second", "CPU per request", "p50", "p90", "p99"];
interface Result {
  /** Of the subject to the base. */
  ratios: Record<Metric, RatioSummary>;
  /** The medians over all rounds. */
  medians: { base: Figures; subject: Figures };
  rounds: Round[];
}

await command(main);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      pair: { type: "string", multiple: true, default: [] },
      rounds: { type: "string", default: "12" },
      seconds: { type: "string", default: "2" },
      rate: { type: "string", default: "2000" },
      connections: { type: "string", default: "64" },
      json: { type: "string" },
    },
  });
  const rounds = numberOption("rounds", values.rounds, 1);
  const h2load = await requireH2load();
  const { oracle: version } = await envoyVersions();
  const cores = await chooseCores();
  const options: Options = {
    ...{ version, cores, warmUp: 20_000 },
    seconds: numberOption("seconds", values.seconds, 0.1),
    rate: numberOption("rate", values.rate, 1),
    connections: numberOption("connections", values.connections, 1),
  };
  const upstream = await startUpstream(cores.rest);
  try {
    const results = await earlierResults(values.json);
    const peers = () => Promise.reject(new Error("no pair has a WebAssembly peer"));
    const pairs = await allPairs({ upstreams: upstream.ports, wasm: WASM, noop: peers, rust: peers });
    process.stdout.write(`| ${HEAD.join(" | ")} |\n|${" --- |".repeat(HEAD.length)}\n`);
    const chosen = pairs.filter((pair) => isWanted(pair, values.pair));
    if (chosen.length === 0) throw new UnusableInput(`no pair's name contains ${values.pair.join(" or ")}`);
    for (const [index, pair] of chosen.entries()) {
      const result = await measurePair(pair, options, rounds, [index + 1, chosen.length]);
      results[title(pair)] = result;
      process.stdout.write(tableRow(title(pair), result));
      const report = { machine: describeMachine(), envoy: version, h2load, options, results };
      if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(report, null, 2)}\n`);
    }
  } finally {
    await upstream.envoy.stop();
  }
}

/** What `file` holds, if there is one. */
async function earlierResults(file: string | undefined): Promise<Record<string, Result>> {
  if (file === undefined || !existsSync(file)) return {};
  return (JSON.parse(await readFile(file, "utf8")) as { results: Record<string, Result> }).results;
}

function isWanted(pair: Pair, wanted: string[]): boolean {
  return wanted.length === 0 || wanted.some((text) => title(pair).includes(text));
}

function title({ base, subject }: Pair): string {
  return `${subject.name} / ${base.name}`;
}

async function measurePair(pair: Pair, options: Options, count: number, place: [number, number]): Promise<Result> {
  const rounds: Round[] = [];
  const progress = new Progress();
  progress.start(...place, `${title(pair)}, ${count} rounds`);
  try {
    for (let i = 1; i <= count; i++) {
      progress.phase(`round ${i}`);
      rounds.push(await measureRound(pair, options));
    }
  } finally {
    progress.end();
  }
  const ratio = (metric: Metric) => summarizeRatios(rounds.map(({ base, subject }) => subject[metric] / base[metric]));
  const ratios = Object.fromEntries(METRICS.map((metric) => [metric, ratio(metric)])) as Result["ratios"];
  return { ratios, medians: { base: medianOf(rounds, "base"), subject: medianOf(rounds, "subject") }, rounds };
}

function medianOf(rounds: Round[], side: keyof Round): Figures {
  const names = Object.keys(rounds[0]?.[side] ?? {}) as (keyof Figures)[];
  const entries = names.map((name) => [name, median(rounds.map((round) => round[side][name]))]);
  return Object.fromEntries(entries) as Figures;
}

/** A ratio, its quartiles, and a star where it differs from 1 by more than noise. */
function tableRow(name: string, { ratios }: Result): string {
  const cells = METRICS.map((metric) => {
    const { median: ratio, quartiles, differs } = ratios[metric];
    return `${ratio.toFixed(3)}${differs ? "*" : ""} (${quartiles.map((q) => q.toFixed(3)).join("–")})`;
  });
  return `| ${[name, ...cells].join(" | ")} |\n`;
}
