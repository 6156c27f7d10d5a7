import { parse, stringify } from "yaml";
import { lower } from "../../cli/lower.js";
import { WASM } from "../support/lowering.js";

const TYPE = "type.googleapis.com/envoy.";

/** A chain of two groups: one of two providers that fail, then one that serves. */
export interface Chain {
  first: [string, string];
  then: string;
}

/** Two chains without a common cluster, which updates alternate between. */
export const CHAINS: readonly [Chain, Chain] = [
  { first: ["a1_down", "a2_down"], then: "a" },
  { first: ["b1_down", "b2_down"], then: "b" },
];

export const PROVIDERS = CHAINS.flatMap(({ first, then }) => [...first, then]);

export function chainOf(version: number): Chain {
  return CHAINS[version % 2] as Chain;
}

/** Envoy's bootstrap: everything but the control plane comes from it. */
export function bootstrap(xdsPort: number): string {
  const http2 = `${TYPE}extensions.upstreams.http.v3.HttpProtocolOptions`;
  const ads = { resource_api_version: "V3", ads: {} };
  return stringify({
    node: { id: "test", cluster: "test" },
    admin: { address: address(0) },
    dynamic_resources: {
      lds_config: ads,
      cds_config: ads,
      ads_config: {
        api_type: "GRPC",
        transport_api_version: "V3",
        grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }],
      },
    },
    static_resources: {
      clusters: [
        {
          name: "xds",
          connect_timeout: "1s",
          load_assignment: { cluster_name: "xds", endpoints: [{ lb_endpoints: [endpoint(xdsPort)] }] },
          typed_extension_protocol_options: {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
              "@type": http2,
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
        },
      ],
    },
  });
}

/**
 * The lowered resources of one version: a listener whose routes come over RDS, the routes, the clusters and their
 * endpoints. Responses say in `x-chain` which version their route is of.
 */
export function snapshot(version: number, ports: ReadonlyMap<string, number>): unknown[] {
  const names = [...ports.keys()];
  const native = {
    resources: [listener(), routes(version), ...names.map(cluster), ...names.map((name) => endpoints(name, ports))],
  };
  const { text, warnings } = lower(stringify(native, { aliasDuplicateObjects: false }), { wasm: WASM });
  if (warnings.length > 0) throw new Error(warnings.map(({ message }) => message).join("\n"));
  return (parse(text) as { resources: unknown[] }).resources;
}

function listener() {
  const manager = {
    "@type": `${TYPE}extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "ingress",
    rds: { route_config_name: "routes", config_source: { resource_api_version: "V3", ads: {} } },
    http_filters: [{ name: "router", typed_config: { "@type": `${TYPE}extensions.filters.http.router.v3.Router` } }],
  };
  const filter_chains = [{ filters: [{ name: "manager", typed_config: manager }] }];
  return { "@type": `${TYPE}config.listener.v3.Listener`, name: "ingress", address: address(0), filter_chains };
}

function routes(version: number) {
  const { first, then } = chainOf(version);
  const priority_groups = [
    // Weights differ from version to version, and so do the settings.
    { name: "first", clusters: first.map((cluster_name) => ({ cluster_name, weight: version + 1 })) },
    { name: "then", clusters: [{ cluster_name: then, weight: 1 }] },
  ];
  const specifier = {
    "@type": `${TYPE}extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`,
    priority_groups,
  };
  const extension = { name: "envoy.router.cluster_specifier_plugin.priority_group", typed_config: specifier };
  const route = {
    match: { prefix: "/" },
    response_headers_to_add: [{ header: { key: "x-chain", value: String(version) } }],
    route: {
      inline_cluster_specifier_plugin: { extension },
      retry_policy: { retry_on: "5xx", num_retries: 1, refresh_cluster_on_retry: true },
    },
  };
  const virtual_hosts = [{ name: "all", domains: ["*"], routes: [route] }];
  return { "@type": `${TYPE}config.route.v3.RouteConfiguration`, name: "routes", virtual_hosts };
}

function cluster(name: string) {
  return {
    "@type": `${TYPE}config.cluster.v3.Cluster`,
    name,
    type: "EDS",
    connect_timeout: "5s",
    eds_cluster_config: { eds_config: { resource_api_version: "V3", ads: {} } },
    // By default three retries may wait at a time.
    circuit_breakers: { thresholds: [{ max_retries: 100 }] },
  };
}

function endpoints(name: string, ports: ReadonlyMap<string, number>) {
  const type = `${TYPE}config.endpoint.v3.ClusterLoadAssignment`;
  return { "@type": type, cluster_name: name, endpoints: [{ lb_endpoints: [endpoint(ports.get(name) ?? 0)] }] };
}

function endpoint(port: number) {
  return { endpoint: { address: address(port) } };
}

function address(port_value: number) {
  return { socket_address: { address: "127.0.0.1", port_value } };
}
