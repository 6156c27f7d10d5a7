// The configurations that are compared. All serve the same chain from the same upstreams.

import { stringify } from "yaml";
import { lower, type LowerOptions } from "../cli/lower.js";

export type Json = Record<string, unknown>;

const GOOGLE = "type.googleapis.com/envoy.";
export const WEIGHTED = [
  { cluster_name: "a1", weight: 80 },
  { cluster_name: "a2", weight: 20 },
];
export const SINGLE = [{ cluster_name: "a1", weight: 100 }];

/** Ports of an upstream that answers 200, and of one that answers 503. */
export interface Upstreams {
  ok: number;
  failing: number;
}

/** Which clusters fail, by the first letter of their names. */
export type Failing = "" | "a" | "ab";

/** What a bootstrap has besides the action of its route. */
export interface Parts {
  fails?: Failing;
  /** Before the router. */
  filters?: Json[];
  /** Before the upstream codec. */
  upstreamFilters?: Json[];
  /** Route specifiers of the route. */
  specifiers?: Json[];
  /** Metadata of the route for the module. */
  settings?: Json;
  /** Has the router write the number of the attempt, as `lower` has it. */
  attemptCount?: boolean;
  /** Besides a1, a2, b and c. */
  clusters?: Json[];
}

/** A bootstrap whose route `/` has this action; `/plain` has a plain cluster. */
export function bootstrap(action: Json, { ok, failing }: Upstreams, parts: Parts = {}): string {
  const { fails = "", filters = [], upstreamFilters = [], clusters = [] } = parts;
  const retry_policy = { retry_on: "5xx,reset,connect-failure", num_retries: 2, refresh_cluster_on_retry: true };
  const retry_back_off = { base_interval: "0.001s", max_interval: "0.002s" };
  const manager = {
    "@type": `${GOOGLE}extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "bench",
    route_config: {
      name: "bench",
      virtual_hosts: [
        {
          name: "all",
          domains: ["*"],
          ...(parts.attemptCount ? { include_request_attempt_count: true } : {}),
          routes: [
            { match: { prefix: "/plain" }, route: { cluster: "b", timeout: "0s" } },
            {
              match: { prefix: "/" },
              route: { ...action, timeout: "0s", retry_policy: { ...retry_policy, retry_back_off } },
              ...(parts.specifiers ? { route_specifiers: parts.specifiers } : {}),
              ...(parts.settings ? { metadata: { filter_metadata: { attempt_router: parts.settings } } } : {}),
            },
          ],
        },
      ],
    },
    http_filters: [...filters, router(upstreamFilters)],
  };
  const address = (port: number) => ({ socket_address: { address: "127.0.0.1", port_value: port } });
  const cluster = (name: string) => ({
    name,
    type: "STATIC",
    connect_timeout: "1s",
    load_assignment: {
      cluster_name: name,
      endpoints: [
        { lb_endpoints: [{ endpoint: { address: address(fails.includes(name.charAt(0)) ? failing : ok) } }] },
      ],
    },
  });
  const chain = { filters: [{ name: "http", typed_config: manager }] };
  return stringify(
    {
      admin: { address: address(0) },
      // What the main thread does by the clock is no part of a request.
      stats_flush_interval: "299s",
      static_resources: {
        listeners: [{ name: "bench", address: address(0), filter_chains: [chain] }],
        clusters: [...["a1", "a2", "b", "c"].map(cluster), ...clusters],
      },
    },
    { aliasDuplicateObjects: false },
  );
}

function router(upstreamFilters: Json[]): Json {
  const type = `${GOOGLE}extensions.filters.http`;
  const codec = { name: "codec", typed_config: { "@type": `${type}.upstream_codec.v3.UpstreamCodec` } };
  const upstream = upstreamFilters.length > 0 ? { upstream_http_filters: [...upstreamFilters, codec] } : {};
  return { name: "router", typed_config: { "@type": `${type}.router.v3.Router`, ...upstream } };
}

/** The action of the native priority-group specifier with this first group. */
export function priorityGroups(first: Json[], more: Json = {}): Json {
  const groups = [first, [{ cluster_name: "b", weight: 100 }], [{ cluster_name: "c", weight: 100 }]];
  const typed_config = {
    "@type": `${GOOGLE}extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`,
    priority_groups: groups.map((clusters, i) => ({ name: `g${i + 1}`, clusters })),
    ...more,
  };
  return specifier("priority_group", typed_config);
}

/** `count` route specifiers that override the time-out where `when` holds. */
export function timeoutOverrides(count: number, when: Json): Json[] {
  const typed_config = { "@type": "type.googleapis.com/attempt_router.v1.RouteOverride", when, timeout: "5s" };
  return Array.from({ length: count }, (_, i) => ({ name: `s${i + 1}`, typed_config }));
}

/** A condition that holds for the requests of the benchmark, and one that fails at its first look at a header. */
export const HOLDS = { methods: ["GET"] };
export const FAILS = { headers: [{ name: "x-absent", present_match: true }] };

/** A stock filter that does to the dynamic metadata what an external processor would: `size` bytes nobody asks for. */
export function foreignMetadata(size: number): Json {
  return {
    name: "metadata",
    typed_config: {
      "@type": `${GOOGLE}extensions.filters.http.set_metadata.v3.Config`,
      metadata: [
        { metadata_namespace: "override", value: { priority_groups: [{ name: "g2" }, { name: "g3" }] } },
        { metadata_namespace: "foreign", value: { text: "x".repeat(size) } },
      ],
    },
  };
}

/** A stock filter that changes nothing, but after which a filter cannot know that the request is still on its route. */
export const EARLIER = {
  name: "earlier",
  typed_config: { "@type": `${GOOGLE}extensions.filters.http.header_mutation.v3.HeaderMutation`, mutations: {} },
};

/** A native composite cluster over a1, b and c. */
export function compositeCluster(): Json {
  const typed_config = {
    "@type": `${GOOGLE}extensions.clusters.composite.v3.ClusterConfig`,
    clusters: ["a1", "b", "c"].map((name) => ({ name })),
  };
  const cluster_type = { name: "envoy.clusters.composite", typed_config };
  return { name: "composite", connect_timeout: "1s", lb_policy: "CLUSTER_PROVIDED", cluster_type };
}

/** A wasm filter with the module at `wasm` that does nothing. */
export function noopFilter(wasm: string): Json {
  const config = { name: "noop", vm_config: vmConfig(wasm) };
  return { name: "noop", typed_config: { "@type": `${GOOGLE}extensions.filters.http.wasm.v3.Wasm`, config } };
}

/** The virtual machine of a wasm filter. */
export function vmConfig(filename: string): Json {
  return { runtime: "envoy.wasm.runtime.v8", code: { local: { filename } } };
}

/** What `attempt-router lower` makes of a bootstrap. */
export function lowered(text: string, wasm: string, options: LowerOptions = {}): string {
  return lower(text, { file: "bench.yaml", wasm, ...options }).text;
}

/** The action of a route with this cluster specifier. */
export function specifier(name: string, typed_config: Json): Json {
  return {
    inline_cluster_specifier_plugin: {
      extension: { name: `envoy.router.cluster_specifier_plugin.${name}`, typed_config },
    },
  };
}
