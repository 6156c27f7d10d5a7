import { Bytes, View } from "../bytes";
import { Plan, SlotForm } from "../decide/plan";
import { Host } from "../host/host";
import { ATTEMPT_COUNT_ATTRIBUTE, RANDOM_KEY, ROUTE_KEY } from "../host/names";
import { decideAttempt, finishDecision, startDecision } from "./request";
import { planOfRoute } from "./route-plan";
import { writeSlot, writeState } from "./slots";

const cluster = new View();
const value = new View();

/**
 * The upstream role, first in the upstream chain and called once per attempt: decides the next attempt while this one
 * starts, for the plans that cannot be written down when the request begins. Whether the response's headers are of
 * interest.
 */
export function onUpstreamRequest(host: Host): bool {
  const plan = currentPlan(host);
  if (plan == null || !plan.decidesPerAttempt) return false;
  decideNext(host, plan);
  if (plan.pin && plan.slotForm == SlotForm.ONE_SLOT) unpin(host);
  return awaitsMetadata(plan);
}

/** The upstream role once more, when the attempt has failed: the clusters that have a host may be others by now. */
export function decideAgain(host: Host): void {
  const plan = currentPlan(host);
  if (plan != null && plan.skipsClusters) decideNext(host, plan);
}

/** And when its response has passed the other upstream filters, which may have written metadata. */
export function readMetadataAgain(host: Host): void {
  const plan = currentPlan(host);
  if (plan != null && awaitsMetadata(plan)) decideNext(host, plan);
}

function currentPlan(host: Host): Plan | null {
  const plan = planOfRoute(host);
  return plan != null ? plan.attempts : null;
}

// Once the response is there, request headers cannot be written any more.
function awaitsMetadata(plan: Plan): bool {
  return plan.readMetadataPerAttempt && plan.slotForm != SlotForm.HEADERS;
}

// From here on the proxy resolves the route again only to see where an internal redirect leads. In the other forms the
// attempt count tells.
function unpin(host: Host): void {
  value.set(0, 0);
  writeState(host, ROUTE_KEY, value);
}

function decideNext(host: Host, plan: Plan): void {
  const next = <u32>readNumber(host, ATTEMPT_COUNT_ATTRIBUTE) + 1;
  const decision = startDecision(host, plan);
  if (plan.usesRandom) decision.random = readNumber(host, RANDOM_KEY);
  decideAttempt(host, decision, next, cluster);
  // Written also where it is the default: the slot may hold what was decided before. That stands where less is known
  // now, as in a VM of its own that serves the filters of a cluster and is told nothing.
  if (plan.slotForm == SlotForm.ONE_SLOT || !decision.isUncertain)
    writeSlot(host, plan.slotForm, min(<i32>next, plan.slots), cluster);
  finishDecision(host);
}

// A 64-bit attribute or filter state; 0 where it is absent.
function readNumber(host: Host, path: Bytes): u64 {
  if (!host.property(path, value)) return 0;
  const number = value.length == 8 ? load<u64>(value.ptr) : 0;
  host.release(value);
  return number;
}
