import type { Cursor } from "../yaml/cursor.js";
import type { Editor } from "../yaml/tree.js";
import type { Json } from "../yaml/scalar.js";
import { changeItems } from "./lists.js";
import { moduleOnly } from "./module-only.js";
import { HTTP_PROTOCOL_OPTIONS, TYPE } from "./types.js";

/** Name of the listener and the cluster that tell whether another cluster has a host. */
export const PROBE = "attempt_router_probe";
/** The bootstrap extension that lets a bootstrap, or LDS, have listeners inside Envoy. */
export const PROBE_EXTENSION = "envoy.bootstrap.internal_listener";
const CLUSTER_HEADER = "x-attempt-router-probe";

/** The cluster through which the module reaches the probe's listener. */
export function probeCluster(): Json {
  const endpoint = { address: { envoy_internal_address: { server_listener_name: PROBE } } };
  return {
    name: PROBE,
    type: "STATIC",
    connect_timeout: "1s",
    load_assignment: { cluster_name: PROBE, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
    ...moduleOnly([{ any: true }]),
  };
}

/**
 * Puts into a bootstrap what tells whether a cluster has a host: a listener inside Envoy whose route goes to the
 * cluster that a header names, and whose upstream chain refuses everything. The host is then chosen, and nothing is
 * sent to it, not even a connection.
 * @param guarded The clusters that are asked through a {@link guardCluster}.
 */
export function addProbe(root: Cursor, guarded: readonly string[], editor: Editor): void {
  const resources = root.field("static_resources");
  if (root.map === undefined || resources === undefined) return;
  changeItems(resources, "listeners", new Set(), [probeListener(guarded)], editor);
  const extensions = root.list("bootstrap_extensions");
  if (extensions.some((one) => one.field("typed_config")?.type() === TYPE.internalListener)) return;
  const typed_config = { "@type": TYPE.internalListener };
  const extension = { name: PROBE_EXTENSION, typed_config };
  changeItems(root, "bootstrap_extensions", new Set(), [extension], editor, "static_resources");
}

/** The listener of {@link addProbe}, for a file that has no bootstrap. Envoy takes it only with `PROBE_EXTENSION`. */
export function probeListener(guarded: readonly string[]): Json {
  const routes = [...guarded.map(guardedRoute), { match: { prefix: "/" }, route: probeRoute() }];
  const manager = {
    "@type": TYPE.connectionManager,
    stat_prefix: PROBE,
    generate_request_id: false,
    route_config: {
      name: PROBE,
      virtual_hosts: [{ name: PROBE, domains: ["*"], routes }],
    },
    http_filters: [{ name: "envoy.filters.http.router", typed_config: probeRouter() }],
  };
  const filters = [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }];
  return { name: PROBE, internal_listener: {}, filter_chains: [{ filters }] };
}

// The breakers of the default priority are none of the probe's business, and would answer in its place.
function probeRoute(): Json {
  return { cluster_header: CLUSTER_HEADER, priority: "HIGH" };
}

function guardedRoute(name: string): Json {
  const headers = [{ name: CLUSTER_HEADER, string_match: { exact: name } }];
  return { match: { prefix: "/", headers }, route: { cluster: guardName(name), priority: "HIGH" } };
}

function guardName(name: string): string {
  return `${PROBE}/${name}`;
}

/**
 * Through this aggregate a cluster is asked whose own upstream filters, unknown ones perhaps, would stand in the place of those
 * that refuse: in force are those of the cluster that the route names.
 */
export function guardCluster(name: string): Json {
  const explicit_http_config = { http_protocol_options: {} };
  const options = { "@type": `type.googleapis.com/${HTTP_PROTOCOL_OPTIONS}`, explicit_http_config };
  return {
    name: guardName(name),
    connect_timeout: "1s",
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: {
      name: "envoy.clusters.aggregate",
      typed_config: { "@type": TYPE.aggregateCluster, clusters: [name] },
    },
    typed_extension_protocol_options: { [HTTP_PROTOCOL_OPTIONS]: { ...options, http_filters: refusingFilters() } },
  };
}

function probeRouter(): Json {
  const upstream_http_filters = refusingFilters();
  return { "@type": TYPE.router, suppress_envoy_headers: true, dynamic_stats: false, upstream_http_filters };
}

function refusingFilters(): Json {
  return [
    {
      name: "envoy.filters.http.upstream_rbac",
      typed_config: { "@type": TYPE.rbac, rules: { action: "ALLOW", policies: {} } },
    },
    { name: "envoy.filters.http.upstream_codec", typed_config: { "@type": TYPE.upstreamCodec } },
  ];
}
