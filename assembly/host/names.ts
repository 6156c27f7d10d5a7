// Attribute paths, filter state keys and header names, encoded once.

import { Bytes, encode } from "../bytes";
import { decimal } from "../text";

export const ROUTE_NAME = encode("xds\0route_name");
export const ROUTE_METADATA = encode("xds\0route_metadata");
export const VIRTUAL_HOST_NAME = encode("xds\0virtual_host_name");
export const VIRTUAL_HOST_METADATA = encode("xds\0virtual_host_metadata");
export const CLUSTER_NAME = encode("xds\0cluster_name");
/** The cluster of the attempt's host, where `lower` has its endpoints name it: another than the route's if that is an aggregate. */
export const HOST_CLUSTER = encode("xds\0upstream_host_metadata\0filter_metadata\0attempt_router\0cluster");
export const ATTEMPT_COUNT_ATTRIBUTE = encode("upstream\0request_attempt_count");
export const RESPONSE_CODE_DETAILS = encode("response\0code_details");
/** When the request began, in nanoseconds since 1970. */
export const REQUEST_TIME = encode("request\0time");
export const SOURCE_ADDRESS = encode("source\0address");
export const DYNAMIC_METADATA = encode("metadata");

export const ATTEMPT_COUNT_HEADER = encode("x-envoy-attempt-count");
export const COOKIE_HEADER = encode("cookie");
export const PATH_HEADER = encode(":path");
export const METHOD_HEADER = encode(":method");
/** Envoy resolves no route for a request without it. */
export const FORWARDED_PROTO_HEADER = encode("x-forwarded-proto");
/** Names the cluster of a request whose route's cluster a specifier overrides; the route removes it. */
export const CLUSTER_HEADER = encode("x-attempt-router-cluster");

/** The router's control headers. */
export const TIMEOUT_HEADER = encode("x-envoy-upstream-rq-timeout-ms");
export const PER_TRY_TIMEOUT_HEADER = encode("x-envoy-upstream-rq-per-try-timeout-ms");
export const RETRY_ON_HEADER = encode("x-envoy-retry-on");
export const RETRY_GRPC_ON_HEADER = encode("x-envoy-retry-grpc-on");
export const MAX_RETRIES_HEADER = encode("x-envoy-max-retries");
export const RETRIABLE_STATUS_CODES_HEADER = encode("x-envoy-retriable-status-codes");
export const STATUS_HEADER = encode(":status");

/** The slot of SlotForm.ONE_SLOT. */
export const ONE_SLOT_KEY = encode("attempt_router.cluster");
/** The random value of the request, 8 bytes, for the upstream role. */
export const RANDOM_KEY = encode("attempt_router.random");
/** The route that the request is kept on. */
export const ROUTE_KEY = encode("attempt_router.route");

/** The route that the request falls back to where the match of a template does not hold. */
export const GIVEN_KEY = encode("attempt_router.given");
/** The attempts of the request and their outcomes, see `roles/record.ts`. */
export const ATTEMPTS_KEY = encode("attempt_router.attempts");
/** Filter state: the name of the group that the attempt uses, where attempts are recorded. */
export const GROUP_KEY = encode("attempt_router.group");
/** When the attempt began, in ms since 1970, 8 bytes. */
export const ATTEMPT_TIME_KEY = encode("attempt_router.attempt_time");
/** The group (1, 2, …) of the next attempt where steps led away from the order of the groups, 8 bytes. */
export const TURN_KEY = encode("attempt_router.turn");
/** The router retries no response with this header. */
export const RATELIMITED_HEADER = encode("x-envoy-ratelimited");
/** What the header holds where a step stopped the request; the client does not see it. */
export const STOPPED = encode("attempt_router");
/** What to do to the response's headers, see `specifiers/header-transforms.ts`. */
export const RESPONSE_KEY = encode("attempt_router.response");

/** In SlotForm.HEADERS: the random value that makes the router begin with the first header. */
export const FIRST_HEADER = encode("x-attempt-router-first");
export const FIRST = encode("0");

const slotKeys = new Array<Bytes>();
const slotHeaders = new Array<Bytes>();

/** Key of the slot of an attempt (1, 2, …). */
export function slotKey(attempt: i32): Bytes {
  while (slotKeys.length < attempt) slotKeys.push(encode("attempt_router." + decimal(slotKeys.length + 1)));
  return unchecked(slotKeys[attempt - 1]);
}

/** Header of an attempt (1, 2, …) in SlotForm.HEADERS. */
export function slotHeader(attempt: i32): Bytes {
  while (slotHeaders.length < attempt) {
    slotHeaders.push(encode("x-attempt-router-cluster-" + decimal(slotHeaders.length + 1)));
  }
  return unchecked(slotHeaders[attempt - 1]);
}
