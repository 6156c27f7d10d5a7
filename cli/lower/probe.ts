import type { Cursor } from "../yaml/cursor.js";
import type { Editor } from "../yaml/edit.js";
import type { Json } from "../yaml/scalar.js";
import { changeItems } from "./lists.js";
import { TYPE } from "./types.js";

const PROBE = "attempt_router_probe";
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
  };
}

/**
 * Puts into a bootstrap what tells whether a cluster has a host: a listener inside Envoy whose route goes to the
 * cluster that a header names, and whose upstream chain refuses everything. The host is then chosen, and nothing is
 * sent to it, not even a connection.
 */
export function addProbe(root: Cursor, editor: Editor): void {
  const resources = root.field("static_resources");
  if (root.map === undefined || resources === undefined) return;
  changeItems(resources, "listeners", new Set(), [probeListener()], editor);
  const extensions = root.list("bootstrap_extensions");
  if (extensions.some((one) => one.field("typed_config")?.type() === TYPE.internalListener)) return;
  const typed_config = { "@type": TYPE.internalListener };
  const extension = { name: PROBE_EXTENSION, typed_config };
  changeItems(root, "bootstrap_extensions", new Set(), [extension], editor, "static_resources");
}

/** The listener of {@link addProbe}, for a file that has no bootstrap. Envoy takes it only with `PROBE_EXTENSION`. */
export function probeListener(): Json {
  const manager = {
    "@type": TYPE.connectionManager,
    stat_prefix: PROBE,
    generate_request_id: false,
    route_config: {
      name: PROBE,
      virtual_hosts: [{ name: PROBE, domains: ["*"], routes: [{ match: { prefix: "/" }, route: probeRoute() }] }],
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

function probeRouter(): Json {
  const upstream_http_filters = [
    {
      name: "envoy.filters.http.upstream_rbac",
      typed_config: { "@type": TYPE.rbac, rules: { action: "ALLOW", policies: {} } },
    },
    { name: "envoy.filters.http.upstream_codec", typed_config: { "@type": TYPE.upstreamCodec } },
  ];
  return { "@type": TYPE.router, suppress_envoy_headers: true, dynamic_stats: false, upstream_http_filters };
}
