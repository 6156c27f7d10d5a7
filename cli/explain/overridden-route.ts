// The routes that specifiers make: with properties replaced, or built from a template.

import { listOf, messageOf } from "../model/json.js";
import type {
  Attempts,
  Duration,
  Json,
  JsonMessage,
  PriorityGroup,
  Retries,
  RetryPolicy,
  Route,
  RouteAction,
  RouteConfiguration,
  Value,
} from "../model/index.js";

/** A route with the properties of a RouteOverride. `cluster` is what the module chose where one cluster is chosen. */
export function overriddenRoute(route: Route, action: RouteAction, config: JsonMessage, cluster: string): Route {
  const place = <T>(value: T): Value<T> => ({ value, origin: route.origin });
  const timeout = durationOf(config["timeout"]);
  const policy = config["retry_policy"];
  const retries = policy === undefined ? route.retries : retriesOf(route, messageOf(policy));
  const next: RouteAction = { ...action, timeout: timeout === undefined ? action.timeout : place(timeout) };
  const rest = { ...route, retries };
  const groups = groupsOf(config, route);
  if (groups.length > 0) {
    return {
      ...rest,
      attempts: attemptsOf(config, groups, route),
      picking: NO_PICKING,
      action: { kind: "route", route: { ...next, destination: { kind: "attempts" } } },
    };
  }
  const chooses = ["cluster", "cluster_header", "cluster_metadata"].some((field) => field in config);
  if (!chooses || cluster === "" || cluster === "-") return { ...rest, action: { kind: "route", route: next } };
  const destination = { kind: "cluster", cluster: place(cluster) } as const;
  return { ...rest, attempts: undefined, action: { kind: "route", route: { ...next, destination } } };
}

/** Priority groups, or weighted clusters as one group for all attempts: both are picked from with the same value. */
function groupsOf(config: JsonMessage, { origin }: Route): PriorityGroup[] {
  const place = <T>(value: T): Value<T> => ({ value, origin });
  const read = (list: Json | undefined, field: string): PriorityGroup["clusters"] =>
    listOf(list).map((one) => ({ name: place(textOf(one[field])), weight: Number(one["weight"] ?? 0), origin }));
  const weighted = listOf(config["weighted_clusters"]);
  if (weighted.length > 0) return [{ name: undefined, clusters: read(config["weighted_clusters"], "name"), origin }];
  return listOf(config["priority_groups"]).map((group) => ({
    name: place(textOf(group["name"])),
    clusters: read(group["clusters"], "cluster_name"),
    origin,
  }));
}

function attemptsOf(config: JsonMessage, groups: readonly PriorityGroup[], { origin }: Route): Attempts {
  const namespace = config["override_metadata_namespace"];
  const override = typeof namespace === "string" && namespace !== "" ? { value: namespace, origin } : undefined;
  const priority_groups = groups.map((group) => ({
    name: group.name?.value ?? "all",
    clusters: group.clusters.map(({ name, weight }) => ({ cluster_name: name.value, weight })),
  }));
  const json: JsonMessage = { priority_groups };
  if (override !== undefined) json["override_metadata_namespace"] = override.value;
  return { source: { kind: "inline" }, groups, random: { kind: "internal" }, override, composites: [], json, origin };
}

/** Only these properties are replaced; back-off and predicates stay, and the cluster is refreshed for each attempt. */
function retriesOf({ retries, origin }: Route, policy: JsonMessage): Retries {
  const place = <T>(value: T): Value<T> => ({ value, origin });
  const words = textOf(policy["retry_on"])
    .split(",")
    .map((word) => word.trim());
  const perTry = durationOf(policy["per_try_timeout"]);
  const codes = policy["retriable_status_codes"];
  const effective: RetryPolicy = {
    retryOn: place(words.filter((word) => word !== "")),
    numRetries: policy["num_retries"] === undefined ? undefined : place(Number(policy["num_retries"])),
    perTryTimeout: perTry === undefined ? undefined : place(perTry),
    perTryIdleTimeout: undefined,
    retriableStatusCodes: Array.isArray(codes) ? place(codes.map(Number)) : undefined,
    retriableHeaders: [],
    retriableRequestHeaders: [],
    backOff: undefined,
    rateLimitedBackOff: undefined,
    refreshCluster: place(true),
    hostSelectionRetryMaxAttempts: undefined,
    retryHostPredicates: undefined,
    retryPriority: undefined,
    json: policy,
    origin,
  };
  const attempts = (effective.numRetries?.value ?? 1) + 1;
  return {
    route: effective,
    virtualHost: retries?.virtualHost,
    effective,
    typed: undefined,
    hedging: retries?.hedging,
    attempts,
  };
}

/** The route of a template, where the module took it: `taken` is the name of the route after the specifier. */
export function templateRoute(
  config: JsonMessage,
  taken: string | undefined,
  given: Route | undefined,
  { origin }: RouteConfiguration,
): Route | undefined {
  const template = listOf(config["templates"]).find((one) => one["template_id"] === config["template_id"]);
  const route = messageOf(template?.["route"]);
  const name = textOf(route["name"]) || "template";
  if (template === undefined || taken !== name) return given;
  const place = <T>(value: T): Value<T> => ({ value, origin });
  const base: Route = {
    ...EMPTY_LEVEL,
    origin: given?.origin ?? origin,
    name: place(name),
    match: EMPTY_MATCH(origin),
    action: { kind: "none" },
    retries: undefined,
    attempts: undefined,
    picking: NO_PICKING,
    requestBufferLimit: undefined,
    listed: true,
    misplaced: [],
  };
  const action = messageOf(route["route"]);
  const direct = messageOf(route["direct_response"]);
  if ("direct_response" in route) {
    return { ...base, action: { kind: "direct_response", status: Number(direct["status"]), response: place(direct) } };
  }
  if (!("route" in route))
    return { ...base, action: { kind: "redirect", redirect: place(messageOf(route["redirect"])) } };
  return forwarding(base, action);
}

function forwarding(base: Route, action: JsonMessage): Route {
  const { origin } = base;
  const place = <T>(value: T): Value<T> => ({ value, origin });
  const timeout = durationOf(action["timeout"]);
  const policy = action["retry_policy"];
  const inline = messageOf(
    messageOf(messageOf(action["inline_cluster_specifier_plugin"])["extension"])["typed_config"],
  );
  const groups = groupsOf(inline, base);
  const cluster = textOf(action["cluster"]);
  const route: RouteAction = {
    destination: groups.length > 0 ? { kind: "attempts" } : { kind: "cluster", cluster: place(cluster) },
    timeout: timeout === undefined ? undefined : place(timeout),
    idleTimeout: undefined,
    maxStreamDuration: undefined,
    retryPolicy: undefined,
    hedgePolicy: undefined,
    hashPolicies: [],
    mirrors: [],
    internalRedirects: undefined,
    priority: action["priority"] === "HIGH" ? "HIGH" : "DEFAULT",
    rewrites: {},
    json: action,
    origin,
  };
  const retries = policy === undefined ? undefined : nativeRetries(base, messageOf(policy));
  const attempts = groups.length > 0 ? attemptsOf(inline, groups, base) : undefined;
  return { ...base, retries, attempts, action: { kind: "route", route } };
}

/** A template's own policy says itself whether retries ask for a cluster anew. */
function nativeRetries(route: Route, policy: JsonMessage): Retries {
  const retries = retriesOf(route, policy);
  const refreshes = { value: policy["refresh_cluster_on_retry"] === true, origin: route.origin };
  const effective = retries.effective === undefined ? undefined : { ...retries.effective, refreshCluster: refreshes };
  return { ...retries, route: effective, effective };
}

/** What a specifier brings has none of the route's own settings. */
const NO_PICKING: Route["picking"] = { skips: undefined, coolDown: undefined };

const EMPTY_LEVEL = {
  specifiers: [],
  headers: { requestAdd: [], requestRemove: [], responseAdd: [], responseRemove: [] },
  perFilter: [],
  ownSettings: undefined,
  metadata: undefined,
};

const EMPTY_MATCH = (origin: Route["origin"]): Route["match"] => ({
  path: undefined,
  json: {},
  runtimeFraction: undefined,
  headers: [],
  queryParameters: [],
  cookies: [],
  grpc: false,
  tls: undefined,
  dynamicMetadata: [],
  filterState: [],
  others: [],
  origin,
});

/** Milliseconds of a duration such as `1.5s`. */
function durationOf(value: Json | undefined): Duration["value"] | undefined {
  return typeof value === "string" && /^\d+(\.\d+)?s$/.test(value) ? Number(value.slice(0, -1)) * 1000 : undefined;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
