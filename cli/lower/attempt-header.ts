import { visit, type Node } from "yaml";
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

/** What removes headers by a pattern, which may fit the name without holding it. */
const REMOVES_BY_PATTERN = /^remove_?on_?match$/i;

/**
 * Whether what a subtree configures may touch the header: its name is a value or part of one, as in the code of a Lua
 * filter, or headers are removed by a pattern.
 */
export function namesAttemptHeader(cursor: Cursor | undefined): boolean {
  if (cursor?.node === undefined) return false;
  const { source } = cursor;
  const seen = new Set<Node>();
  const touches = (top: Node): boolean => {
    if (seen.has(top)) return false;
    seen.add(top);
    let found = false;
    visit(top as Parameters<typeof visit>[0], {
      Scalar: (key, { value }) => {
        if (typeof value !== "string") return undefined;
        found ||= (key === "key" && REMOVES_BY_PATTERN.test(value)) || writesName(value);
        return found ? visit.BREAK : undefined;
      },
      Alias: (_, alias) => {
        const target = source.resolve(alias);
        found ||= target !== undefined && touches(target);
        return found ? visit.BREAK : undefined;
      },
    });
    return found;
  };
  return touches(cursor.node);
}

/** Not where the name only stands in a format or in a call of Lua's `get`, by which the header is read. */
function writesName(text: string): boolean {
  return text
    .toLowerCase()
    .replace(/%req\([^)]*\)(:\d+)?%/g, "")
    .replace(/:get\w*\(\s*["'][^"']*["']/g, "")
    .includes(ATTEMPT_COUNT_HEADER);
}
