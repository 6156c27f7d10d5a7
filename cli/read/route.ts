import type { Attempts, HashPolicy } from "../model/attempts.js";
import type { Action, Destination, InternalRedirects, Level, Mirror, NamedPlugin } from "../model/route.js";
import type { Route, RouteAction, VirtualHost } from "../model/route.js";
import type { JsonMessage, Value } from "../model/origin.js";
import { METADATA_NAMESPACE } from "../lower/types.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import type { CompositeNames } from "./composite.js";
import { duration, enumIn, fraction, json, jsonAt, jsonList, number, numbers, snakeJson } from "./fields.js";
import { numberIn, structAt, text, valueOf } from "./fields.js";
import { readHeaderChanges, readPerFilter } from "./filters.js";
import { readMatch } from "./match.js";
import { readPicking } from "./picking.js";
import { originOf } from "./place.js";
import { compositeAttempts, pluginSpecifier, readAttempts, readHashPolicies, readWeighted } from "./priority-group.js";
import { weightedAttempts } from "./weighted-composites.js";
import { readHedgePolicy, readRetries, readRetryPolicy } from "./retry-policy.js";
import { readSpecifiers } from "./route-specifiers.js";

/** What is around a route. */
export interface RouteParents {
  virtualHost: Cursor;
  shared: Pick<VirtualHost, "retryPolicy" | "hedgePolicy">;
  /** By name; of two with one name the first. */
  plugins: ReadonlyMap<string, Cursor>;
  composites: CompositeNames;
}

/** `envoy.config.route.v3.Route`. */
export function readRoute(route: Cursor, listed: boolean, parents: RouteParents): Route {
  const forward = route.field("route");
  const policies = forward === undefined ? [] : readHashPolicies(forward);
  const attempts = forward && readUse(forward, policies, parents);
  return {
    ...readLevel(route),
    match: readMatch(route),
    action: readAction(route, forward, policies, attempts),
    retries: forward && readRetries(forward, parents.virtualHost, parents.shared),
    attempts,
    picking: readPicking(route, parents.virtualHost),
    requestBufferLimit: number(route, "request_body_buffer_limit") ?? number(route, "per_request_buffer_limit_bytes"),
    listed,
    misplaced: MISPLACED.flatMap((field) => json(route, field) ?? []),
  };
}

/** What route configurations, virtual hosts and routes have alike. */
export function readLevel(level: Cursor): Level {
  const metadata = level.field("metadata");
  const own = level.at("metadata", "filter_metadata", METADATA_NAMESPACE);
  return {
    name: text(level, "name"),
    specifiers: readSpecifiers(level),
    headers: readHeaderChanges(level),
    perFilter: readPerFilter(level),
    ownSettings: own && structAt(own),
    metadata: metadata && structAt(metadata),
    origin: originOf(level),
  };
}

/** `cluster_specifier_plugins` of a route configuration. */
export function readPlugin(plugin: Cursor, composites: CompositeNames): NamedPlugin {
  const specifier = pluginSpecifier(plugin);
  const name = plugin.at("extension", "name");
  const source = { kind: "named", plugin: valueOf(name ?? plugin, name?.string() ?? "") } as const;
  return {
    name: source.plugin.value,
    type: plugin.at("extension", "typed_config")?.type(),
    attempts: specifier && readAttempts(specifier, source, [], composites),
    origin: originOf(plugin),
  };
}

export function readMirror(mirror: Cursor): Mirror {
  return {
    cluster: text(mirror, "cluster"),
    clusterHeader: text(mirror, "cluster_header"),
    fraction: fraction(mirror, "runtime_fraction"),
    origin: originOf(mirror),
  };
}

const MISPLACED = ["retry_policy", "hash_policy", "timeout"];
const REWRITES = [
  ...["prefix_rewrite", "regex_rewrite", "path_rewrite_policy", "path_rewrite"],
  ...["host_rewrite_literal", "auto_host_rewrite", "host_rewrite_header", "host_rewrite_path_regex", "host_rewrite"],
];
const OTHER_ACTIONS = ["filter_action", "non_forwarding_action"];

/** How a route's action uses priority groups or a composite cluster. */
export function readUse(
  action: Cursor,
  policies: readonly HashPolicy[],
  { plugins, composites }: Pick<RouteParents, "plugins" | "composites">,
): Attempts | undefined {
  const inline = pluginSpecifier(action.field("inline_cluster_specifier_plugin"));
  if (inline !== undefined) return readAttempts(inline, { kind: "inline" }, policies, composites);
  const plugin = text(action, "cluster_specifier_plugin");
  const named = plugin && pluginSpecifier(plugins.get(plugin.value));
  if (plugin !== undefined && named !== undefined) {
    return readAttempts(named, { kind: "named", plugin }, policies, composites);
  }
  const cluster = action.field("cluster");
  if (cluster !== undefined)
    return composites.has(cluster.string() ?? "") ? compositeAttempts(cluster, composites) : undefined;
  const weighted = composites.names.length > 0 ? action.field("weighted_clusters") : undefined;
  return weighted && weightedAttempts(weighted, policies, composites);
}

function readAction(
  route: Cursor,
  forward: Cursor | undefined,
  policies: readonly HashPolicy[],
  attempts: Attempts | undefined,
): Action {
  if (forward !== undefined) return { kind: "route", route: readForward(forward, policies, attempts) };
  const redirect = json(route, "redirect");
  if (redirect !== undefined) return { kind: "redirect", redirect };
  const response = route.field("direct_response");
  if (response !== undefined) {
    const status = numberIn(response.field("status")) ?? 0;
    return { kind: "direct_response", status, response: jsonAt(response) };
  }
  for (const field of OTHER_ACTIONS) {
    const value = json(route, field);
    if (value !== undefined) return { kind: "other", field, value };
  }
  return { kind: "none" };
}

function readForward(action: Cursor, hashPolicies: readonly HashPolicy[], attempts: Attempts | undefined): RouteAction {
  return {
    destination: attempts === undefined ? destinationOf(action) : { kind: "attempts" },
    timeout: duration(action, "timeout"),
    idleTimeout: duration(action, "idle_timeout"),
    maxStreamDuration: duration(action.field("max_stream_duration"), "max_stream_duration"),
    retryPolicy: readRetryPolicy(action),
    hedgePolicy: readHedgePolicy(action),
    hashPolicies,
    mirrors: action.list("request_mirror_policies").map(readMirror),
    internalRedirects: readRedirects(action.field("internal_redirect_policy")),
    priority: enumIn(action, "priority", ["DEFAULT", "HIGH"]) ?? "DEFAULT",
    rewrites: rewritesOf(action),
    get json() {
      return snakeJson(action);
    },
    origin: originOf(action),
  };
}

function destinationOf(action: Cursor): Destination {
  const cluster = text(action, "cluster");
  if (cluster !== undefined) return { kind: "cluster", cluster };
  const header = text(action, "cluster_header");
  if (header !== undefined) return { kind: "cluster_header", header };
  const weighted = action.field("weighted_clusters");
  if (weighted !== undefined) {
    const clusters = weighted.list("clusters").map((item) => readWeighted(item, "name"));
    return { kind: "weighted_clusters", at: { origin: originOf(weighted) }, clusters };
  }
  const plugin = action.field("inline_cluster_specifier_plugin") ?? action.field("cluster_specifier_plugin");
  if (plugin === undefined) return { kind: "none" };
  const type = plugin.at("extension", "typed_config")?.type() ?? "";
  return { kind: "specifier", at: { origin: originOf(plugin) }, type };
}

function readRedirects(policy: Cursor | undefined): InternalRedirects | undefined {
  return (
    policy && {
      max: number(policy, "max_internal_redirects"),
      codes: numbers(policy, "redirect_response_codes"),
      predicates: jsonList(policy, "predicates"),
      origin: originOf(policy),
    }
  );
}

function rewritesOf(action: Cursor): Record<string, Value<JsonMessage[string]>> {
  const entries = action.entries().filter(({ key }) => REWRITES.includes(snakeCase(key)));
  return Object.fromEntries(entries.map(({ key, value }) => [snakeCase(key), jsonAt(value)]));
}
