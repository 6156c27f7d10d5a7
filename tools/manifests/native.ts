import { parse, stringify } from "yaml";
import { lower } from "../../cli/lower.js";

/** A message of Envoy's API, in JSON form. */
export type Message = Record<string, unknown>;

/** Names that a control plane gives to what it generates. */
export interface Names {
  listener: string;
  routes: string;
  virtualHost: string;
  /** The route whose clusters are replaced. */
  route: string;
  /** A cluster by the name of its service. */
  cluster: (service: string) => string;
  /** Filters that it puts before the router. */
  filters: readonly Message[];
  /** What it writes into the action of every route. */
  action: Message;
}

/** What becomes of a control plane's listener and routes. */
export interface Lowered {
  /** Filters that were put before the router, in order; those of the module have their Wasm config. */
  filters: Message[];
  /** The router's upstream filters; undefined where it needs none. */
  upstreamFilters: Message[] | undefined;
  virtualHost: Message & { routes: Message[] };
}

const TYPE = "type.googleapis.com/envoy.";
export const WASM_TYPE = `${TYPE}extensions.filters.http.wasm.v3.Wasm`;
export const ROUTER: Message = {
  name: "envoy.filters.http.router",
  typed_config: { "@type": `${TYPE}extensions.filters.http.router.v3.Router` },
};
export const SERVICES = ["provider-a", "provider-b"];

/** The listener and the routes that a control plane generates, with the route as native Envoy would take it. */
export function nativeResources(names: Names): [Message, Message] {
  return [listener(names), routes(names)];
}

/** @param attemptHeader false: the form with both roles of the module */
export function lowerResources(names: Names, attemptHeader: boolean): Lowered {
  const text = stringify({ resources: nativeResources(names) }, { aliasDuplicateObjects: false });
  const output = lower(text, { wasm: "attempt-router.wasm", attemptHeader }).text;
  const [first, second] = (parse(output) as { resources: [Message, Message] }).resources;
  const filters = httpFilters(first);
  const { typed_config: router } = filters.at(-1) as { typed_config: Message };
  const [virtualHost] = second["virtual_hosts"] as Lowered["virtualHost"][];
  if (virtualHost === undefined) throw new Error("expected a virtual host");
  return {
    filters: filters.slice(names.filters.length, -1),
    upstreamFilters: router["upstream_http_filters"] as Message[] | undefined,
    virtualHost,
  };
}

export function httpFilters(one: Message): Message[] {
  const chain = one["default_filter_chain"] as { filters: [{ typed_config: { http_filters: Message[] } }] };
  return chain.filters[0].typed_config.http_filters;
}

function listener({ listener: name, routes: route_config_name, filters }: Names): Message {
  const manager = {
    "@type": `${TYPE}extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "http",
    rds: { route_config_name, config_source: { ads: {}, resource_api_version: "V3" } },
    http_filters: [...filters, ROUTER],
  };
  return {
    "@type": `${TYPE}config.listener.v3.Listener`,
    name,
    address: { socket_address: { address: "0.0.0.0", port_value: 8080 } },
    default_filter_chain: { filters: [{ name: HCM, typed_config: manager }] },
  };
}

export const HCM = "envoy.filters.network.http_connection_manager";

function routes({ routes: name, virtualHost, route: routeName, cluster, action }: Names): Message {
  const priority_groups = [
    { name: "both", clusters: SERVICES.map((service) => ({ cluster_name: cluster(service), weight: 1 })) },
    { name: "last", clusters: [{ cluster_name: cluster("provider-b"), weight: 1 }] },
  ];
  const specifier = {
    "@type": `${TYPE}extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`,
    priority_groups,
  };
  const extension = { name: "envoy.router.cluster_specifier_plugin.priority_group", typed_config: specifier };
  const route = {
    match: { prefix: "/v1/messages" },
    name: routeName,
    route: {
      ...action,
      inline_cluster_specifier_plugin: { extension },
      retry_policy: { retry_on: "5xx,reset,connect-failure", num_retries: 1, refresh_cluster_on_retry: true },
    },
  };
  const virtual_hosts = [{ name: virtualHost, domains: ["*"], routes: [route] }];
  return { "@type": `${TYPE}config.route.v3.RouteConfiguration`, name, virtual_hosts };
}
