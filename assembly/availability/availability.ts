// What is known about the clusters of composites: the module asks for it on a tick, never for a request.

import { View, encode } from "../bytes";
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
import { internalRandom } from "../roles/random-value";
import { Role, readRole } from "../roles/role";
import { candidates } from "../roles/route-plan";
import { decideAgain } from "../roles/upstream";

const UNAVAILABLE = encode("503");
const NO_HEALTHY_UPSTREAM = encode("no_healthy_upstream");
const CLUSTER_NOT_FOUND = encode("cluster_not_found");

const prober = new Prober(candidates);
const poller = new Poller(candidates);
const FOUR: u8 = 0x34;
const value = new View();
let isUnavailable = false;
let isPolling = false;

/** Reads the configuration of a downstream root context, which asks from now on. */
export function configureAvailability(host: Host, root: u32, configuration: View): void {
  const problem = new Problem();
  const settings = readModuleSettings(configuration, problem);
  if (problem.exists) {
    host.increment(Counter.SETTINGS_ERROR);
    host.log(LogLevel.ERROR, "configuration: " + problem.toString());
  } else compileComposites(settings.compositeClusters, true, candidates);
  isPolling = !problem.exists && settings.availability == Availability.ADMIN;
  const interval = problem.exists ? 0 : settings.availabilityIntervalMs;
  poller.take(host, isPolling ? root : 0, interval, isPolling ? internalRandom() : 0);
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
 * A response, of an upstream or on its way to the client. One that may be retried has the next attempt decided again,
 * since hosts may have come and gone while it was awaited. One that the proxy made itself because a cluster has no host,
 * or does not exist, tells so sooner than asking does.
 */
export function onResponse(host: Host): void {
  if (candidates.watched.length == 0 || !readErrorStatus(host)) return;
  if (readRole(host) == Role.UPSTREAM) decideAgain(host);
  else if (isUnavailable) learn(host);
}

function learn(host: Host): void {
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

// Whether the status is 400 or higher; whether it is 503 is then in `isUnavailable`.
function readErrorStatus(host: Host): bool {
  if (!host.responseStatus(value)) return false;
  const isError = value.length == 3 && value.at(0) >= FOUR;
  isUnavailable = value.equals(UNAVAILABLE);
  host.release(value);
  return isError;
}
