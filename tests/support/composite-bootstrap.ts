import { stringify } from "yaml";
import { ANY_PORT } from "../../tools/envoy/process.js";

type Json = Record<string, unknown>;

const HTTP = "type.googleapis.com/envoy.extensions.filters.http";
const COMPOSITE = "type.googleapis.com/envoy.extensions.clusters.composite.v3.ClusterConfig";
const MANAGER = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** A native bootstrap with these routes, by the listener `ingress`, and clusters. */
export function bootstrapOf(routes: readonly Json[], clusters: readonly Json[]): string {
  const manager = {
    "@type": MANAGER,
    stat_prefix: "ingress",
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes }] },
    http_filters: [{ name: "router", typed_config: { "@type": `${HTTP}.router.v3.Router` } }],
  };
  const filters = [{ name: "manager", typed_config: manager }];
  const listeners = [{ name: "ingress", address: ANY_PORT, filter_chains: [{ filters }] }];
  const file = {
    node: { id: "test", cluster: "test" },
    admin: { address: ANY_PORT },
    static_resources: { listeners, clusters },
  };
  return stringify(file, { aliasDuplicateObjects: false });
}

/** A native composite cluster. */
export function compositeOf(name: string, members: readonly string[]): Json {
  const clusters = members.map((member) => ({ name: member }));
  const typed_config = { "@type": COMPOSITE, clusters };
  return { name, lb_policy: "CLUSTER_PROVIDED", cluster_type: { name: "envoy.clusters.composite", typed_config } };
}

/** A route that sends what begins with `prefix` to a cluster; `settings` are ours. */
export function routeTo(cluster: string, prefix: string, settings: Json, more: Json = {}): Json {
  const retry_policy = { retry_on: "5xx", num_retries: 1, retry_back_off: { base_interval: "0.002s" } };
  return {
    match: { prefix },
    metadata: { filter_metadata: { attempt_router: settings } },
    route: { cluster, retry_policy },
    ...more,
  };
}
