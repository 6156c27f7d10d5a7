import type { Finding } from "../findings.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import { routesOf, type Resources } from "../read/resources.js";
import type { Composites } from "./composites.js";
import { METADATA_NAMESPACE } from "./types.js";

const GUARD = "envoy.reloadable_features.composite_cluster_skip_clusters_without_hosts";

/** Whether the bootstrap's runtime lets composite clusters skip clusters without a host. */
export function runtimeSkips(root: Cursor): boolean {
  const layers = root.at("layered_runtime")?.list("layers") ?? [];
  const trees = [root.at("runtime", "base"), ...layers.map((layer) => layer.field("static_layer"))];
  const values = trees.flatMap((tree) => (tree === undefined ? [] : guardIn(tree, GUARD)));
  return values.at(-1) ?? true;
}

/** What runtime layers may say that only the proxy reads: lowered configuration does not follow them. */
export function unreadLayers(root: Cursor): Finding[] {
  const layers = root.at("layered_runtime")?.list("layers") ?? [];
  const unread = layers.flatMap((layer) => layer.field("rtds_layer") ?? layer.field("disk_layer") ?? []);
  return unread.map((layer) => layer.finding(UNREAD));
}

const UNREAD = `a value of ${GUARD} in this runtime layer has no effect: lower reads it from static layers, where composite clusters are lowered`;

/** The keys of a runtime layer are dotted, nested, or both. */
function guardIn(tree: Cursor, name: string): boolean[] {
  return tree.entries().flatMap(({ key, value }) => {
    if (key === name) return value.bool() ?? [];
    return name.startsWith(`${key}.`) ? guardIn(value, name.slice(key.length + 1)) : [];
  });
}

const NAME_FIELDS = ["cluster", "cluster_name", "cluster_names", "clusters"];
const ELSEWHERE =
  "expected a composite cluster only as the cluster of a route, among its weighted clusters, in its priority groups or as a mirror target, where it can be lowered, found";

/**
 * Reports the places where a composite cluster is named and that cannot be lowered: behind tcp_proxy, as the target of
 * Envoy's own calls.
 * @param known Offsets of the names that are lowered.
 */
export function otherUses(root: Cursor, composites: Composites, known: ReadonlySet<number>): Finding[] {
  const findings: Finding[] = [];
  const definitions = composites.offsets;
  // `name` under `static_resources.clusters` is that of a cluster itself.
  const resources = root.at("static_resources", "clusters")?.offset;
  const walk = (cursor: Cursor, field: string, parent: string): void => {
    if (cursor.offset === resources) field = "definitions";
    if (cursor.map !== undefined) {
      if (definitions.has(cursor.offset)) return;
      for (const { key, value } of cursor.entries()) walk(value, snakeCase(key), field);
    } else if (cursor.seq !== undefined) for (const item of cursor.items()) walk(item, field, parent);
    else if (namesCluster(field, parent)) report(cursor);
  };
  const report = (cursor: Cursor): void => {
    const name = cursor.string() ?? "";
    if (composites.has(name) && !known.has(cursor.offset)) findings.push(cursor.finding(`${ELSEWHERE} ${name}`));
  };
  walk(root, "", "");
  return findings;
}

/**
 * Reports the routes whose header may name a composite cluster: such a route keeps every attempt on the cluster of the first.
 * A route that lists in `allowed_clusters` what its header may name is taken by its word.
 */
export function byHeader(resources: Resources, composites: Composites): Finding[] {
  const sites = [...resources.connectionManagers.flatMap((site) => site.routeConfigs), ...resources.looseRouteConfigs];
  const routes = sites.flatMap(({ config }) => config.list("virtual_hosts").flatMap(routesOf));
  const found = new Map<number, Finding>();
  for (const route of routes) {
    const header = route.at("route", "cluster_header");
    const allowed = route.at("metadata", "filter_metadata", METADATA_NAMESPACE, "allowed_clusters");
    const safe = allowed?.seq !== undefined && !allowed.items().some((name) => composites.has(name.string() ?? ""));
    if (header !== undefined && !safe) found.set(header.offset, header.finding(BY_HEADER));
  }
  return [...found.values()];
}

const BY_HEADER =
  "expected no cluster_header that may name a composite cluster, whose attempts it could not tell apart, found one. Write " +
  "the clusters that the header may name as allowed_clusters into filter_metadata.attempt_router of the route's metadata";

/** `parent` is the field that holds the message or list in which `field` stands. */
function namesCluster(field: string, parent: string): boolean {
  if (field === "cluster_name") return parent !== "load_assignment";
  // The clusters of weighted_clusters are messages with a name.
  if (field === "name") return parent === "clusters";
  return NAME_FIELDS.includes(field);
}
