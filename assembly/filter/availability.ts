// What is known about the clusters of composites: the module asks for it on a tick, never for a request.

import { View, encode } from "../bytes";
import { HostState } from "../decide/composite";
import { Host, LogLevel } from "../host/host";
import { compileComposites } from "../settings/composites";
import { readModuleSettings } from "../settings/module-settings";
import { Problem } from "../settings/problem";
import { Counter } from "./counters";
import { CLUSTER_NAME, RESPONSE_CODE_DETAILS } from "./names";
import { Prober } from "./prober";
import { candidates } from "./route-plan";

const UNAVAILABLE = encode("503");
const NO_HEALTHY_UPSTREAM = encode("no_healthy_upstream");
const CLUSTER_NOT_FOUND = encode("cluster_not_found");

const prober = new Prober(candidates);
const value = new View();

/** Reads the configuration of a downstream root context, which asks from now on. */
export function configureAvailability(host: Host, root: u32, configuration: View): void {
  const problem = new Problem();
  const settings = readModuleSettings(configuration, problem);
  if (problem.exists) {
    host.increment(Counter.SETTINGS_ERROR);
    host.log(LogLevel.ERROR, "configuration: " + problem.toString());
  } else compileComposites(settings.compositeClusters, true, candidates);
  prober.take(host, root, problem.exists ? 0 : settings.availabilityIntervalMs);
}

export function onTick(host: Host, root: u32): void {
  prober.tick(host, root);
}

export function onCallResponse(host: Host, token: u32, headers: u32, bodySize: u32): void {
  prober.answer(host, token, headers, bodySize);
}

/**
 * A response on its way to the client. Where the proxy itself answered because a cluster has no host, or does not
 * exist, that is known sooner than by asking.
 */
export function onResponse(host: Host): void {
  if (candidates.watched.length == 0 || !isUnavailable(host)) return;
  if (!host.property(RESPONSE_CODE_DETAILS, value)) return;
  const hasNone = value.equals(NO_HEALTHY_UPSTREAM) || value.equals(CLUSTER_NOT_FOUND);
  host.release(value);
  if (!hasNone || !host.property(CLUSTER_NAME, value)) return;
  const candidate = candidates.findWatched(value);
  host.release(value);
  if (candidate == null || candidate.state == HostState.NO_HOST) return;
  candidate.state = HostState.NO_HOST;
  host.increment(Counter.AVAILABILITY_SIGNAL);
}

function isUnavailable(host: Host): bool {
  if (!host.responseStatus(value)) return false;
  const equal = value.equals(UNAVAILABLE);
  host.release(value);
  return equal;
}
