import { View } from "../bytes";
import { Answers } from "../decide/answers";
import { Decision } from "../decide/decision";
import { Plan, SlotForm } from "../decide/plan";
import { Host } from "../host/host";
import { ATTEMPT_TIME_KEY, GROUP_KEY, RANDOM_KEY, REQUEST_TIME, ROUTE_KEY, TURN_KEY, slotKey } from "../host/names";
import { attemptOf, readNumber, writeNumber } from "./numbers";
import { milliseconds, recordAttempt, recordStatus } from "./record";
import { decideAttempt, finishDecision, startDecision } from "./request";
import { planOfRoute } from "./route-plan";
import { writeSlot, writeState } from "./slots";
import { stop, takeStep, walkOn } from "./steps";

const cluster = new View();
const value = new View();
const status = new View();
const slot = new View();

/**
 * The upstream role, first in the upstream chain and called once per attempt: decides the next attempt while this one
 * starts, for the plans that cannot be written down when the request begins. Whether the response's headers are of
 * interest.
 */
export function onUpstreamRequest(host: Host): bool {
  const plan = currentPlan(host);
  if (plan == null) return false;
  const answers = plan.answers;
  if (!plan.decidesPerAttempt && answers == null) return false;
  if (answers != null && answers.records) beginRecord(host, plan, answers);
  if (plan.decidesPerAttempt) {
    const attempt = attemptOf(host);
    decideNext(host, plan, attempt, answers != null && answers.hasSteps ? walkOn(host) : 0);
  }
  if (plan.pin && plan.slotForm == SlotForm.ONE_SLOT) unpin(host);
  return answers != null || awaitsMetadata(plan);
}

/** The upstream role once more, when the attempt has failed: the clusters that have a host may be others by now. */
export function decideAgain(host: Host): void {
  const plan = currentPlan(host);
  if (plan != null && plan.skipsClusters) decideNext(host, plan, attemptOf(host), turnOf(host, plan));
}

/**
 * And when its response has passed the other upstream filters: they may have written metadata, the response is recorded, and
 * it may choose the group of the next attempt, or that there is none.
 */
export function onUpstreamResponse(host: Host): void {
  const plan = currentPlan(host);
  if (plan == null) return;
  const answers = plan.answers;
  let moved = false;
  if (answers != null && host.responseStatus(status)) {
    if (answers.records) recordStatus(host, status);
    if (answers.timeout > 0 && answers.isTooLate(sinceStart(host))) stop(host);
    else if (answers.hasSteps) moved = takeStep(host, answers, status);
    host.release(status);
  }
  if (moved || awaitsMetadata(plan)) decideNext(host, plan, attemptOf(host), turnOf(host, plan));
}

function beginRecord(host: Host, plan: Plan, answers: Answers): void {
  if (plan.hasGroups) nameGroup(host, plan);
  const timeout = answers.perTryTimeout;
  let elapsed: u64 = 0;
  if (timeout > 0) {
    const now = milliseconds(host);
    elapsed = between(readNumber(host, ATTEMPT_TIME_KEY), now);
    writeNumber(host, ATTEMPT_TIME_KEY, now);
  }
  recordAttempt(host, elapsed, timeout);
}

function nameGroup(host: Host, plan: Plan): void {
  const decision = startDecision(host, plan);
  decision.turn = turnOf(host, plan);
  value.setBytes(decision.groupName(attemptOf(host)));
  writeState(host, GROUP_KEY, value);
  finishDecision(host);
}

// Milliseconds since the request began.
function sinceStart(host: Host): u64 {
  return between(readNumber(host, REQUEST_TIME) / 1_000_000, milliseconds(host));
}

// The clock may be set back, and the time of the beginning may be unknown, which is 0.
function between(start: u64, end: u64): u64 {
  return start > 0 && end > start ? end - start : 0;
}

function turnOf(host: Host, plan: Plan): u32 {
  return plan.hasSteps ? <u32>readNumber(host, TURN_KEY) : 0;
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

// The slots say what the attempts so far have used: those past the last slot are not known.
function readTried(host: Host, plan: Plan, attempt: u32, decision: Decision): void {
  for (let i = 1; i <= min(<i32>attempt, plan.slots); i++) {
    value.setBytes(unchecked(plan.groupOf(i).clusters[0]));
    if (host.property(slotKey(i), slot)) {
      // Nothing is collected before the callback ends.
      value.setBytes(slot.copy());
      host.release(slot);
    }
    decision.addTried(value);
  }
}

function decideNext(host: Host, plan: Plan, attempt: u32, turn: u32): void {
  const next = attempt + 1;
  const decision = startDecision(host, plan);
  if (plan.usesRandom) decision.random = readNumber(host, RANDOM_KEY);
  decision.turn = turn;
  if (plan.avoidsTried) readTried(host, plan, attempt, decision);
  decideAttempt(host, decision, next, cluster);
  // Written also where it is the default: the slot may hold what was decided before. That stands where less is known
  // now, as in a VM of its own that serves the filters of a cluster and is told nothing.
  if (plan.slotForm == SlotForm.ONE_SLOT || !decision.isUncertain)
    writeSlot(host, plan.slotForm, min(<i32>next, plan.slots), cluster);
  finishDecision(host);
}
