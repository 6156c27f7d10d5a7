// What the configurations of the memory benchmark are made of.

import { parse, stringify } from "yaml";
import { lower } from "../../cli/lower.js";
import { priorityGroups, type Upstreams } from "../scenarios.js";

export type Json = Record<string, unknown>;

export const GOOGLE = "type.googleapis.com/envoy.";

/** Where the clusters' hosts are, and whether the configuration is lowered. */
export interface Origin {
  upstreams: Upstreams;
  /** The path of the built module; without it what they configure is native, as far as native Envoy has it. */
  wasm: string | undefined;
}

/** A configuration with native features, made what its origin says. */
export function made<T>(native: T, { wasm }: Origin): T {
  return wasm === undefined ? withoutSpecifiers(native) : lowered(native, wasm);
}

function lowered<T>(native: T, wasm: string): T {
  return parse(lower(stringify(native, { aliasDuplicateObjects: false }), { file: "memory.yaml", wasm }).text) as T;
}

// Native Envoy's own route specifiers are others.
function withoutSpecifiers<T>(native: T): T {
  const text = JSON.stringify(native, (key, value: unknown) => (key === "route_specifiers" ? undefined : value));
  return JSON.parse(text) as T;
}

/** The first group of a chain; each `variant` is another chain. */
export function weights(variant: number): Json[] {
  return [
    { cluster_name: "a1", weight: 80 + variant },
    { cluster_name: "a2", weight: 20 },
  ];
}

/** The route of `/name`, with two retries. */
export function route(name: string, action: Json): Json {
  const retry_policy = {
    ...{ retry_on: "5xx", num_retries: 2, refresh_cluster_on_retry: true },
    retry_back_off: { base_interval: "0.001s", max_interval: "0.002s" },
  };
  return { name, match: { path_separated_prefix: `/${name}` }, route: { ...action, retry_policy } };
}

/** The route of `/name`, answered by Envoy itself. */
export function direct(name: string, status: number): Json {
  return { name, match: { path_separated_prefix: `/${name}` }, direct_response: { status } };
}

export function routeConfig(name: string, routes: Json[]): Json {
  return { name, virtual_hosts: [{ name: "all", domains: ["*"], routes }] };
}

/** @param routes `route_config` or `rds` of the connection manager. */
export function listener(name: string, filters: Json[], routes: Json): Json {
  const manager = {
    "@type": `${GOOGLE}extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: name,
    ...routes,
    http_filters: [
      ...filters,
      { name: "router", typed_config: { "@type": `${GOOGLE}extensions.filters.http.router.v3.Router` } },
    ],
  };
  const filter_chains = [{ filters: [{ name: "http", typed_config: manager }] }];
  return { name, address: address(0), filter_chains };
}

/** A listener that the bootstrap has, with a route to each of `count` distinct chains: `/0`, `/1`, … */
export function chainsListener(count: number): Json {
  const routes = Array.from({ length: count }, (_, i) => route(String(i), priorityGroups(weights(i))));
  return listener("chains", [], { route_config: routeConfig("chains", routes) });
}

// By default three requests may be retried at a time.
const MANY_RETRIES = { thresholds: [{ max_retries: 10_000 }] };

export function servingClusters({ ok }: Upstreams): Json[] {
  return ["a1", "a2", "b", "c"].map((name) => cluster(name, [ok]));
}

/** Those that serve, one that fails, one without a host, and two composites. */
export function clusters(upstreams: Upstreams): Json[] {
  return [
    ...servingClusters(upstreams),
    cluster("down", [upstreams.failing]),
    cluster("empty", []),
    composite("all", ["a1", "b", "c"]),
    composite("with-holes", ["empty", "down", "b"]),
  ];
}

function cluster(name: string, ports: number[]): Json {
  const lb_endpoints = ports.map((port) => ({ endpoint: { address: address(port) } }));
  return {
    name,
    type: "STATIC",
    connect_timeout: "5s",
    load_assignment: { cluster_name: name, endpoints: lb_endpoints.length === 0 ? [] : [{ lb_endpoints }] },
    circuit_breakers: MANY_RETRIES,
  };
}

function composite(name: string, members: string[]): Json {
  const typed_config = {
    "@type": `${GOOGLE}extensions.clusters.composite.v3.ClusterConfig`,
    clusters: members.map((member) => ({ name: member })),
  };
  const cluster_type = { name: "envoy.clusters.composite", typed_config };
  return { name, lb_policy: "CLUSTER_PROVIDED", cluster_type, circuit_breakers: MANY_RETRIES };
}

function address(port_value: number): Json {
  return { socket_address: { address: "127.0.0.1", port_value } };
}
