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
const PROVIDER = { filter_metadata: { attempt_router: { provider: {} } } };
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

test("a cluster of several lists gets its factor once", () => {
  const fields = (name: string) => ({ outlier_detection: {}, load_assignment: { cluster_name: name } });
  const clusters = Object.fromEntries(["a", "b", "c"].map((name) => [name, fields(name)]));
  const { static_resources } = parse(lowered({ clusters }).text) as { static_resources: { clusters: object[] } };
  const policy = { overprovisioning_factor: 4_000_000 };
  for (const cluster of static_resources.clusters.slice(0, 3)) {
    expect(cluster).toMatchObject({ load_assignment: { policy } });
  }
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
  [
    "b has a provider, and its endpoints are not in this file",
    { clusters: { b: { type: "EDS", metadata: PROVIDER } } },
  ],
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

const COOL = { cool_down: { statuses: [429] } };
const cool = (fields: object) => ({ settings: { cool_down: { statuses: [429], ...fields } } });
const matcherOf = (status: number) => ({
  error_matcher: {
    http_response_headers_match: { headers: [{ name: ":status", string_match: { exact: String(status) } }] },
  },
});

test("cool_down is outlier detection of every cluster, and what counts on the aggregates, too", () => {
  const { text, report } = lowered({ groups: [["a"], ["b"]], settings: COOL });
  const { static_resources } = parse(text) as { static_resources: { clusters: Record<string, unknown>[] } };
  expect(static_resources.clusters).toHaveLength(3);
  for (const cluster of static_resources.clusters) {
    const isAggregate = "cluster_type" in cluster;
    expect(cluster["typed_extension_protocol_options"]).toMatchObject({
      [OPTIONS]: { outlier_detection: matcherOf(429) },
    });
    expect(cluster["outlier_detection"] !== undefined).toBe(!isAggregate);
  }
  expect(static_resources.clusters[0]?.["outlier_detection"]).toMatchObject({
    ...{ consecutive_5xx: 1, base_ejection_time: "10s", max_ejection_time: "300s", interval: "1s" },
    ...{ max_ejection_percent: 100, split_external_local_origin_errors: true },
  });
  expect(report.routes[0]).toMatchObject({ form: "static", stand_ins: 1 });
  expect(text).not.toContain("wasm");
  expect(lower(text, { file: "again.yaml", wasm: "/m.wasm" }).text).toBe(text);
});

test("what else a cluster's protocol options say is kept", () => {
  const a = options({
    "@type": `type.googleapis.com/${OPTIONS}`,
    common_http_protocol_options: { idle_timeout: "1s" },
  });
  const { static_resources } = parse(lowered({ groups: [["a"], ["b"]], clusters: { a }, settings: COOL }).text) as {
    static_resources: { clusters: Record<string, unknown>[] };
  };
  for (const index of [0, 2]) {
    expect(static_resources.clusters[index]?.["typed_extension_protocol_options"]).toMatchObject({
      [OPTIONS]: { common_http_protocol_options: { idle_timeout: "1s" }, outlier_detection: matcherOf(429) },
    });
  }
});

const second = (settings: object) => ({
  match: { prefix: "/" },
  metadata: { filter_metadata: { attempt_router: settings } },
  route: {
    inline_cluster_specifier_plugin: {
      extension: {
        name: "groups",
        typed_config: {
          "@type": TYPE.priorityGroup,
          priority_groups: ["a", "b"].map((name) => ({ name, clusters: [{ cluster_name: name, weight: 1 }] })),
        },
      },
    },
  },
});

test.each<[string, Setup]>([
  ["cool_down: expected an object", { settings: { cool_down: true } }],
  ["statuses: expected a list of statuses from 400 to 599, found none", { settings: { cool_down: {} } }],
  ["statuses: expected a list of statuses from 400 to 599, found \\[200\\]", cool({ statuses: [200] })],
  ["consecutive: expected a whole number from 1 on, found 0", cool({ consecutive: 0 })],
  ["base: expected a duration of at least 0.1s, found 10", cool({ base: 10 })],
  ["max: expected a duration that is not below base", cool({ base: "10s", max: "5s" })],
  ["respect_retry_after: expected no respect_retry_after, which Envoy's", cool({ respect_retry_after: true })],
  ["more: expected one of statuses, consecutive, base, max, respect_retry_after, found more", cool({ more: 1 })],
  ["found false", { settings: { ...COOL, skip_clusters_without_hosts: false } }],
  ["found only one in the priority groups", { settings: COOL, groups: [["a"], ["a"]] }],
  ["a has outlier_detection of its own", { settings: COOL, clusters: { a: { outlier_detection: {} } } }],
  [
    "c has no panic routing",
    { settings: COOL, clusters: { c: { common_lb_config: { healthy_panic_threshold: { value: 0 } } } } },
  ],
  ["a has an error_matcher of its own", { settings: COOL, clusters: { a: options({ outlier_detection: {} }) } }],
  ["b has protocol options outside", { settings: COOL, clusters: { b: { http2_protocol_options: {} } } }],
  ["b has a provider", { settings: COOL, clusters: { b: { type: "EDS", metadata: PROVIDER } } }],
  [
    "expected the same cool_down on all routes that lead to the cluster a",
    { settings: COOL, more: [second({ cool_down: { statuses: [503] } })] },
  ],
])("cool_down: %s: refused", (message, setup) => {
  expect(() => lowered(setup)).toThrow(new RegExp(message));
});

test("cool_down on a composite cluster's route is refused", () => {
  const cluster = {
    name: "a",
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: { ...cluster_type, typed_config: { ...cluster_type.typed_config, clusters: [{ name: "b" }] } },
  };
  const text = config({
    settings: COOL,
    groups: [["a"], ["b"]],
    clusters: { a: cluster },
    route: { inline_cluster_specifier_plugin: undefined, cluster: "a" },
  });
  expect(() => lower(text, { file: "s.yaml" })).toThrow("expected cool_down on a route with priority groups");
});
