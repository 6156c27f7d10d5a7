// Pieces of native configuration that several tests have.

import type { Config } from "./case.js";

const TYPE = "type.googleapis.com/envoy";

/** A priority group whose clusters have equal weights. */
export function group(...names: string[]): Config {
  return { name: "g", clusters: names.map((cluster_name) => ({ cluster_name, weight: 1 })) };
}

/** The field of a route's action that holds a priority-group specifier; `more` are further fields of the specifier. */
export function priorityGroups(priority_groups: Config[], more: Config = {}): Config {
  const type = `${TYPE}.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`;
  const typed_config = { "@type": type, ...more, priority_groups };
  const name = "envoy.router.cluster_specifier_plugin.priority_group";
  return { inline_cluster_specifier_plugin: { extension: { name, typed_config } } };
}

/** A Lua filter that leaves the route cache to its script. */
export function lua(inline_string: string): Config {
  const type = `${TYPE}.extensions.filters.http.lua.v3.Lua`;
  const typed_config = { "@type": type, default_source_code: { inline_string }, clear_route_cache: false };
  return { name: "envoy.filters.http.lua", typed_config };
}

/** A filter that writes dynamic metadata. */
export function setMetadata(metadata_namespace: string, value: Config): Config {
  const type = `${TYPE}.extensions.filters.http.set_metadata.v3.Config`;
  const typed_config = { "@type": type, metadata: [{ metadata_namespace, value }] };
  return { name: "envoy.filters.http.set_metadata", typed_config };
}
