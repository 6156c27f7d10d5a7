// The configurations that are compared. All serve the same chain from the same upstreams.

import { stringify } from "yaml";
import { lower } from "../cli/lower.js";

type Json = Record<string, unknown>;

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

/** A bootstrap whose route `/` has this action and these route specifiers; `/plain` has a plain cluster. */
export function bootstrap(
  action: Json,
  { ok, failing }: Upstreams,
  fails: Failing = "",
  filters: Json[] = [],
  specifiers: Json[] = [],
): string {
  const router = { name: "router", typed_config: { "@type": `${GOOGLE}extensions.filters.http.router.v3.Router` } };
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
          routes: [
            { match: { prefix: "/plain" }, route: { cluster: "b", timeout: "0s" } },
            {
              match: { prefix: "/" },
              route: { ...action, timeout: "0s", retry_policy: { ...retry_policy, retry_back_off } },
              ...(specifiers.length > 0 ? { route_specifiers: specifiers } : {}),
            },
          ],
        },
      ],
    },
    http_filters: [...filters, router],
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
        clusters: ["a1", "a2", "b", "c"].map(cluster),
      },
    },
    { aliasDuplicateObjects: false },
  );
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

/** A Lua filter that picks like the module does, and a matcher that reads the pick from a request header. */
export function luaPeer(upstreams: Upstreams): string {
  const header = {
    name: "slot",
    typed_config: { "@type": `${GOOGLE}type.matcher.v3.HttpRequestHeaderMatchInput`, header_name: "x-slot-1" },
  };
  const attempt = {
    name: "attempt",
    typed_config: {
      "@type": `${GOOGLE}type.matcher.v3.HttpRequestHeaderMatchInput`,
      header_name: "x-envoy-attempt-count",
    },
  };
  const to = (cluster: string) => ({
    action: {
      name: cluster,
      typed_config: { "@type": `${GOOGLE}extensions.router.cluster_specifiers.matcher.v3.ClusterAction`, cluster },
    },
  });
  const first = { matcher_tree: { input: header, exact_match_map: { map: { a2: to("a2") } } }, on_no_match: to("a1") };
  const later = {
    matcher_tree: { input: attempt, exact_match_map: { map: { "1": to("b"), "2": to("c") } } },
    on_no_match: { matcher: first },
  };
  const action = specifier("matcher", {
    "@type": `${GOOGLE}extensions.router.cluster_specifiers.matcher.v3.MatcherClusterSpecifier`,
    cluster_matcher: later,
  });
  const lua = {
    name: "lua",
    typed_config: {
      "@type": `${GOOGLE}extensions.filters.http.lua.v3.Lua`,
      default_source_code: { inline_string: LUA },
    },
  };
  return bootstrap(action, upstreams, "", [lua]);
}

const LUA = `
function envoy_on_request(handle)
  local headers = handle:headers()
  if headers:get("x-envoy-attempt-count") then headers:remove("x-envoy-attempt-count") end
  if math.random(0, 99) >= 80 then
    headers:replace("x-slot-1", "a2")
    handle:clearRouteCache()
  end
end
`;

/** A filter chain with the module at `wasm` that does nothing, in the downstream chain. */
export function noopFilter(wasm: string): Json {
  const config = {
    name: "noop",
    vm_config: { runtime: "envoy.wasm.runtime.v8", code: { local: { filename: wasm } } },
  };
  return { name: "noop", typed_config: { "@type": `${GOOGLE}extensions.filters.http.wasm.v3.Wasm`, config } };
}

/** What `attempt-router lower` makes of a bootstrap. */
export function lowered(text: string, wasm: string): string {
  return lower(text, { file: "bench.yaml", wasm }).text;
}

/** The lowered configuration without the module: what the slots cost by themselves. */
export function withoutModule(text: string, wasm: string): string {
  return lowered(text, wasm).replaceAll("disabled: false", "disabled: true");
}

function specifier(name: string, typed_config: Json): Json {
  return {
    inline_cluster_specifier_plugin: {
      extension: { name: `envoy.router.cluster_specifier_plugin.${name}`, typed_config },
    },
  };
}
