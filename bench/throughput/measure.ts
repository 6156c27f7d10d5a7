// One round: two fresh Envoys that run at the same time and take turns under load, in the order A B B A, so that what
// drifts on the machine hits both.

import { EnvoyProcess } from "../../tools/envoy/process.js";
import { cpuByThread } from "../../tools/envoy/threads.js";
import { pin, type Cores } from "../load/cores.js";
import { load, type Load } from "../load/h2load.js";
import type { Pair, Side } from "./rows.js";
import { quantile, sum } from "../numbers.js";

export interface Options {
  version: string;
  cores: Cores;
  /** How long a turn takes, about. */
  seconds: number;
  /** Connections at full speed. */
  connections: number;
  /** Requests per second while latency is measured. */
  rate: number;
  warmUp: number;
}

/** Of one side in one round. Times in microseconds. */
export interface Figures {
  /** Requests per second at full speed. */
  throughput: number;
  /** CPU time of the worker per request, at full speed. */
  cpu: number;
  /** The share of the time, at full speed, in which the worker ran: below 1 something else was the bottleneck. */
  busy: number;
  p50: number;
  p90: number;
  p99: number;
}

export interface Round {
  base: Figures;
  subject: Figures;
}

const LATENCY_CONNECTIONS = 4;
/** Chance alone moves the share of a weighted cluster by more than this many standard deviations in no run of ours. */
const DEVIATIONS = 6;

/** @throws Error where a request was not answered with 200 or went elsewhere than expected. */
export async function measureRound(pair: Pair, options: Options): Promise<Round> {
  const contenders: Contender[] = [];
  try {
    for (const side of [pair.base, pair.subject]) contenders.push(await Contender.start(side, options));
    const [base, subject] = contenders as [Contender, Contender];
    const rates = [await base.fullSpeed(options.warmUp), await subject.fullSpeed(options.warmUp)];
    const requests = Math.round(
      Math.min(...rates.map(({ answered, seconds }) => answered / seconds)) * options.seconds,
    );
    for (const contender of [base, subject, subject, base]) contender.turns.push(await contender.fullSpeed(requests));
    for (const contender of [base, subject, subject, base]) contender.latencies.push(...(await contender.paced()));
    return { base: base.figures(), subject: subject.figures() };
  } finally {
    for (const contender of contenders) await contender.stop();
  }
}

interface Turn extends Load {
  /** CPU time of the worker, in milliseconds. */
  cpuMs: number;
}

class Contender {
  readonly turns: Turn[] = [];
  readonly latencies: number[] = [];

  private constructor(
    private readonly side: Side,
    private readonly options: Options,
    private readonly envoy: EnvoyProcess,
  ) {}

  static async start(side: Side, options: Options): Promise<Contender> {
    const envoy = await EnvoyProcess.start(options.version, side.config);
    const contender = new Contender(side, options, envoy);
    await pin(envoy, options.cores.measured);
    // Composite clusters: every worker asks which clusters have a host, and knows after the first answers.
    if (side.config.includes("attempt_router_probe"))
      await envoy.admin.waitForStat("wasmcustom.attempt_router.availability_rounds", (rounds) => rounds >= 4);
    return contender;
  }

  async stop(): Promise<void> {
    await this.envoy.stop();
  }

  /** As many requests as it serves. */
  async fullSpeed(requests: number): Promise<Turn> {
    const before = this.workerMs();
    const turn = await this.checked(requests, this.options.connections);
    return { ...turn, cpuMs: this.workerMs() - before };
  }

  /** The latencies of requests at the fixed rate. */
  async paced(): Promise<number[]> {
    const { rate, seconds } = this.options;
    const requests = Math.round(rate * seconds);
    return (await this.checked(requests, LATENCY_CONNECTIONS, rate)).latencies;
  }

  figures(): Figures {
    const total = (of: (turn: Turn) => number) => sum(this.turns.map(of));
    const [requests, seconds, cpuMs] = [
      total((turn) => turn.answered),
      total((turn) => turn.seconds),
      total((t) => t.cpuMs),
    ];
    const at = (q: number) => quantile(this.latencies, q);
    return {
      throughput: requests / seconds,
      cpu: (cpuMs * 1000) / requests,
      busy: cpuMs / 1000 / seconds,
      ...{ p50: at(0.5), p90: at(0.9), p99: at(0.99) },
    };
  }

  private async checked(requests: number, connections: number, rate?: number): Promise<Load> {
    const before = await this.upstreamRequests();
    const pace = rate === undefined ? {} : { rate };
    const { path } = this.side;
    const target = { port: this.envoy.port("bench"), paths: [path], core: this.options.cores.rest };
    const result = await load({ ...target, requests, connections, ...pace });
    if (result.unanswered > 0 || result.statuses["2"] !== requests)
      throw new Error(`${this.side.name}: ${JSON.stringify({ requests, ...result, latencies: undefined })}`);
    this.checkShares(before, await this.upstreamRequests(), requests);
    return result;
  }

  private checkShares(before: Map<string, number>, after: Map<string, number>, requests: number): void {
    for (const [cluster, count] of after) {
      const got = count - (before.get(cluster) ?? 0);
      const share = this.side.shares[cluster] ?? 0;
      const tolerance = DEVIATIONS * Math.sqrt(requests * share * (1 - Math.min(share, 1)));
      if (Math.abs(got - share * requests) > tolerance)
        throw new Error(`${this.side.name}: ${got} of ${requests} requests went to cluster ${cluster}`);
    }
  }

  private async upstreamRequests(): Promise<Map<string, number>> {
    const text = await this.envoy.admin.get("/stats?filter=^cluster\\.[a-c][12]?\\.upstream_rq_total$");
    return new Map(
      [...text.matchAll(/^cluster\.(\w+)\.upstream_rq_total: (\d+)$/gm)].map(([, c = "", n]) => [c, Number(n)]),
    );
  }

  private workerMs(): number {
    return cpuByThread(this.envoy).get("wrk:worker_0") ?? 0;
  }
}
