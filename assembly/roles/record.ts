// The attempts of a request as filter state `wasm.attempt_router.attempts`: `provider_a:429,provider_b:200`. An attempt that is
// under way has the outcome `-`.

import { ByteBuffer } from "../byte-buffer";
import { Bytes, NOTHING, View, encode } from "../bytes";
import { TextMatch, TextMatchKind } from "../decide/text-match";
import { Host } from "../host/host";
import { ATTEMPTS_KEY, CLUSTER_NAME, HOST_CLUSTER, RESPONSE_CODE_DETAILS } from "../host/names";
import { writeState } from "./slots";

/** Bytes of the longest record. */
const MAX_LENGTH = 2048;
/** The longest outcome, and what is around it. */
const ROOM = 16;
/** Milliseconds by which a time-out may seem to come too early. */
const MAX_SLACK: u64 = 100;
const NS_PER_MS: u64 = 1_000_000;

const COMMA: u8 = 0x2c;
const COLON: u8 = 0x3a;
const MINUS: u8 = 0x2d;
const POINT: u8 = 0x2e;
/** `@ar-` */
const AGGREGATE_SUFFIX: u32 = 0x2d726140;

const NEXT_ENTRY = encode(",");
const PENDING = encode(":-");
const MORE = encode(",...");
const NO_NAME = encode("?");
const RESET = encode("reset");
const TIMEOUT = encode("timeout");
const REFUSED = encode("refused");
const NO_HOST = encode("no_host");

const NO_HEALTHY_UPSTREAM = encode("no_healthy_upstream");
const CLUSTER_NOT_FOUND = encode("cluster_not_found");
const TIMED_OUT = contains("timeout");
const NOT_CONNECTED = contains("connection_failure");
const NOT_CONNECTED_IN_TIME = contains("connection_timeout");
const WAS_RESET = contains("reset");

const value = new View();
const part = new View();
const text = new ByteBuffer();

function contains(part: string): TextMatch {
  return new TextMatch(TextMatchKind.CONTAINS, encode(part), false);
}

/** An attempt begins on the current cluster, `elapsed` ms after the one before, whose `timeout` in ms is 0 where it has none. */
export function recordAttempt(host: Host, elapsed: u64, timeout: u32): void {
  readRecord(host);
  if (isPending()) setOutcome(timeout > 0 && elapsed + slackOf(timeout) >= timeout ? TIMEOUT : RESET);
  addEntry(host, host.property(HOST_CLUSTER, value) || host.property(CLUSTER_NAME, value));
  writeRecord(host);
}

// A busy proxy sets its timers by a clock that is a little behind, so they end before their time.
function slackOf(timeout: u32): u64 {
  return min<u64>(timeout / 8, MAX_SLACK);
}

/** The attempt that began last has an answer with this status. */
export function recordStatus(host: Host, status: View): void {
  readRecord(host);
  setOutcome(status.copy());
  writeRecord(host);
}

/** The response is on its way to the client: how the last attempt ended, and that a cluster had no host for another one. */
export function recordEnd(host: Host): void {
  readRecord(host);
  if (!host.property(RESPONSE_CODE_DETAILS, value)) return;
  const hasNone = value.equals(NO_HEALTHY_UPSTREAM) || value.equals(CLUSTER_NOT_FOUND);
  const outcome = hasNone ? RESET : outcomeOf(value);
  host.release(value);
  const pending = isPending();
  if (pending && outcome.length > 0) setOutcome(outcome);
  if (hasNone) {
    addEntry(host, host.property(CLUSTER_NAME, value));
    setOutcome(NO_HOST);
  } else if (!pending) return;
  writeRecord(host);
}

/** Lends the record, which is valid until the next one is read; whether there is one. */
export function lendRecord(out: View): bool {
  text.lend(out);
  return text.length > 0;
}

/** Milliseconds since 1970. */
export function milliseconds(host: Host): u64 {
  return host.now() / NS_PER_MS;
}

// How an attempt without an answer ended; empty: the client left, or a filter answered.
function outcomeOf(details: View): Bytes {
  if (NOT_CONNECTED.matches(details) || NOT_CONNECTED_IN_TIME.matches(details)) return REFUSED;
  if (TIMED_OUT.matches(details)) return TIMEOUT;
  return WAS_RESET.matches(details) ? RESET : NOTHING;
}

function readRecord(host: Host): void {
  text.clear();
  if (!host.property(ATTEMPTS_KEY, value)) return;
  text.addView(value);
  host.release(value);
}

function writeRecord(host: Host): void {
  text.lend(value);
  writeState(host, ATTEMPTS_KEY, value);
}

function isPending(): bool {
  return lastByte() == MINUS;
}

function lastByte(): u8 {
  text.lend(part);
  return part.length > 0 ? part.at(part.length - 1) : 0;
}

// Adds an entry for the cluster that `value` names, if it does.
function addEntry(host: Host, named: bool): void {
  if (!named) value.set(0, 0);
  if (lastByte() == POINT) {
    // Nothing more fits.
  } else if (text.length + value.length + ROOM <= MAX_LENGTH) {
    if (text.length > 0) text.add(NEXT_ENTRY);
    const start = text.length;
    if (named) text.addView(value);
    else text.add(NO_NAME);
    clean(start);
    text.add(PENDING);
  } else text.add(MORE);
  if (named) host.release(value);
}

// A name may hold what a line of a log or a header may not, and what separates entries. An aggregate that stands for a cluster
// at an attempt has the cluster's name and a suffix.
function clean(start: i32): void {
  text.lend(part);
  for (let i = start; i < part.length; i++) {
    const char = part.at(i);
    if (i > start && i + 4 < part.length && load<u32>(part.ptr + <usize>i) == AGGREGATE_SUFFIX) {
      text.length = i;
      return;
    }
    if (char <= 0x20 || char == 0x7f || char == COMMA) store<u8>(part.ptr + <usize>i, 0x5f);
  }
}

// Sets the outcome of the last entry; of those that are not recorded any more none is.
function setOutcome(outcome: Bytes): void {
  text.lend(part);
  let end = part.length;
  if (end == 0 || part.at(end - 1) == POINT) return;
  while (end > 0 && part.at(end - 1) != COLON) end--;
  text.length = end;
  text.add(outcome);
}
