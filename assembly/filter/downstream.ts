import { Bytes, View } from "../bytes";
import { Plan, SlotForm } from "../decide/plan";
import { Host } from "../host/host";
import { Counter } from "./counters";
import { ATTEMPT_COUNT_HEADER, ONE_SLOT_KEY, RANDOM_KEY, ROUTE_KEY, slotKey } from "./names";
import { randomValue } from "./random-value";
import { planOfRoute } from "./route-plan";

const clientCount = new View();
const randomBytes: Bytes = new StaticArray<u8>(8);

/**
 * The downstream role, right before the router: plans every attempt of the request and writes the picks that differ
 * from the static default of their slot.
 */
export function onDownstreamRequest(host: Host): void {
  const plan = planOfRoute(host);
  if (plan == null) return;
  const random = plan.isWeighted ? randomValue(host, plan) : 0;
  let reroute = false;
  if (plan.slotForm == SlotForm.ONE_SLOT) {
    reroute = writeOneSlot(host, plan, random);
  } else {
    reroute = writeSlots(host, plan, random);
    // The matcher took the client's header for the router's own.
    if (removeClientAttemptCount(host)) reroute = true;
  }
  if (reroute) resolveAnew(host, plan);
}

// Returns whether attempt 1 has another cluster than the route was resolved to.
function writeSlots(host: Host, plan: Plan, random: u64): bool {
  let first = false;
  for (let attempt = 1; attempt <= plan.slots; attempt++) {
    const group = plan.groupOf(attempt);
    const pick = group.pick(random);
    if (pick == 0) continue;
    write(host, slotKey(attempt), unchecked(group.clusters[pick]));
    if (attempt == 1) first = true;
  }
  return first;
}

function writeOneSlot(host: Host, plan: Plan, random: u64): bool {
  if (plan.isWeighted) {
    store<u64>(changetype<usize>(randomBytes), random);
    write(host, RANDOM_KEY, randomBytes);
  }
  const group = plan.groupOf(1);
  const pick = group.pick(random);
  if (pick == 0) return false;
  write(host, ONE_SLOT_KEY, unchecked(group.clusters[pick]));
  return true;
}

function removeClientAttemptCount(host: Host): bool {
  if (!host.requestHeader(ATTEMPT_COUNT_HEADER, clientCount)) return false;
  host.release(clientCount);
  host.removeRequestHeader(ATTEMPT_COUNT_HEADER);
  host.increment(Counter.CLIENT_ATTEMPT_COUNT_REMOVED);
  return true;
}

function resolveAnew(host: Host, plan: Plan): void {
  if (plan.pin) write(host, ROUTE_KEY, plan.routeName);
  host.clearRouteCache();
}

function write(host: Host, key: Bytes, value: Bytes): void {
  if (!host.setProperty(key, value)) host.increment(Counter.SLOT_WRITE_FAILED);
}
