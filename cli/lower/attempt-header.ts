import { isScalar, visit, type Node } from "yaml";
import type { Cursor } from "../yaml/cursor.js";
import { ATTEMPT_COUNT_HEADER } from "./types.js";

const HEADER_FIELDS = ["request_headers_to_add", "request_headers_to_remove", "typed_per_filter_config"];

/**
 * Whether a route, its virtual host or its route configuration changes `x-envoy-attempt-count` on the way upstream.
 * The router then finds another value there than the one it wrote, so the header cannot tell the slot.
 */
export function changesAttemptHeader(levels: readonly Cursor[]): boolean {
  return levels.some((level) => HEADER_FIELDS.some((field) => namesAttemptHeader(level.field(field))));
}

/** Whether a virtual host chooses its routes by the header. */
export function matchesAttemptHeader(host: Cursor): boolean {
  return [host.field("matcher"), ...host.list("routes").map((route) => route.field("match"))].some(namesAttemptHeader);
}

/** Whether a value anywhere in the subtree is the name of the header. */
export function namesAttemptHeader(cursor: Cursor | undefined): boolean {
  if (cursor?.node === undefined) return false;
  const { source } = cursor;
  let found = false;
  const isName = (node: Node | undefined): boolean =>
    isScalar(node) && typeof node.value === "string" && node.value.toLowerCase() === ATTEMPT_COUNT_HEADER;
  visit(cursor.node as Parameters<typeof visit>[0], {
    Scalar: (_, scalar) => {
      if (isName(scalar)) found = true;
    },
    Alias: (_, alias) => {
      const target = source.resolve(alias);
      if (isName(target)) found = true;
    },
  });
  return found;
}
