// What `lower` refuses beside specifiers. What a specifier itself may say is the module's to check.

import { levelChangesCount } from "../../choose/attempt-count.js";
import type { Finding } from "../../findings.js";
import { readLevel } from "../../read/route.js";
import { routesOf, type RouteConfigSite } from "../../read/resources.js";
import type { Cursor } from "../../yaml/cursor.js";
import { ATTEMPT_COUNT_HEADER } from "../types.js";
import type { Clusters } from "../clusters.js";
import type { Configured } from "./configured.js";
import { overridesOf, usesSlots } from "./copies.js";

/** Nothing would give the requests of a virtual host that arrives later to the specifiers of its configuration. */
export function lateHosts(config: Cursor, own: readonly Configured[]): Finding[] {
  if (own.length === 0 || config.field("vhds") === undefined) return [];
  const message =
    "expected no route_specifiers beside vhds, found some: virtual hosts from VHDS would pass them by; " +
    "put all virtual hosts into the RouteConfiguration";
  return [config.findingBelow(["route_specifiers"], message)];
}

/** `shared`: the specifiers of the virtual host and of its configuration. */
export function routesInMatcher(host: Cursor, shared: readonly Configured[]): Finding[] {
  const matcher = host.field("matcher");
  if (matcher === undefined) return [];
  const routes = routesOf(host).filter((route) => route.list("route_specifiers").length > 0);
  if (shared.length === 0 && routes.length === 0) return [];
  const message = "expected a list of routes where route specifiers apply, found a matcher, which cannot be lowered";
  return [matcher.finding(message)];
}

/** Priority groups of overrides where the header that tells the attempts apart is not what Envoy writes. */
export function lostHeader(chain: readonly Configured[], isLost: boolean): Finding[] {
  if (!isLost || !usesSlots(overridesOf(chain))) return [];
  const message = `expected no priority_groups where ${ATTEMPT_COUNT_HEADER} is not sent upstream unchanged, found some`;
  return chain
    .filter(({ override }) => override !== undefined && override.groups.length > 0)
    .map(({ entry }) => entry.findingBelow(["typed_config", "priority_groups"], message));
}

/** Whether a route or what it stands in adds or removes the header. */
export function changesCount(levels: readonly Cursor[]): boolean {
  return levelChangesCount(levels.map(readLevel)) !== undefined;
}

/** What a specifier says of clusters and routes that is wrong for Envoy, which never sees it at that place. */
export function wrongRouting(
  { entry, type }: Configured,
  site: RouteConfigSite,
  known: Clusters | undefined,
): Finding[] {
  const config = entry.field("typed_config");
  if (config === undefined) return [];
  const validates = site.config.field("validate_clusters")?.bool() ?? site.validatesByDefault;
  const unknown = (names: (Cursor | undefined)[]) =>
    known === undefined || !validates ? [] : names.flatMap((name) => unknownCluster(name, known));
  if (type === "RouteOverride")
    return [...loneNamespace(config), ...unknown(clustersOf(config, config.list("weighted_clusters")))];
  if (type !== "RouteTemplate") return [];
  return config.list("templates").flatMap((template) => {
    const route = template.field("route");
    return route === undefined ? [] : [...missingParts(route), ...unknown(clustersOfRoute(route))];
  });
}

function loneNamespace(config: Cursor): Finding[] {
  const namespace = config.field("override_metadata_namespace");
  if (namespace === undefined || config.field("priority_groups") !== undefined) return [];
  return [namespace.finding("expected priority_groups beside override_metadata_namespace, found none")];
}

const ACTIONS = ["route", "redirect", "direct_response", "filter_action", "non_forwarding_action"];

function missingParts(route: Cursor): Finding[] {
  const match = route.field("match") === undefined ? ["a match"] : [];
  const action = ACTIONS.some((name) => route.field(name) !== undefined) ? [] : [`one of ${ACTIONS.join(", ")}`];
  return [...match, ...action].map((part) => route.finding(`expected ${part} in the route of a template, found none`));
}

function clustersOfRoute(route: Cursor): (Cursor | undefined)[] {
  const action = route.field("route");
  if (action === undefined) return [];
  const specifier = action.at("inline_cluster_specifier_plugin", "extension", "typed_config");
  return [
    ...clustersOf(action, action.field("weighted_clusters")?.list("clusters") ?? []),
    ...(specifier === undefined ? [] : clustersOf(specifier, [])),
    ...action.list("request_mirror_policies").map((policy) => policy.field("cluster")),
  ];
}

function clustersOf(message: Cursor, weighted: readonly Cursor[]): (Cursor | undefined)[] {
  const groups = message.list("priority_groups").flatMap((group) => group.list("clusters"));
  return [
    message.field("cluster"),
    ...weighted.map((cluster) => cluster.field("name")),
    ...groups.map((cluster) => cluster.field("cluster_name")),
  ];
}

function unknownCluster(name: Cursor | undefined, known: Clusters): Finding[] {
  const text = name?.string();
  if (name === undefined || text === undefined || text === "" || known.has(text)) return [];
  return [name.finding(`expected the name of a cluster in static_resources.clusters, found ${JSON.stringify(text)}`)];
}
