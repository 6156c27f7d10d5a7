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

const CLUSTER_NOT_FOUND = encode("cluster_not_found");

/** The clusters that the composites of this VM's routes list. */
export const candidates = new Candidates();

const prober = new Prober(candidates);
const poller = new Poller(candidates);
const value = new View();
let isPolling = false;

/** Reads the configuration of a downstream root context, which asks from now on. `me` tells this VM from the others. */
export function configureAvailability(host: Host, root: u32, configuration: View, me: u64): void {
  const problem = new Problem();
  const settings = readModuleSettings(configuration, problem);
  if (problem.exists) {
    host.increment(Counter.SETTINGS_ERROR);
    host.log(LogLevel.ERROR, "configuration: " + problem.toString());
  } else compileComposites(settings.compositeClusters, true, candidates);
  isPolling = !problem.exists && settings.availability == Availability.ADMIN;
  const interval = problem.exists ? 0 : settings.availabilityIntervalMs;
  poller.take(host, isPolling ? root : 0, interval, me);
  prober.take(host, isPolling ? 0 : root, interval);
}

export function onTick(host: Host, root: u32): void {
  if (isPolling) poller.tick(host, root);
  else prober.tick(host, root);
}

export function onCallResponse(host: Host, token: u32, headers: u32, bodySize: u32): void {
  if (isPolling) poller.answer(host, token, headers, bodySize);
  else prober.answer(host, token, headers, bodySize);
}

/**
 * Learns from a 503 on its way to the client: one that the proxy made itself because a cluster does not exist tells so sooner
 * than asking does. That a request found no host may hang on the request, and so says nothing about the cluster.
 */
export function learnFromUnavailable(host: Host): void {
  if (!host.property(RESPONSE_CODE_DETAILS, value)) return;
  const hasNone = value.equals(CLUSTER_NOT_FOUND);
  host.release(value);
  if (!hasNone || !host.property(CLUSTER_NAME, value)) return;
  const candidate = candidates.findWatched(value);
  host.release(value);
  if (candidate == null || candidate.state == HostState.NO_HOST) return;
  candidate.state = HostState.NO_HOST;
  host.increment(Counter.AVAILABILITY_SIGNAL);
}
