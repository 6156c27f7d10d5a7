// Composite clusters among the weighted clusters of a route, which become a priority group: what a group cannot say is refused.

import type { Finding } from "../findings.js";
import { keptEntries, othersOf } from "../read/weighted-composites.js";
import type { Cursor } from "../yaml/cursor.js";

const REFRESH = "refresh_cluster_on_retry";

/** What the list says that priority groups cannot. */
export function weightedFindings(weighted: Cursor, route: Cursor, host: Cursor): Finding[] {
  const policy = route.at("route", "retry_policy") ?? host.field("retry_policy");
  const refresh = policy?.field(REFRESH);
  return [
    ...othersOf(weighted).map((other) => other.finding(OTHER)),
    ...(refresh?.bool() === true ? [refresh.finding(REFRESHED)] : []),
  ];
}

/** From the place of an error in the priority group to that in the list. */
export function weightedSteps(weighted: Cursor, steps: readonly (string | number)[]): (string | number)[] {
  const [list, , clusters, index, field] = steps;
  if (list !== "priority_groups") return [...steps];
  if (clusters !== "clusters" || typeof index !== "number") return ["clusters"];
  const at = keptEntries(weighted)[index] ?? index;
  return ["clusters", at, ...(field === undefined ? [] : [field === "cluster_name" ? "name" : field])];
}

const OTHER =
  "expected only names, weights, header_name and use_hash_policy in weighted_clusters with a composite cluster, which become a " +
  "priority group, found another setting: write it on the route, or give the composite cluster a route of its own";
const REFRESHED =
  "expected no refresh_cluster_on_retry beside weighted_clusters with a composite cluster, where a retry moves on to another " +
  "entry, found it: write priority groups";
