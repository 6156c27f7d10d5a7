import type { Reason } from "../choose/delivery.js";
import type { Finding } from "../findings.js";
import { originOf } from "../read/place.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Json } from "../yaml/scalar.js";
import { METADATA_NAMESPACE } from "./types.js";

/** The setting beside the module's own that is `lower`'s: it narrows the slots, and the module needs no list. */
const ALLOWED_CLUSTERS = "allowed_clusters";
/** Likewise: how a cluster's name is looked up. */
const CLUSTER_SELECTION = "cluster_selection";
/** Likewise: answers are held by filters of their own, see hold/plan.ts. */
const HOLD_RESPONSE = "hold_response";
/** Likewise: Envoy's outlier detection carries it out, see stand-ins/cool-down.ts. */
const COOL_DOWN = "cool_down";
/** Settings of a route that the module does not know. */
export const FOR_LOWER_ALONE: readonly string[] = [ALLOWED_CLUSTERS, CLUSTER_SELECTION, HOLD_RESPONSE, COOL_DOWN];

/** Whether a request's metadata may override the groups of a specifier. */
export function hasOverride(specifier: Cursor): boolean {
  const namespace = specifier.field("override_metadata_namespace")?.json();
  return namespace !== undefined && namespace !== "";
}

/** The settings that the user wrote into the route's metadata for the module. */
export function ownSettings(route: Cursor): { [key: string]: Json } {
  const entries = ownMetadata(route)?.entries() ?? [];
  const own = entries.filter(({ key }) => !FOR_LOWER_ALONE.includes(key));
  return Object.fromEntries(own.map(({ key, value }) => [key, value.json()]));
}

/**
 * The clusters that an override may name: those the route's metadata lists in `allowed_clusters`, which may be ones that
 * come by CDS, or else every cluster of the file.
 */
export function allowedClusters(
  route: Cursor,
  specifier: Cursor,
  everyCluster: readonly string[],
  findings: Finding[],
): readonly string[] {
  const list = ownMetadata(route)?.field(ALLOWED_CLUSTERS);
  if (list === undefined) return hasOverride(specifier) ? everyCluster : [];
  if (!hasOverride(specifier)) {
    findings.push(
      list.finding("expected override_metadata_namespace in the specifier beside allowed_clusters, found none"),
    );
  }
  if (list.seq === undefined) findings.push(list.finding("expected a list of cluster names, found something else"));
  return list.items().map((item) => {
    const name = item.string() ?? "";
    if (name === "")
      findings.push(item.finding(`expected the name of a cluster, found ${JSON.stringify(item.json())}`));
    return name;
  });
}

/** Why the clusters of an override are found by request headers, and not in the list of a matcher. */
export function selectsByHeader(route: Cursor, specifier: Cursor, findings: Finding[]): Reason | undefined {
  const selection = ownMetadata(route)?.field(CLUSTER_SELECTION);
  if (selection === undefined || selection.string() === "MATCHER") return undefined;
  if (selection.string() !== "HEADER") {
    findings.push(selection.finding(`expected MATCHER or HEADER, found ${JSON.stringify(selection.json())}`));
  } else if (!hasOverride(specifier)) {
    findings.push(selection.finding("expected override_metadata_namespace in the specifier beside HEADER, found none"));
  } else if (ownMetadata(route)?.field(ALLOWED_CLUSTERS) !== undefined) {
    findings.push(selection.finding("expected no allowed_clusters beside HEADER, which takes any name, found some"));
  }
  return { because: "cluster_selection: HEADER takes any name of a cluster", at: originOf(selection) };
}

function ownMetadata(route: Cursor): Cursor | undefined {
  return route.at("metadata", "filter_metadata", METADATA_NAMESPACE);
}
