// A route of Envoy Gateway's and a wish → the route as native Envoy takes it.

import type { ConfigObject } from "../../lowerer.js";
import type { Json } from "../../yaml/scalar.js";
import { METADATA_NAMESPACE, TYPE } from "../../lower/types.js";
import { at, type ClusterIndex } from "./gateway-metadata.js";
import { groupsOf, isObject, SETTINGS, SPECIFIER_FIELDS, WISH, WishError, type Wish } from "./wish.js";

/** What names a cluster in a route's action, or goes with what does. */
const REPLACED = [
  ...["cluster", "weighted_clusters", "cluster_header", "cluster_specifier_plugin", "inline_cluster_specifier_plugin"],
];

/**
 * The route with the wished groups in the place of its clusters; everything else of it stays.
 * @throws WishError where that cannot be.
 */
export function nativeRoute(route: ConfigObject, wish: Wish, clusters: ClusterIndex): ConfigObject {
  const action = route["route"];
  if (!isObject(action)) throw new WishError("expected a route that leads to backends, found a redirect or a response");
  const groups = groupsOf(wish).map(({ name, backends }) => ({
    name,
    clusters: backends.map(({ ref, weight }) => ({
      cluster_name: clusters.find(ref, wish.namespace),
      weight: weight ?? 1,
    })),
  }));
  const specifier = { "@type": TYPE.priorityGroup, priority_groups: groups, ...picked(wish.spec, SPECIFIER_FIELDS) };
  const plugin = {
    extension: { name: "envoy.router.cluster_specifier_plugin.priority_group", typed_config: specifier },
  };
  const named = groups.flatMap((group) => group.clusters.map(({ cluster_name }) => cluster_name));
  return {
    ...route,
    metadata: metadataOf(route, wish, [...new Set(named)]),
    route: { ...without(action, ...REPLACED), inline_cluster_specifier_plugin: plugin, ...retryOf(action, wish) },
  };
}

/** The route answers every request that it matches with 500: whose wish is wrong must not be taken for a route without. */
export function refusedRoute(route: ConfigObject): ConfigObject {
  const body = { inline_string: "the priority groups of this route are not valid\n" };
  return { ...withoutWish(without(route, "route", "redirect")), direct_response: { status: 500, body } };
}

export function withoutWish(route: ConfigObject): ConfigObject {
  return withMetadata(route, without(filterMetadata(route), WISH));
}

export function withWish(route: ConfigObject, wish: Wish): ConfigObject {
  return withMetadata(route, { ...filterMetadata(route), [WISH]: { ...wish } });
}

function filterMetadata(route: ConfigObject): ConfigObject {
  const found = at(route, "metadata", "filter_metadata");
  return isObject(found) ? found : {};
}

function withMetadata(route: ConfigObject, filter_metadata: ConfigObject): ConfigObject {
  const metadata = isObject(route["metadata"]) ? route["metadata"] : {};
  return { ...route, metadata: { ...metadata, filter_metadata } };
}

/** An override may name the clusters of the groups and no others: nobody reaches another namespace's by it. */
function metadataOf(route: ConfigObject, { spec }: Wish, named: string[]): Json {
  const settings = picked(spec, SETTINGS);
  if ("override_metadata_namespace" in spec) settings["allowed_clusters"] = named;
  const others = without(filterMetadata(route), WISH);
  const own = Object.keys(settings).length > 0 ? { [METADATA_NAMESPACE]: settings } : {};
  return { ...(isObject(route["metadata"]) ? route["metadata"] : {}), filter_metadata: { ...others, ...own } };
}

/** Each attempt of a route looks for its cluster anew: without that, all would go to the first. */
function retryOf(action: ConfigObject, { spec }: Wish): ConfigObject {
  const policy = spec["retry"] ?? action["retry_policy"];
  if (policy === undefined) return {};
  if (!isObject(policy)) throw new WishError(`spec.retry: expected an object, found ${JSON.stringify(policy)}`);
  return { retry_policy: { ...policy, refresh_cluster_on_retry: true } };
}

function picked(spec: ConfigObject, fields: readonly string[]): ConfigObject {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => fields.includes(field)));
}

/** A copy that lacks these fields. */
export function without(value: ConfigObject, ...fields: string[]): ConfigObject {
  return Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)));
}
