import { Candidate, HostState } from "../decide/composite";
import { Host } from "../host/host";
import { Counter } from "../host/counters";

/** Takes over what became known about a cluster, and counts it where it is new; whether it is. */
export function learnState(host: Host, candidate: Candidate, state: HostState): bool {
  if (candidate.state == state) return false;
  candidate.state = state;
  if (state == HostState.HAS_HOST) host.increment(Counter.CLUSTER_HAS_HOST);
  else if (state == HostState.NO_HOST) host.increment(Counter.CLUSTER_WITHOUT_HOST);
  else host.increment(Counter.AVAILABILITY_LOST);
  return true;
}
