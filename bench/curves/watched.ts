// What watching clusters for host availability costs: instructions of a tick, and of requests between two ticks.

import { setTimeout as pause } from "node:timers/promises";
import type { Admin } from "../../tools/envoy/admin.js";
import { unusedPort } from "../../tools/ports.js";
import { waitFor } from "../../tools/wait.js";
import { startUpstream, type FastUpstream } from "../load/upstream.js";
import { lowered } from "../scenarios.js";
import { clusterAt, proxy, route, type Bootstrap, type Cluster, type Form, type Json, type Route } from "./configs.js";
import { CountedEnvoy, type Counts } from "../counted-envoy.js";
import { send } from "../requests.js";

export type Mode = "PROBE" | "ADMIN";

const COMPOSITE = "type.googleapis.com/envoy.extensions.clusters.composite.v3.ClusterConfig";
const WIDTH = 4;
/** Milliseconds between two ticks: long enough for a tick under callgrind, or for requests between two. */
export const INTERVAL = { ticks: 3_000, requests: 8_000 };
const WARM_UP_TICKS = 5;
const COUNTED_TICKS = 3;
/** Few enough for the time between two ticks. */
const COUNTED_REQUESTS = 250;
/** Counting must begin early enough before the next tick. */
const LATEST_START = 0.8;
/** Answers to a tick at rest, the last one of a round excepted: clusters that are asked about, or calls of the admin interface. */
const ANSWERS = { PROBE: (watched: number) => Math.min(watched, 20), ADMIN: () => 1 };
const CLUSTER_OF = { PROBE: "attempt_router_probe", ADMIN: "attempt_router_admin" };

/** Path of a request that is served by the first of four watched clusters, and of one for whose cluster there is no host. */
export const SERVED = "/k0";
export const FAILING = "/broken";

/**
 * A bootstrap with `watched` clusters whose state matters, in composites of four and one that has no other behind it; and with
 * one composite of a cluster without hosts, which is not watched. `settings` are those of all routes.
 */
export function watchingProxy(watched: number, port: number, settings: Json, adminPort: number): Bootstrap {
  const names = namesOf(watched);
  const composites = [
    composite("broken", ["hostless"]),
    ...compositesOf(watched).map(({ name, list }) => composite(name, list)),
  ];
  const clusters = [...[...names, "stable"].map((name) => clusterAt(name, port)), clusterAt("hostless"), ...composites];
  const routes = composites.map(({ name }) => routeTo(name, settings));
  const address = { socket_address: { address: "127.0.0.1", port_value: adminPort } };
  return { ...proxy(routes, clusters), admin: { address } };
}

/** The composites of so many watched clusters, each with the names of its clusters. */
export function compositesOf(watched: number): { name: string; list: string[] }[] {
  const names = namesOf(watched);
  return Array.from({ length: Math.ceil(watched / WIDTH) }, (_, k) => {
    return { name: `k${k}`, list: [...names.slice(k * WIDTH, (k + 1) * WIDTH), "stable"] };
  });
}

function namesOf(watched: number): string[] {
  return Array.from({ length: watched }, (_, i) => `c${i}`);
}

function composite(name: string, clusters: string[]): Cluster {
  const typed_config = { "@type": COMPOSITE, clusters: clusters.map((inner) => ({ name: inner })) };
  return { name, lb_policy: "CLUSTER_PROVIDED", cluster_type: { name: "envoy.clusters.composite", typed_config } };
}

function routeTo(cluster: string, settings: Json): Route {
  return route(
    { cluster },
    { match: { path: `/${cluster}` }, metadata: { filter_metadata: { attempt_router: settings } } },
  );
}

/** An Envoy whose ticks can be counted. */
export class WatchingEnvoy {
  private constructor(
    private readonly envoy: CountedEnvoy,
    private readonly upstream: FastUpstream,
    private readonly watched: number,
    private readonly form: Form,
    private readonly mode: Mode,
    private readonly interval: number,
  ) {}

  static async start(
    watched: number,
    form: Form,
    mode: Mode,
    interval: number,
    paths: { binary: string; wasm: string },
  ) {
    const upstream = await startUpstream(undefined);
    const settings = { availability: mode, availability_interval_ms: interval };
    const native = JSON.stringify(watchingProxy(watched, upstream.ports.ok, settings, await unusedPort()));
    const config = form === "native" ? native : lowered(native, paths.wasm);
    return new WatchingEnvoy(await CountedEnvoy.start(paths.binary, config), upstream, watched, form, mode, interval);
  }

  async stop(): Promise<void> {
    await this.envoy.stop();
    await this.upstream.envoy.stop();
  }

  /** Instructions of one tick, its answers included. The last tick of a round asks less, and counts for less. */
  async countTick(): Promise<Counts> {
    // V8 compiles the code for ticks.
    await this.afterTicks(WARM_UP_TICKS);
    const { main, worker, answers } = await this.between(COUNTED_TICKS, async (started) => {
      await pause(started + (COUNTED_TICKS + 0.5) * this.interval - performance.now());
    });
    const ticks = answers / this.answersOfTick;
    return { main: main / ticks, worker: worker / ticks };
  }

  /** Instructions of the worker for one request, none of a tick. */
  async countRequest(path: string, status: number, warmUp: number): Promise<number> {
    const target = { port: this.envoy.port("bench"), path, status };
    await send(target, warmUp);
    // The module collects the garbage of its start now.
    if (this.form === "lowered") await this.afterTicks(1);
    const action = () => send(target, COUNTED_REQUESTS);
    const { worker } = await (this.form === "native" ? this.envoy.count(action) : this.between(0, action));
    return worker / COUNTED_REQUESTS;
  }

  /** Counts `action`, which starts right after a tick; repeats it until `ticks` ticks with all their answers fell into it. */
  private async between(ticks: number, action: (started: number) => Promise<void>) {
    for (let tries = 0; tries < 5; tries++) {
      const answered = await this.afterTicks(1);
      const started = performance.now();
      let delay = 0;
      const counts = await this.envoy.count(() => {
        delay = performance.now() - started;
        return action(started);
      });
      const answers = (await this.answered()) - answered;
      const isWhole = Math.ceil(answers / this.answersOfTick) === ticks;
      if (delay < LATEST_START * this.interval && isWhole) return { ...counts, answers };
      process.stderr.write(`again: ${answers} answers, counted after ${Math.round(delay)} ms\n`);
    }
    throw new Error("no stretch of time had the wanted number of ticks");
  }

  /** Waits for the end of the tick that is `count` ticks away, and returns how many answers there have been. */
  private async afterTicks(count: number): Promise<number> {
    const wanted = (await this.answered()) + count * this.answersOfTick;
    const probe = async () => {
      const answers = await this.answered();
      return answers >= wanted ? { answers } : undefined;
    };
    return (await waitFor(`${count} ticks`, probe, (count + 4) * 2 * this.interval)).answers;
  }

  private get answersOfTick(): number {
    return ANSWERS[this.mode](this.watched);
  }

  private async answered(): Promise<number> {
    return await answeredBy(this.envoy.admin, CLUSTER_OF[this.mode]);
  }
}

/** How many requests the only host of a cluster has answered with something other than a 5xx. */
async function answeredBy(admin: Admin, cluster: string): Promise<number> {
  const text = await admin.get(`/clusters?filter=%5E${cluster}%24`);
  return Number(/::rq_success::(\d+)/.exec(text)?.[1] ?? 0);
}
