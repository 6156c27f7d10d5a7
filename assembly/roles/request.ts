import { candidates, hurry } from "../availability/availability";
import { View } from "../bytes";
import { Decision } from "../decide/decision";
import { Plan } from "../decide/plan";
import { Host } from "../host/host";
import { Counter } from "../host/counters";
import { DYNAMIC_METADATA } from "../host/names";
import { report } from "./report";

const PLACE = "override_metadata_namespace";
const UNKNOWN_HOSTS = "whether a cluster has a host is not known, an aggregate or the cluster decides";
const metadata = new View();

// One request is decided at a time, so all of them share this one.
let decision: Decision | null = null;

/** Starts to decide a request on a route with this plan; `finishDecision` must follow. */
export function startDecision(host: Host, plan: Plan): Decision {
  let current = decision;
  if (current == null) {
    current = new Decision(plan);
    decision = current;
  }
  current.start(plan);
  if (plan.usedAt != candidates.now) noteUse(plan);
  readOverride(host, plan, current);
  return current;
}

/** The cluster of an attempt, as `Decision.clusterOf`; an override that cannot be used is reported. */
export function decideAttempt(host: Host, current: Decision, attempt: u32, out: View): bool {
  const isDefault = current.clusterOf(attempt, out);
  if (current.problem.length > 0) {
    report(host, current.plan, Counter.OVERRIDE_GROUP_INVALID, PLACE, current.problem);
  }
  if (current.isUncertain) {
    report(host, current.plan, Counter.AVAILABILITY_UNKNOWN, "composite_clusters", UNKNOWN_HOSTS);
    hurry(host);
  }
  return isDefault;
}

/** Hands back the metadata that the decision refers to. */
export function finishDecision(host: Host): void {
  if (metadata.ptr != 0) host.release(metadata);
}

// Once a second, so that what no request asks for any more can be forgotten.
function noteUse(plan: Plan): void {
  plan.usedAt = candidates.now;
  candidates.use(plan.composites);
}

function readOverride(host: Host, plan: Plan, current: Decision): void {
  const namespace = plan.overrideNamespace;
  if (namespace == null || !host.property(DYNAMIC_METADATA, metadata)) return;
  const overriding = current.overriding;
  overriding.read(metadata, namespace);
  if (overriding.problem.length > 0) {
    report(host, plan, Counter.OVERRIDE_INVALID, PLACE, overriding.problem);
  }
}
