// Attribute paths, filter state keys and header names, encoded once.

import { Bytes, encode } from "../bytes";

export const ROUTE_NAME = encode("xds\0route_name");
export const ROUTE_METADATA = encode("xds\0route_metadata");
export const ATTEMPT_COUNT_ATTRIBUTE = encode("upstream\0request_attempt_count");
export const SOURCE_ADDRESS = encode("source\0address");
export const DYNAMIC_METADATA = encode("metadata");
export const NAMESPACE = encode("attempt_router");

export const ATTEMPT_COUNT_HEADER = encode("x-envoy-attempt-count");
export const COOKIE_HEADER = encode("cookie");
export const PATH_HEADER = encode(":path");

/** The slot of SlotForm.ONE_SLOT. */
export const ONE_SLOT_KEY = encode("attempt_router.cluster");
/** The random value of the request, 8 bytes, for the upstream role. */
export const RANDOM_KEY = encode("attempt_router.random");
/** The route that the request is kept on. */
export const ROUTE_KEY = encode("attempt_router.route");

const slotKeys = new Array<Bytes>();

/** Key of the slot of an attempt (1, 2, …). */
export function slotKey(attempt: i32): Bytes {
  while (slotKeys.length < attempt) slotKeys.push(encode("attempt_router." + (slotKeys.length + 1).toString()));
  return unchecked(slotKeys[attempt - 1]);
}
