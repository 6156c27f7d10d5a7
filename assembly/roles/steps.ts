// The answer of an attempt chooses the group of the next one, or that there is none.

import { View } from "../bytes";
import { Answers, Next, Step } from "../decide/answers";
import { HeaderMap, Host } from "../host/host";
import { RATELIMITED_HEADER, STOPPED, TURN_KEY } from "../host/names";
import { attemptOf, readNumber, writeNumber } from "./numbers";

const value = new View();
const name = new View();

/** Takes the first step that is for the answer; whether the next attempt's group is another one now. */
export function takeStep(host: Host, answers: Answers, status: View): bool {
  const steps = answers.steps;
  const code = numberOf(status);
  for (let i = 0; i < steps.length; i++) {
    const step = unchecked(steps[i]);
    if (!step.isFor(code) || !hasHeaders(host, step)) continue;
    if (step.next == Next.STOP) stop(host);
    else return moveTo(host, step);
    break;
  }
  return false;
}

function moveTo(host: Host, step: Step): bool {
  const attempt = attemptOf(host);
  const planned = readNumber(host, TURN_KEY);
  const usual = planned > 0 ? <u32>planned : attempt + 1;
  const turn = Answers.turnAfter(step, usual - 1);
  if (turn == usual) return false;
  writeNumber(host, TURN_KEY, turn);
  return true;
}

function hasHeaders(host: Host, step: Step): bool {
  const headers = step.headers;
  for (let i = 0; i < headers.length; i++) {
    const header = unchecked(headers[i]);
    const found = host.responseLine(header.name.name, value);
    const holds = header.holdsFor(found, value);
    if (found) host.release(value);
    if (!holds) return false;
  }
  return true;
}

/** Makes this answer the last one. A header that the upstream sent does the same, and is the client's. */
export function stop(host: Host): void {
  name.setBytes(RATELIMITED_HEADER);
  if (host.hasHeader(HeaderMap.RESPONSE, name)) return;
  value.setBytes(STOPPED);
  host.addHeader(HeaderMap.RESPONSE, name, value);
}

/**
 * An attempt begins: the group (1, 2, …) of the one after it, where steps led away from the order of the groups; else 0.
 */
export function walkOn(host: Host): u32 {
  const turn = <u32>readNumber(host, TURN_KEY);
  if (turn == 0) return 0;
  writeNumber(host, TURN_KEY, turn + 1);
  return turn + 1;
}

function numberOf(digits: View): u32 {
  let number: u32 = 0;
  for (let i = 0; i < digits.length; i++) number = number * 10 + digits.at(i) - 0x30;
  return number;
}
