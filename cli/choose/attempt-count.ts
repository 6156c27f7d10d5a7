import type { HeaderChanges } from "../model/filters.js";
import type { FilterChain } from "../model/filters.js";
import type { Json } from "../model/origin.js";
import type { Level, VirtualHost } from "../model/route.js";
import type { Reason } from "./delivery.js";

const ATTEMPT_COUNT_HEADER = "x-envoy-attempt-count";
/** What removes headers by a pattern, which may fit the name without holding it. */
const REMOVES_BY_PATTERN = /^remove_?on_?match$/i;

/**
 * Why the router finds another value of `x-envoy-attempt-count` upstream than the one it wrote: a route, its virtual host
 * or its route configuration changes the header.
 */
export function levelChangesCount(levels: readonly Level[]): Reason | undefined {
  for (const { headers, perFilter } of levels) {
    const change = changeOf(headers) ?? perFilter.find(({ name, json }) => writesCount(name) || touchesCount(json));
    if (change !== undefined) return { because: `${ATTEMPT_COUNT_HEADER} is changed here`, at: change.origin };
  }
  return undefined;
}

/** Why a filter of an upstream filter chain may change the header. */
export function chainChangesCount(chain: FilterChain | undefined): Reason | undefined {
  const filter = chain?.filters.find(({ name, config }) => writesCount(name) || touchesCount(config?.value ?? null));
  if (filter === undefined) return undefined;
  return { because: `the upstream filter ${filter.name} may change ${ATTEMPT_COUNT_HEADER}`, at: filter.origin };
}

/** Why the count decides which route of a virtual host a request takes. */
export function matchesCount({ matcher, routes }: VirtualHost): Reason | undefined {
  const tree = matcher !== undefined && touchesCount(matcher.value) ? matcher : undefined;
  const match = routes.find((route) => route.listed && touchesCount(route.match.json))?.match;
  const at = tree ?? match;
  return at && { because: `the routes of the virtual host are matched by ${ATTEMPT_COUNT_HEADER}`, at: at.origin };
}

function changeOf({ requestAdd, requestRemove }: HeaderChanges) {
  return (
    requestAdd.find(({ key, value }) => writesCount(key) || writesCount(value)) ??
    requestRemove.find(({ value }) => writesCount(value))
  );
}

/**
 * Whether what a subtree configures may touch the header: its name is a key, a value or part of one, as in the code of a
 * Lua filter, or headers are removed by a pattern.
 */
export function touchesCount(json: Json): boolean {
  if (typeof json === "string") return writesCount(json);
  if (json === null || typeof json !== "object") return false;
  if (Array.isArray(json)) return json.some(touchesCount);
  return Object.entries(json).some(
    ([key, value]) => REMOVES_BY_PATTERN.test(key) || writesCount(key) || touchesCount(value),
  );
}

/** Not where the name only stands in a format or in a call of Lua's `get`, by which the header is read. */
function writesCount(text: string): boolean {
  return text
    .toLowerCase()
    .replace(/%req\([^)]*\)(:\d+)?%/g, "")
    .replace(/:get\w*\(\s*["'][^"']*["']/g, "")
    .includes(ATTEMPT_COUNT_HEADER);
}
