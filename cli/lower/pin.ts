import type { Json } from "../yaml/scalar.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import type { PriorityGroupRoute } from "./priority-group.js";
import { isMessage } from "./settings.js";
import { GIVEN_KEY, METADATA_NAMESPACE, PIN_KEY } from "./types.js";

type Message = { [key: string]: Json };

/** The fields that the slots stand in for. */
const SPECIFIERS = ["inline_cluster_specifier_plugin", "cluster_specifier_plugin", "cluster"];

/** Rewrites that replace the matched part of the path, and so need the match that they were written for. */
const MATCH_REWRITES = ["prefix_rewrite", "path_rewrite_policy"];

/**
 * A copy of a lowered route that matches only a request on which the module wrote the route's name. Standing first in
 * the virtual host, it is what the request takes when the module has the route resolved anew, whatever earlier filters
 * did to the headers in the meantime: native Envoy, which resolves once, stays on the route too.
 */
export function pinnedCopy(planned: PriorityGroupRoute, selection: { [key: string]: Json }): Json {
  const copy = message(planned.route);
  const metadata = submessage(copy, "metadata");
  const filterMetadata = metadata["filter_metadata"];
  return {
    match: pinnedMatch(submessage(copy, "match"), planned),
    ...without(copy, ["match", "name", "metadata", "route"]),
    name: planned.name,
    metadata: {
      ...metadata,
      filter_metadata: { ...(isMessage(filterMetadata) ? filterMetadata : {}), [METADATA_NAMESPACE]: planned.settings },
    },
    route: {
      ...selection,
      ...without(submessage(copy, "route"), SPECIFIERS),
      ...(planned.retryPolicy === undefined ? {} : { retry_policy: planned.retryPolicy }),
    },
  };
}

/** Whether a route is found by what the module wrote alone: a copy already. */
export function isPinned(route: Cursor): boolean {
  const states = route.at("match", "filter_state")?.items() ?? [];
  return states.some((state) => [PIN_KEY, GIVEN_KEY].includes(state.field("key")?.string() ?? ""));
}

function pinnedMatch(match: Message, { route, name }: PriorityGroupRoute): Json {
  const action = route.field("route");
  const keeps = "connect_matcher" in match || MATCH_REWRITES.some((field) => action?.field(field) !== undefined);
  const path = keeps ? pathMatch(match) : { prefix: "" };
  return { ...path, filter_state: [{ key: PIN_KEY, string_match: { exact: name } }] };
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

/** A message with the names of its own fields in snake_case; what is inside them stays as written. */
function message(cursor: Cursor): Message {
  const entries = cursor.entries().map(({ key, value }) => [snakeCase(key), value.json()] as const);
  return Object.fromEntries(entries);
}

function submessage(parent: Message, field: string): Message {
  const value = parent[field];
  if (!isMessage(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [snakeCase(key), item]));
}

function without(from: Message, fields: string[]): Message {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !fields.includes(key)));
}
