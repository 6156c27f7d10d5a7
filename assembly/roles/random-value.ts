import { Bytes, View } from "../bytes";
import {
  CombinedHash,
  HashPolicy,
  HashSource,
  findCookie,
  findIp,
  findQueryParameter,
  hashLines,
} from "../decide/hash-policy";
import { HeaderNumber } from "../decide/header-number";
import { Plan, RandomSource } from "../decide/plan";
import { Random } from "../decide/random";
import { xxhash64 } from "../decide/xxhash64";
import { ViewList } from "../view-list";
import { readLines } from "../wire/header-pairs";
import { Host } from "../host/host";
import { Counter } from "../host/counters";
import { report } from "./report";
import { COOKIE_HEADER, PATH_HEADER, SOURCE_ADDRESS } from "../host/names";

const number = new HeaderNumber();
const combined = new CombinedHash();
const text = new View();
const part = new View();
const pairs = new View();
const lines = new ViewList();

let internal = new Random(0);

/** Starts the internal random values of this VM. */
export function seedRandom(seed: u64): void {
  internal = new Random(seed);
}

/** A new internal random value. */
export function internalRandom(): u64 {
  return internal.next();
}

/**
 * The request's random value, computed once and used for every attempt.
 * Specification: priority groups, "Cluster selection". `internalValue` is what it is where the request does not say.
 */
export function randomValue(host: Host, plan: Plan, internalValue: u64): u64 {
  if (plan.randomSource == RandomSource.HEADER && readHeaderNumber(host, plan)) return number.value;
  if (plan.randomSource == RandomSource.HASH_POLICY && readHash(host, plan)) return combined.value;
  return internalValue;
}

// The attribute joins several lines of the header with a comma, which is no number, as natively.
function readHeaderNumber(host: Host, plan: Plan): bool {
  if (!host.property(plan.randomHeaderPath, text)) return false;
  const valid = number.parse(text);
  host.release(text);
  if (!valid) {
    report(
      host,
      plan,
      Counter.RANDOM_HEADER_INVALID,
      "header_name",
      "the header is no 64-bit number, an internal value is used",
    );
  }
  return valid;
}

function readHash(host: Host, plan: Plan): bool {
  combined.reset();
  const policies = plan.hashPolicies;
  for (let i = 0; i < policies.length; i++) {
    addHash(host, unchecked(policies[i]));
    if (combined.exists && unchecked(policies[i]).terminal) break;
  }
  if (pairs.ptr != 0) host.release(pairs);
  return combined.exists;
}

function addHash(host: Host, policy: HashPolicy): void {
  if (policy.source == HashSource.HEADER) addHeader(host, policy);
  else if (policy.source == HashSource.COOKIE) addCookie(host, policy);
  else if (policy.source == HashSource.SOURCE_IP) addSourceIp(host);
  else if (policy.source == HashSource.QUERY_PARAMETER) addQueryParameter(host, policy);
}

function addHeader(host: Host, policy: HashPolicy): void {
  readHeader(host, policy.name);
  if (lines.length > 0) combined.add(hashLines(lines));
}

function addCookie(host: Host, policy: HashPolicy): void {
  readHeader(host, COOKIE_HEADER);
  let found = false;
  for (let i = 0; i < lines.length && !found; i++) found = findCookie(lines.at(i), policy.name, part);
  if (found && part.length > 0) combined.add(xxhash64(part.ptr, part.length, 0));
}

// All headers are read for the first policy that needs lines, and kept until the last policy is done.
function readHeader(host: Host, name: Bytes): void {
  if (pairs.ptr == 0 && !host.requestHeaders(pairs)) pairs.set(0, 0);
  readLines(pairs, name, lines);
}

function addSourceIp(host: Host): void {
  if (!host.property(SOURCE_ADDRESS, text)) return;
  if (findIp(text, part)) combined.add(xxhash64(part.ptr, part.length, 0));
  host.release(text);
}

function addQueryParameter(host: Host, policy: HashPolicy): void {
  if (!host.requestHeader(PATH_HEADER, text)) return;
  if (findQueryParameter(text, policy.name, part)) combined.add(xxhash64(part.ptr, part.length, 0));
  host.release(text);
}
