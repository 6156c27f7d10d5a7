import { Bytes, View } from "../bytes";
import { Decision } from "../decide/decision";
import { Plan, SlotForm } from "../decide/plan";
import { Host } from "../host/host";
import { Counter } from "../host/counters";
import { ATTEMPT_COUNT_HEADER, ONE_SLOT_KEY, RANDOM_KEY, ROUTE_KEY, slotKey } from "../host/names";
import { internalRandom, randomValue } from "./random-value";
import { decideAttempt, finishDecision, startDecision } from "./request";
import { planOfRequest } from "./route-plan";
import { writeSlotHeaders } from "./slot-headers";
import { specify } from "./specify";

const cluster = new View();
const value = new View();
const randomBytes: Bytes = new StaticArray<u8>(8);

/**
 * The downstream role, right before the router: gives the route to its specifiers, plans every attempt of the request and
 * writes the picks that differ from the static default of their slot. Whether the response's headers are of interest.
 */
export function onDownstreamRequest(host: Host): bool {
  const plan = planOfRequest(host);
  if (plan == null) return false;
  const chain = plan.chain;
  if (chain != null) return specify(host, plan, chain);
  followPlan(host, plan, internalRandom());
  return false;
}

/** Decides the attempts of a request by the route's own plan. */
export function followPlan(host: Host, plan: Plan, seed: u64): void {
  if (writePlan(host, plan, seed)) resolveAnew(host, plan);
}

/** Writes the picks of a plan; whether the route must then be resolved anew. */
export function writePlan(host: Host, plan: Plan, seed: u64): bool {
  const decision = startDecision(host, plan);
  const passesRandom = plan.decidesPerAttempt && plan.usesRandom;
  if (plan.isWeighted || decision.overriding.length > 0 || passesRandom)
    decision.random = randomValue(host, plan, seed);
  const reroute = writePicks(host, decision);
  finishDecision(host);
  if (passesRandom) writeRandom(host, decision.random);
  // The matcher took a client's header for the router's own.
  const misled = plan.slotForm != SlotForm.ONE_SLOT && removeClientAttemptCount(host);
  return reroute || misled;
}

// Returns whether attempt 1 has another cluster than the route was resolved to.
function writePicks(host: Host, decision: Decision): bool {
  const form = decision.plan.slotForm;
  if (form == SlotForm.ONE_SLOT) return writeOneSlot(host, decision);
  return form == SlotForm.HEADERS ? writeSlotHeaders(host, decision) : writeSlots(host, decision);
}

function writeSlots(host: Host, decision: Decision): bool {
  let reroute = false;
  for (let attempt = 1; attempt <= decision.plan.slots; attempt++) {
    if (decideAttempt(host, decision, attempt, cluster)) continue;
    write(host, slotKey(attempt), cluster);
    if (attempt == 1) reroute = true;
  }
  return reroute;
}

function writeOneSlot(host: Host, decision: Decision): bool {
  if (decideAttempt(host, decision, 1, cluster)) return false;
  write(host, ONE_SLOT_KEY, cluster);
  return true;
}

function writeRandom(host: Host, random: u64): void {
  store<u64>(changetype<usize>(randomBytes), random);
  value.setBytes(randomBytes);
  write(host, RANDOM_KEY, value);
}

/** Takes away the client's own attempt count, which the matcher would take for the router's; whether there was one. */
export function removeClientAttemptCount(host: Host): bool {
  if (!host.requestHeader(ATTEMPT_COUNT_HEADER, value)) return false;
  host.release(value);
  host.removeRequestHeader(ATTEMPT_COUNT_HEADER);
  host.increment(Counter.CLIENT_ATTEMPT_COUNT_REMOVED);
  return true;
}

function resolveAnew(host: Host, plan: Plan): void {
  if (plan.pin) {
    value.setBytes(plan.routeName);
    write(host, ROUTE_KEY, value);
  }
  host.clearRouteCache();
}

/** Writes filter state. */
export function write(host: Host, key: Bytes, text: View): void {
  if (!host.setProperty(key, text)) host.increment(Counter.SLOT_WRITE_FAILED);
}
