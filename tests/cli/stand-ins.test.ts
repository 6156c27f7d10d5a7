// Clusters of priority groups that stand in for each other: what is written, and what is refused.

import { parse, stringify } from "yaml";
import { expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { TYPE } from "../../cli/lower/types.js";

interface Setup {
  settings?: object;
  groups?: string[][];
  /** Fields by cluster. */
  clusters?: Record<string, object>;
  route?: object;
  missing?: string[];
  more?: object[];
}

const OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const SKIP = { skip_clusters_without_hosts: true };

/** A bootstrap whose one route has these groups; each cluster has one endpoint. */
function config(setup: Setup = {}): string {
  const { groups = [["a", "b"], ["c"]], settings = SKIP, missing = [] } = setup;
  const typed_config = {
    "@type": TYPE.priorityGroup,
    priority_groups: groups.map((names, index) => ({
      name: `g${index + 1}`,
      clusters: names.map((cluster_name) => ({ cluster_name, weight: 1 })),
    })),
  };
  const route = {
    inline_cluster_specifier_plugin: { extension: { name: "groups", typed_config } },
    retry_policy: { retry_on: "5xx", num_retries: 1, refresh_cluster_on_retry: true },
    ...setup.route,
  };
  const metadata = { filter_metadata: { attempt_router: settings } };
  const routes = [{ match: { prefix: "/" }, name: "r", metadata, route }, ...(setup.more ?? [])];
  const manager = {
    "@type": TYPE.connectionManager,
    stat_prefix: "x",
    route_config: { name: "rc", virtual_hosts: [{ name: "vh", domains: ["*"], routes }] },
    http_filters: [{ name: "router", typed_config: { "@type": TYPE.router } }],
  };
  const names = [...new Set(groups.flat())].filter((name) => !missing.includes(name));
  const clusters = names.map((name) => ({ name, type: "STATIC", ...setup.clusters?.[name] }));
  const address = { socket_address: { address: "127.0.0.1", port_value: 1 } };
  const filters = [{ name: "http", typed_config: manager }];
  return stringify({
    static_resources: { listeners: [{ name: "l", address, filter_chains: [{ filters }] }], clusters },
  });
}

const lowered = (setup?: Setup) => lower(config(setup), { file: "s.yaml", wasm: "/m.wasm" });

/** The aggregates of a lowered file: by the pick's name, what it may use. */
function standIns(text: string): string[][] {
  const { static_resources } = parse(text) as { static_resources: { clusters: Aggregate[] } };
  return static_resources.clusters.flatMap((one) => (one.cluster_type ? [one.cluster_type.typed_config.clusters] : []));
}

interface Aggregate {
  name: string;
  cluster_type?: { typed_config: { clusters: string[] } };
}

test("each cluster that has others behind it becomes an aggregate, and needs no module for that", () => {
  const { text, report } = lowered({ groups: [["a"], ["b", "b"], ["c"], ["a"]] });
  expect(standIns(text)).toEqual([
    ["a", "b", "c"],
    ["b", "c", "a"],
    ["c", "a"],
  ]);
  expect(report.routes[0]).toMatchObject({ stand_ins: 3 });
  expect(lowered({ groups: [["a"], ["b"]] }).report.routes[0]).toMatchObject({ form: "static", stand_ins: 1 });
  expect(lowered({ groups: [["a"], ["b"]] }).text).not.toContain("wasm");
});

test("a cluster that is the only one left stands for itself, and without the setting all do", () => {
  expect(standIns(lowered({ groups: [["a"]] }).text)).toEqual([]);
  for (const settings of [{}, { skip_clusters_without_hosts: false }]) {
    expect(standIns(lowered({ settings }).text)).toEqual([]);
  }
});

test("an aggregate has what the pick sets for its routes, and not what is the cluster's own", () => {
  const a = {
    connect_timeout: "3s",
    health_checks: [{ timeout: "1s" }],
    circuit_breakers: { thresholds: [{ max_retries: 7 }] },
    metadata: { filter_metadata: { attempt_router: {}, mine: { x: 1 } } },
    typed_extension_protocol_options: {
      [OPTIONS]: { "@type": `type.googleapis.com/${OPTIONS}`, retry_policy: { num_retries: 2 } },
    },
  };
  const { static_resources } = parse(lowered({ groups: [["a"], ["b"]], clusters: { a } }).text) as {
    static_resources: { clusters: Record<string, unknown>[] };
  };
  const aggregate = static_resources.clusters.find(({ name }) => String(name).startsWith("a@"));
  expect(aggregate).toEqual({
    name: aggregate?.["name"],
    connect_timeout: "3s",
    circuit_breakers: a.circuit_breakers,
    metadata: { filter_metadata: { mine: { x: 1 } } },
    typed_extension_protocol_options: {
      [OPTIONS]: {
        "@type": `type.googleapis.com/${OPTIONS}`,
        retry_policy: { num_retries: 2, refresh_cluster_on_retry: true },
      },
    },
    alt_stat_name: "a",
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: {
      name: "envoy.clusters.aggregate",
      typed_config: { "@type": TYPE.aggregateCluster, clusters: ["a", "b"] },
    },
    common_lb_config: { healthy_panic_threshold: { value: 0 } },
  });
});

test("where the file cannot say that one healthy host is enough, a warning does", () => {
  const { warnings } = lowered({ clusters: { a: { type: "EDS" } } });
  expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining("only some hosts of a are healthy")]);
  expect(lowered().warnings).toEqual([]);
});

const options = (fields: object) => ({ typed_extension_protocol_options: { [OPTIONS]: fields } });
const cluster_type = {
  name: "envoy.clusters.composite",
  typed_config: { "@type": TYPE.compositeCluster, clusters: [] },
};

test.each<[string, Setup]>([
  ["c is not in this file", { missing: ["c"], more: [] }],
  ["b is a composite cluster", { clusters: { b: { cluster_type, lb_policy: "CLUSTER_PROVIDED" } } }],
  ["b has a provider", { clusters: { b: { metadata: { filter_metadata: { attempt_router: { provider: {} } } } } } }],
  ["c finds its host by the request", { clusters: { c: { type: "ORIGINAL_DST" } } }],
  ["b chooses among its hosts by the request", { clusters: { b: { lb_subset_config: {} } } }],
  ["c is of a type whose hosts", { clusters: { c: { cluster_type: { name: "other" } } } }],
  ["b has not the same http_filters as a", { clusters: { b: options({ http_filters: [{ name: "x" }] }) } }],
  [
    "b has not the same upstream_http_protocol_options as a",
    { clusters: { b: options({ upstream_http_protocol_options: { auto_sni: true } }) } },
  ],
  ["a retry_priority would count", { route: { retry_policy: { retry_on: "5xx", retry_priority: { name: "x" } } } }],
])("%s: refused with the place of the setting", (because, setup) => {
  const text = config(setup);
  const line = text.split("\n").findIndex((one) => one.includes("skip_clusters_without_hosts")) + 1;
  expect(() => lower(text, { file: "s.yaml", wasm: "/m.wasm" })).toThrow(
    new RegExp(`s.yaml:${line}:.*skip_clusters_without_hosts: expected .*: ${because}`),
  );
});

test("routes alone are refused: the aggregates have no place", () => {
  const { static_resources } = parse(config()) as {
    static_resources: { listeners: { filter_chains: { filters: { typed_config: { route_config: object } }[] }[] }[] };
  };
  const routes = static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config.route_config;
  expect(() => lower(stringify(routes), { file: "s.yaml", wasm: "/m.wasm" })).toThrow(
    "the clusters are not in this file",
  );
});
