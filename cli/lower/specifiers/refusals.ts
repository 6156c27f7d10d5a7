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

/** Names of clusters that there are not, where Envoy checks those of routes. */
export function unknownClusters(
  entry: Cursor,
  { config, validatesByDefault }: RouteConfigSite,
  known: Clusters,
): Finding[] {
  const typed = entry.field("typed_config");
  const validates = config.field("validate_clusters")?.bool() ?? validatesByDefault;
  if (!validates || typed === undefined) return [];
  const groups = typed.list("priority_groups").flatMap((group) => group.list("clusters"));
  const names = [
    typed.field("cluster"),
    ...typed.list("weighted_clusters").map((cluster) => cluster.field("name")),
    ...groups.map((cluster) => cluster.field("cluster_name")),
  ];
  return names.flatMap((name) => {
    const text = name?.string();
    if (name === undefined || text === undefined || text === "" || known.has(text)) return [];
    return [name.finding(`expected the name of a cluster in static_resources.clusters, found ${JSON.stringify(text)}`)];
  });
}
