import type { Json } from "../yaml/scalar.js";
import type { Cursor } from "../yaml/cursor.js";
import type { PriorityGroupRoute } from "./priority-group.js";
import { message, routeAction, submessage, without, type Message } from "./route-copy.js";
import { isMessage } from "./settings.js";
import { ATTEMPT_COUNT_HEADER, GIVEN_KEY, METADATA_NAMESPACE, PIN_KEY } from "./types.js";

/** Rewrites that replace the matched part of the path, and so need the match that they were written for. */
const MATCH_REWRITES = ["prefix_rewrite", "path_rewrite_policy"];

/**
 * Copies of a lowered route that match only a request on which the module wrote the route's name. Standing first in
 * the virtual host, they are what the request takes when the module has the route resolved anew, whatever earlier
 * filters did to the headers in the meantime: native Envoy, which resolves once, stays on the route too.
 */
export function pinnedCopies(planned: PriorityGroupRoute, selection: Message): Json[] {
  const copy = message(planned.route);
  const action = submessage(copy, "route");
  const matches = rewriteMatches(submessage(copy, "match"), action);
  return matches.map(({ match, rewrites }) => {
    const kept = rewrites ? action : without(action, MATCH_REWRITES);
    return pinnedCopy(planned, copy, match, routeAction(planned, kept, selection));
  });
}

/** Whether a route is found by what the module wrote alone: a copy already. */
export function isPinned(route: Cursor): boolean {
  return isFoundBy(route, [PIN_KEY, GIVEN_KEY]);
}

/** Whether a route matches by filter state under one of these keys. */
export function isFoundBy(route: Cursor, keys: readonly string[]): boolean {
  const states = route.at("match", "filter_state")?.items() ?? [];
  return states.some((state) => keys.includes(state.field("key")?.string() ?? ""));
}

function pinnedCopy(planned: PriorityGroupRoute, copy: Message, match: Message, route: Message): Json {
  const metadata = submessage(copy, "metadata");
  const filterMetadata = metadata["filter_metadata"];
  return {
    match: {
      ...match,
      ...beforeTheRouter(planned),
      filter_state: [{ key: PIN_KEY, string_match: { exact: planned.name } }],
    },
    ...without(copy, ["match", "name", "metadata", "route"]),
    name: planned.name,
    metadata: {
      ...metadata,
      filter_metadata: { ...(isMessage(filterMetadata) ? filterMetadata : {}), [METADATA_NAMESPACE]: planned.settings },
    },
    route,
  };
}

/**
 * The router sends the attempt count, and has a route resolved again only to see where an internal redirect leads: that
 * is not kept on the route of the request. In one slot for all attempts the upstream role takes the name away instead.
 */
function beforeTheRouter({ delivery }: PriorityGroupRoute): Message {
  if (delivery.kind === "oneSlot") return {};
  return { headers: [{ name: ATTEMPT_COUNT_HEADER, present_match: true, invert_match: true }] };
}

/** Any path, unless the action replaces what was matched. */
function rewriteMatches(match: Message, action: Message): { match: Message; rewrites: boolean }[] {
  if ("connect_matcher" in match) return [{ match: pathMatch(match), rewrites: true }];
  const any = { match: { prefix: "" }, rewrites: false };
  if (!MATCH_REWRITES.some((field) => field in action)) return [any];
  // Of a path matched by a regular expression the whole is replaced, whatever it has become.
  if ("safe_regex" in match) return [{ match: { safe_regex: { regex: "(?s).*" } }, rewrites: true }];
  const prefix = match["prefix"] ?? match["path"] ?? match["path_separated_prefix"];
  // Envoy replaces the start of the path where it is what was matched, in any case and followed by anything.
  const start: Message = prefix === undefined ? pathMatch(match) : { prefix, case_sensitive: false };
  return [{ match: start, rewrites: true }, any];
}

const PATH_FIELDS = [
  "prefix",
  "path",
  "safe_regex",
  "connect_matcher",
  "path_separated_prefix",
  "path_match_policy",
  "case_sensitive",
];

/** The part of a route's match that is about the path. */
export function pathMatch(match: Message): Message {
  return Object.fromEntries(Object.entries(match).filter(([key]) => PATH_FIELDS.includes(key)));
}
