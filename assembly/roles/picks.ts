// Decides the attempts of a request when it begins, and writes the picks that the proxy would not make by itself.

import { View } from "../bytes";
import { Decision } from "../decide/decision";
import { Plan, SlotForm } from "../decide/plan";
import { Counter } from "../host/counters";
import { Host } from "../host/host";
import { ATTEMPT_COUNT_HEADER, RANDOM_KEY, ROUTE_KEY } from "../host/names";
import { ViewList } from "../view-list";
import { writeNumber } from "./numbers";
import { randomValue } from "./random-value";
import { decideAttempt, finishDecision, startDecision } from "./request";
import { writeFirst, writeSlot, writeState } from "./slots";

const cluster = new View();
const clusters = new ViewList();
const value = new View();

/** Decides the attempts of a request by the route's own plan. */
export function followPlan(host: Host, plan: Plan, seed: u64): void {
  if (writePlan(host, plan, seed)) resolveAnew(host, plan);
}

/**
 * Writes the picks of a plan; whether the route must then be resolved anew. `moves`: it will be in any case, since the
 * request is sent to a copy of its route.
 */
export function writePlan(host: Host, plan: Plan, seed: u64, moves: bool = false): bool {
  const decision = startDecision(host, plan);
  const passesRandom = plan.decidesPerAttempt && plan.usesRandom;
  if (plan.isWeighted || decision.overriding.length > 0 || passesRandom)
    decision.random = randomValue(host, plan, seed);
  // The matcher took a header that was there before the router for the router's own.
  const misled = plan.slotForm != SlotForm.ONE_SLOT && removeClientAttemptCount(host);
  const byHeader = plan.slotForm == SlotForm.HEADERS;
  const reroute = byHeader ? writeHeaders(host, decision, moves || misled) : writePicks(host, decision);
  finishDecision(host);
  if (passesRandom) writeNumber(host, RANDOM_KEY, decision.random);
  return reroute || misled;
}

/** Writes the pick of every slot: where their defaults belong to no chain in particular. */
export function writeEveryPick(host: Host, plan: Plan, slots: i32, random: u64): void {
  const decision = startDecision(host, plan);
  decision.random = random;
  for (let attempt = 1; attempt <= slots; attempt++) {
    decideAttempt(host, decision, attempt, cluster);
    writeSlot(host, SlotForm.SLOT_PER_ATTEMPT, attempt, cluster);
  }
  finishDecision(host);
  removeClientAttemptCount(host);
}

// Returns whether attempt 1 has another cluster than the route was resolved to.
function writePicks(host: Host, decision: Decision): bool {
  const form = decision.plan.slotForm;
  const slots = form == SlotForm.ONE_SLOT ? 1 : decision.plan.slots;
  let reroute = false;
  for (let attempt = 1; attempt <= slots; attempt++) {
    if (decideAttempt(host, decision, attempt, cluster)) continue;
    writeSlot(host, form, attempt, cluster);
    if (attempt == 1) reroute = true;
  }
  return reroute;
}

// Writes the header of every attempt, unless the route's static defaults do; whether it wrote them. All of them, since the
// copy of the route has no defaults, and since a client may have sent some. `moves`: the request takes the copy in any case,
// so what the copy reads must be this request's.
function writeHeaders(host: Host, decision: Decision, moves: bool): bool {
  const slots = decision.plan.slots;
  clusters.clear();
  // What the upstream role writes later must be read, too.
  let differs = moves || decision.plan.decidesPerAttempt;
  for (let i = 0; i < slots; i++) {
    if (!decideAttempt(host, decision, i + 1, cluster)) differs = true;
    clusters.add(cluster.ptr, cluster.length);
  }
  if (!differs) return false;
  for (let i = 0; i < slots; i++) writeSlot(host, SlotForm.HEADERS, i + 1, clusters.at(i));
  writeFirst(host);
  return true;
}

// Takes away the client's own attempt count, which the matcher would take for the router's; whether there was one.
function removeClientAttemptCount(host: Host): bool {
  if (!host.requestHeader(ATTEMPT_COUNT_HEADER, value)) return false;
  host.release(value);
  host.removeRequestHeader(ATTEMPT_COUNT_HEADER);
  host.increment(Counter.CLIENT_ATTEMPT_COUNT_REMOVED);
  return true;
}

function resolveAnew(host: Host, plan: Plan): void {
  if (plan.pin) {
    value.setBytes(plan.routeName);
    writeState(host, ROUTE_KEY, value);
  }
  host.clearRouteCache();
}
