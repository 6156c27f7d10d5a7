// Gives the request's route to its specifiers, and makes the proxy use the route that comes out of them.

import { ByteBuffer } from "../byte-buffer";
import { Bytes, View, encode } from "../bytes";
import { SpecifierChain } from "../route/specifier-chain";
import { HeaderMap, Host } from "../host/host";
import { RetryOverride, Route } from "../route/route";
import { RoutePlan } from "../route/route-plan";
import { applyTransforms } from "./apply-transforms";
import { HostRequest } from "./host-request";
import {
  CLUSTER_HEADER,
  FORWARDED_PROTO_HEADER,
  GIVEN_KEY,
  MAX_RETRIES_HEADER,
  PER_TRY_TIMEOUT_HEADER,
  RESPONSE_KEY,
  RETRIABLE_STATUS_CODES_HEADER,
  RETRY_GRPC_ON_HEADER,
  RETRY_ON_HEADER,
  ROUTE_KEY,
  TIMEOUT_HEADER,
} from "../host/names";
import { followPlan, writeEveryPick, writePlan } from "./picks";
import { internalRandom } from "./random-value";
import { writeState } from "./slots";

// Ends of a pin: the copy of the route whose cluster a header names, whose cluster the slots name, and which leaves the
// retry policy to the router's control headers.
const CLUSTER_COPY = encode("#c");
const GROUPS_COPY = encode("#g");
const RETRY_COPY = encode("#r");
const COMMA = encode(",");

const name = new View();
const value = new View();
const pin = new ByteBuffer();
const text = new ByteBuffer();
let request: HostRequest | null = null;

/** Runs the chain for a request on a route with this plan; whether the response's headers are of interest. */
export function specify(host: Host, plan: RoutePlan, chain: SpecifierChain): bool {
  const seed = internalRandom();
  const view = requestOf(host);
  const attempts = plan.attempts;
  view.start(host, attempts, seed);
  const given: Route | null = plan.resolved;
  const route = chain.run(given, view, seed);
  view.finish();
  if (route == null && given != null) drop(host);
  else if (route != null && route !== given) take(host, route, plan, seed);
  else if (attempts.hasGroups) followPlan(host, attempts, seed);
  return keepForResponse(host, route, view);
}

function requestOf(host: Host): HostRequest {
  let view = request;
  if (view == null) {
    view = new HostRequest(host);
    request = view;
  }
  return view;
}

// Envoy resolves no route for a request without x-forwarded-proto, so the answer is its own 404: flags, details,
// counters and all.
function drop(host: Host): void {
  host.removeRequestHeader(FORWARDED_PROTO_HEADER);
  host.clearRouteCache();
}

function take(host: Host, route: Route, plan: RoutePlan, seed: u64): void {
  const base = route.base;
  const cluster = route.cluster;
  const groups = route.groups;
  const own = base.plan;
  const fallback = route.fallback;
  pin.clear().add(base.pin);
  if (cluster != null) {
    replace(host, CLUSTER_HEADER, cluster);
    pin.add(CLUSTER_COPY);
  } else if (groups != null) {
    writeEveryPick(host, groups, plan.overrideSlots, seed);
    pin.add(GROUPS_COPY);
  } else if (own != null) writePlan(host, own, seed, true);
  else if ((base.isResolved || fallback != null) && plan.attempts.hasGroups) {
    // The resolved route may be the one that the proxy falls back to.
    writePlan(host, plan.attempts, seed, true);
  }
  const retry = route.retry;
  if (retry != null) {
    writeRetry(host, retry);
    pin.add(RETRY_COPY);
  }
  const timeout = route.timeout;
  if (timeout != null) setUnlessSent(host, TIMEOUT_HEADER, timeout);
  pin.lend(value);
  writeState(host, ROUTE_KEY, value);
  if (fallback != null) {
    value.setBytes(fallback);
    writeState(host, GIVEN_KEY, value);
  }
  route.addRequestTransforms(text.clear());
  text.lend(value);
  applyTransforms(host, HeaderMap.REQUEST, value);
  host.clearRouteCache();
}

// The headers join the route's policy, and the copy that the request takes has an empty one. What a client sent counts
// as it does natively: beside the policy, and before its numbers.
function writeRetry(host: Host, retry: RetryOverride): void {
  if (retry.retryOn.length > 0) {
    addToSent(host, RETRY_ON_HEADER, retry.retryOn);
    // A route's retry_on holds conditions of both kinds; each header reads those it knows.
    addToSent(host, RETRY_GRPC_ON_HEADER, retry.retryOn);
  }
  setUnlessSent(host, MAX_RETRIES_HEADER, retry.numRetries);
  if (retry.retriableStatusCodes.length > 0) {
    addToSent(host, RETRIABLE_STATUS_CODES_HEADER, retry.retriableStatusCodes);
  }
  if (retry.perTryTimeout.length > 0) setUnlessSent(host, PER_TRY_TIMEOUT_HEADER, retry.perTryTimeout);
}

function setUnlessSent(host: Host, header: Bytes, content: Bytes): void {
  name.setBytes(header);
  if (!host.hasHeader(HeaderMap.REQUEST, name)) replace(host, header, content);
}

function addToSent(host: Host, header: Bytes, more: Bytes): void {
  if (!host.requestHeader(header, value)) {
    replace(host, header, more);
    return;
  }
  name.setBytes(header);
  text.clear().addView(value).add(COMMA).add(more);
  host.release(value);
  text.lend(value);
  host.replaceHeader(HeaderMap.REQUEST, name, value);
}

function replace(host: Host, header: Bytes, content: Bytes): void {
  name.setBytes(header);
  value.setBytes(content);
  host.replaceHeader(HeaderMap.REQUEST, name, value);
}

// Those of the route come before those that specifiers added.
function keepForResponse(host: Host, route: Route | null, request: HostRequest): bool {
  text.clear();
  if (route != null) route.addResponseTransforms(text);
  request.responseHeaders.lend(value);
  text.addView(value);
  if (text.length == 0) return false;
  text.lend(value);
  writeState(host, RESPONSE_KEY, value);
  return true;
}
