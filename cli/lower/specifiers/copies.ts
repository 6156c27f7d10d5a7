// The routes that the module sends a request to, by filter state: copies of configured routes that leave to it what
// specifiers may override, and templates.

import type { Cursor } from "../../yaml/cursor.js";
import type { Json } from "../../yaml/scalar.js";
import { pathMatch } from "../pin.js";
import { messageJson } from "../settings.js";
import { slotPerAttemptSpecifier, type Slot } from "../slot-tree.js";
import { PIN_KEY, GIVEN_KEY, CLUSTER_HEADER } from "../types.js";
import {
  hasEntry,
  ownFields,
  subFields,
  type Configured,
  type Message,
  type Override,
  type Template,
} from "./configured.js";

/** What the module decides in a copy: by which ending its pin differs from the route's, and what is left to it. */
interface Variant {
  ending: string;
  cluster: "own" | "header" | "slots";
  retry: boolean;
}

const CLUSTER_FIELDS = [
  "cluster",
  "cluster_header",
  "weighted_clusters",
  "cluster_specifier_plugin",
  "inline_cluster_specifier_plugin",
];
/** What the module says through the router's control headers. */
const RETRY_FIELDS = ["retry_on", "num_retries", "per_try_timeout", "retriable_status_codes"];

/** What copies have in common. */
export interface CopyContext {
  /** For the retry policy that a route takes over. */
  host: Cursor;
  /** The overrides that may apply. */
  overrides: Override[];
  /** Number of slots of a chain that a specifier gives. */
  slots: number;
  /** The clusters that a request's own override of the groups may name. */
  everyCluster: readonly string[];
}

/** The overrides among specifiers. */
export function overridesOf(specifiers: readonly Configured[]): Override[] {
  return specifiers.map(({ override }) => override).filter((override) => override !== undefined);
}

/** The copies of a route that matching resolved; `message` is what they are made from. */
export function routeCopies(route: Cursor, message: Message, pin: string, context: CopyContext): Json[] {
  if (context.overrides.length === 0 || !hasEntry(route)) return [];
  const match = pinnedPath(route, message);
  return variantsOf(context.overrides).map((variant) =>
    variantOf(message, { ...match, filter_state: [state(PIN_KEY, pin + variant.ending)] }, variant, context),
  );
}

/** The copy that a request falls back to where the match of a template does not hold. */
export function fallbackCopy(route: Cursor, pin: string): Json {
  const message = routeMessage(route);
  return { ...message, match: { ...pinnedPath(route, message), filter_state: [state(GIVEN_KEY, pin)] } };
}

/** The native route of a template, and its copies where overrides may follow. It keeps its match. */
export function templateRoutes(template: Template, context: CopyContext): Json[] {
  const message = routeMessage(template.route, template.id);
  const own = subFields(message, "match");
  const states = Array.isArray(own["filter_state"]) ? own["filter_state"] : [];
  const overrides = hasEntry(template.route) ? context.overrides : [];
  return variantsOf(overrides).map((variant) =>
    variantOf(
      message,
      { ...own, filter_state: [...states, state(PIN_KEY, template.pin + variant.ending)] },
      variant,
      context,
    ),
  );
}

/** Whether a chain that a specifier gives needs the header x-envoy-attempt-count. */
export function usesSlots(overrides: readonly Override[]): boolean {
  return overrides.some(({ groups }) => groups.length > 0);
}

function variantsOf(overrides: readonly Override[]): Variant[] {
  const clusters: Variant["cluster"][] = ["own"];
  if (overrides.some(({ cluster }) => cluster)) clusters.push("header");
  if (usesSlots(overrides)) clusters.push("slots");
  const retries = overrides.some(({ retries }) => retries !== undefined) ? [false, true] : [false];
  const endings = { own: "", header: "#c", slots: "#g" };
  return clusters.flatMap((cluster) =>
    retries.map((retry) => ({ ending: endings[cluster] + (retry ? "#r" : ""), cluster, retry })),
  );
}

function variantOf(message: Message, match: Message, variant: Variant, context: CopyContext): Json {
  const copy: Message = { match, ...without(message, ["match"]) };
  let action = subFields(message, "route");
  if (variant.cluster !== "own") action = without(action, CLUSTER_FIELDS);
  if (variant.cluster === "slots")
    action["inline_cluster_specifier_plugin"] = slotPerAttemptSpecifier(slotsOf(context));
  if (variant.cluster === "header") {
    action["cluster_header"] = CLUSTER_HEADER;
    const removed = message["request_headers_to_remove"];
    copy["request_headers_to_remove"] = [...(Array.isArray(removed) ? removed : []), CLUSTER_HEADER];
  }
  if (variant.retry) action = { ...without(action, ["retry_policy"]), retry_policy: openPolicy(action, context.host) };
  if (Object.keys(action).length > 0) copy["route"] = action;
  return copy;
}

/** A retry policy without conditions and retries, to which the control headers add theirs; the rest stays. */
function openPolicy(action: Message, host: Cursor): Message {
  const own = subFields(action, "retry_policy");
  const inherited = messageJson(host.field("retry_policy") ?? host, []) as Message;
  const base = "retry_policy" in action ? own : host.field("retry_policy") === undefined ? {} : inherited;
  return { ...without(base, RETRY_FIELDS), num_retries: 0, refresh_cluster_on_retry: true };
}

function slotsOf({ overrides, slots, everyCluster }: CopyContext): Slot[] {
  const chains = overrides.filter(({ groups }) => groups.length > 0);
  const open = chains.some(({ anyCluster }) => anyCluster);
  const all = open ? everyCluster : [];
  return Array.from({ length: slots }, (_, index) => {
    const names = chains.flatMap(({ groups }) => groups[Math.min(index, groups.length - 1)] ?? []);
    const [defaultCluster = "", ...otherClusters] = [...new Set([...names, ...all])];
    return { defaultCluster, otherClusters, open };
  });
}

/** Any path, but for a route that rewrites the path it matched. */
function pinnedPath(route: Cursor, message: Message): Message {
  const match = subFields(message, "match");
  const rewrites = ["prefix_rewrite", "path_rewrite_policy"].some((field) => route.at("route", field) !== undefined);
  const redirects = route.at("redirect", "prefix_rewrite") !== undefined;
  return "connect_matcher" in match || rewrites || redirects ? pathMatch(match) : { prefix: "" };
}

function state(key: string, exact: string): Json {
  return { key, string_match: { exact } };
}

/** The message of a configured route without its specifiers; `name` where it has none. */
export function routeMessage(route: Cursor, name = ""): Message {
  const message = without(ownFields(route), ["route_specifiers"]);
  return name === "" || "name" in message ? message : { ...message, name };
}

function without(from: Message, fields: string[]): Message {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !fields.includes(key)));
}
