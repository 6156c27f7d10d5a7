// What is known about the clusters of composites: the module asks for it on a tick, never for a request.

import { View, encode } from "../bytes";
import { Candidates } from "../decide/candidates";
import { HostState } from "../decide/composite";
import { Host, LogLevel } from "../host/host";
import { Availability } from "../proto/attempt_router/v1/Availability";
import { compileComposites } from "../settings/composites";
import { readModuleSettings } from "../settings/module-settings";
import { Problem } from "../settings/problem";
import { Counter } from "../host/counters";
import { CLUSTER_NAME, RESPONSE_CODE_DETAILS } from "../host/names";
import { Poller } from "./poller";
import { Prober } from "./prober";
import { Watcher, Watchers } from "./watchers";

const CLUSTER_NOT_FOUND = encode("cluster_not_found");
const NO_HEALTHY_UPSTREAM = encode("no_healthy_upstream");
const NS_PER_MS: u64 = 1_000_000;
/** While no cluster is watched, this often it is looked whether one is; and whether the root context that asks is gone. */
const IDLE_INTERVAL_MS: u32 = 1000;
/** While a request waits for an answer. */
const HURRY_MS: u32 = 20;

/** The clusters that the composites of this VM's routes list. */
export const candidates = new Candidates();

const prober = new Prober(candidates);
const poller = new Poller(candidates);
const watchers = new Watchers();
const value = new View();
let isPolling = false;

/** Reads the configuration of a downstream root context, which asks from now on. `me` tells this VM from the others. */
export function configureAvailability(host: Host, root: u32, configuration: View, me: u64): void {
  const now = host.now() / NS_PER_MS;
  candidates.now = <u32>(now / 1000);
  const problem = new Problem();
  const settings = readModuleSettings(configuration, problem);
  if (problem.exists) {
    host.increment(Counter.SETTINGS_ERROR);
    host.log(LogLevel.ERROR, "configuration: " + problem.toString());
    settings.compositeClusters = [];
  }
  const composites = compileComposites(settings.compositeClusters, true, candidates);
  watchers.add(new Watcher(root, composites, now));
  isPolling = !problem.exists && settings.availability == Availability.ADMIN;
  const interval = problem.exists ? 0 : settings.availabilityIntervalMs;
  const period = isPolling ? poller.start(interval, me) : prober.start(interval);
  host.setTickPeriod(candidates.watched.length > 0 ? period : IDLE_INTERVAL_MS);
}

export function onTick(host: Host, root: u32): void {
  const now = host.now() / NS_PER_MS;
  const watcher = watchers.seen(root, now);
  if (watcher == null) {
    host.setTickPeriod(0);
    return;
  }
  candidates.use(watcher.composites);
  if (!watchers.asks(watcher, now)) {
    host.setTickPeriod(IDLE_INTERVAL_MS);
    return;
  }
  const next = isPolling ? poller.tick(host, now) : prober.tick(host, now);
  const period = candidates.watched.length > 0 ? next : IDLE_INTERVAL_MS;
  if (watcher.period != period) host.setTickPeriod(period);
  watcher.period = period;
}

export function onCallResponse(host: Host, token: u32, headers: u32, bodySize: u32): void {
  if (isPolling) poller.answer(host, token, headers, bodySize);
  else prober.answer(host, token, headers, bodySize);
}

/** A request needs to know what is not known, or may have changed. */
export function hurry(host: Host): void {
  const wasCalm = isPolling ? poller.pace.wake() : prober.pace.wake();
  if (!wasCalm) return;
  watchers.expectOtherPeriod();
  host.setTickPeriod(HURRY_MS);
}

/**
 * Learns from a 503 on its way to the client, one that the proxy made itself. That a cluster does not exist tells more, and
 * sooner, than asking does. That a request found no host may hang on the request, and so is a reason to ask, and no more.
 */
export function learnFromUnavailable(host: Host): void {
  if (!host.property(RESPONSE_CODE_DETAILS, value)) return;
  const isMissing = value.equals(CLUSTER_NOT_FOUND);
  const hasNone = isMissing || value.equals(NO_HEALTHY_UPSTREAM);
  host.release(value);
  if (!hasNone || !host.property(CLUSTER_NAME, value)) return;
  const candidate = candidates.findWatched(value);
  host.release(value);
  hurry(host);
  if (candidate == null) return;
  prober.urgent = candidate;
  if (!isMissing || candidate.state == HostState.NO_HOST) return;
  candidate.state = HostState.NO_HOST;
  host.increment(Counter.AVAILABILITY_SIGNAL);
}
