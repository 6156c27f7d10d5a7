// Memory over many requests: legs of equal length, routes and listeners replaced in the middle of some, and a look at
// the memory after each, when nothing is in flight.

import { load } from "../load/h2load.js";
import type { Origin } from "./config.js";
import { PROFILES, type Profile } from "./mix.js";
import { ReloadableProxy, type Sample } from "./proxy.js";

export interface ManyRequestsOptions extends Origin {
  version: string;
  /** Over all legs, without the warm-up. */
  requests: number;
  /** Every so many legs listeners and routes are replaced; 0 is never. */
  reloadEvery: number;
}

export interface ManyRequests {
  /** After each leg. */
  samples: Sample[];
  requestsPerLeg: number;
  reloads: number;
  /** Per second, over the whole run. */
  rate: number;
}

export const LEGS = 100;
const WARM_UP_LEGS = 10;
/** Configurations that take turns. */
const VARIANTS = 4;

/**
 * @param progress is told the number of the leg that begins, from 1 to LEGS.
 * @throws Error where a request got another status than its profile says, or what was replaced does not go away.
 */
export async function manyRequests(
  options: ManyRequestsOptions,
  progress: (leg: number) => void,
): Promise<ManyRequests> {
  const proxy = await ReloadableProxy.start(options.version, options);
  try {
    const run = { proxy, options, reloads: 0 };
    // Every configuration has been there, and lazily made things are made.
    for (let i = 1; i <= WARM_UP_LEGS; i++) await leg(run, options.reloadEvery > 0);
    run.reloads = 0;
    return await allLegs(run, progress);
  } finally {
    await proxy.stop();
  }
}

interface Run {
  proxy: ReloadableProxy;
  options: ManyRequestsOptions;
  reloads: number;
}

async function allLegs(run: Run, progress: (leg: number) => void): Promise<ManyRequests> {
  const { proxy, options } = run;
  const samples: Sample[] = [];
  const started = performance.now();
  for (let i = 1; i <= LEGS; i++) {
    progress(i);
    await leg(run, options.reloadEvery > 0 && i % options.reloadEvery === 0);
    samples.push(await proxy.sample());
  }
  const requestsPerLeg = PROFILES.reduce((sum, profile) => sum + requestsOf(profile, options), 0);
  const rate = (LEGS * requestsPerLeg * 1000) / (performance.now() - started);
  return { samples, requestsPerLeg, reloads: run.reloads, rate };
}

async function leg(run: Run, isReloaded: boolean): Promise<void> {
  const { proxy, options } = run;
  const running = PROFILES.map((profile) => send(proxy, profile, requestsOf(profile, options)));
  const reload = isReloaded ? proxy.reload(++run.reloads % VARIANTS) : undefined;
  await Promise.all([...running, reload]);
}

function requestsOf({ share }: Profile, { requests }: ManyRequestsOptions): number {
  return Math.round((share * requests) / LEGS);
}

async function send(proxy: ReloadableProxy, profile: Profile, requests: number): Promise<void> {
  const { statuses, unanswered } = await load({ ...profile, port: proxy.envoy.port(profile.listener), requests });
  if (statuses[profile.status] !== requests || unanswered > 0)
    throw new Error(`${profile.name}: of ${requests} requests ${unanswered} unanswered, ${JSON.stringify(statuses)}`);
}
