// Runs for the tests of what the answers of attempts mean.

import { stringify } from "yaml";
import { expect } from "vitest";
import { lower } from "../../cli/lower.js";
import { waitFor } from "../../tools/wait.js";
import { WASM } from "../support/lowering.js";
import { Serving } from "../support/serving.js";
import type { UpstreamSpec } from "../support/upstreams.js";
import { ANY_PORT } from "../../tools/envoy/process.js";

const TYPE = "type.googleapis.com/envoy";
const MARK = "attempts:";
const NAMESPACE = "test.groups";

export interface Options {
  upstreams: Record<string, UpstreamSpec>;
  /** Clusters of each group; a group is called as its first cluster. */
  groups: string[][];
  settings?: object;
  hostSettings?: object;
  retryPolicy?: object;
  timeout?: string;
  hostRetryPolicy?: object;
  noHosts?: string[];
  specifiers?: object[];
  hostSpecifiers?: object[];
  lowering?: object;
  /** Fields of every cluster with an upstream. */
  clusterFields?: object;
  moreClusters?: (port: (name: string) => number) => object[];
  /** The groups that a filter writes for every request. */
  override?: object[];
}

export interface Observed {
  status: number | null;
  hops: string[];
  /** The record in the access log. */
  record: string;
  headers: Record<string, unknown>;
}

function overrideFilter(priority_groups: object[]): object {
  const metadata = [{ metadata_namespace: NAMESPACE, value: { priority_groups } }];
  const type = `${TYPE}.extensions.filters.http.set_metadata.v3.Config`;
  return { name: "set_metadata", typed_config: { "@type": type, metadata } };
}

function bootstrap(options: Options, port: (name: string) => number): string {
  const log = {
    name: "stdout",
    typed_config: {
      "@type": `${TYPE}.extensions.access_loggers.stream.v3.StdoutAccessLog`,
      log_format: {
        text_format_source: { inline_string: `${MARK}%FILTER_STATE(wasm.attempt_router.attempts:PLAIN)%\n` },
      },
    },
  };
  const specifier = {
    "@type": `${TYPE}.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`,
    header_name: "x-pick",
    ...(options.override === undefined ? {} : { override_metadata_namespace: NAMESPACE }),
    priority_groups: options.groups.map((clusters) => ({
      name: clusters[0],
      clusters: clusters.map((cluster_name) => ({ cluster_name, weight: 1 })),
    })),
  };
  const settings = (value: object | undefined) =>
    value === undefined ? {} : { metadata: { filter_metadata: { attempt_router: value } } };
  const route = {
    match: { prefix: "/" },
    name: "r",
    ...settings(options.settings),
    ...(options.specifiers === undefined ? {} : { route_specifiers: options.specifiers }),
    route: {
      ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
      inline_cluster_specifier_plugin: { extension: { name: "groups", typed_config: specifier } },
      retry_policy: {
        retry_on: "5xx,reset,connect-failure,retriable-status-codes",
        retriable_status_codes: [401, 404, 429],
        num_retries: 3,
        refresh_cluster_on_retry: true,
        retry_back_off: { base_interval: "0.002s", max_interval: "0.004s" },
        ...options.retryPolicy,
      },
    },
  };
  const hostSpecifiers = options.hostSpecifiers === undefined ? {} : { route_specifiers: options.hostSpecifiers };
  const manager = {
    "@type": `${TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "ingress",
    access_log: [log],
    http_filters: [
      ...(options.override === undefined ? [] : [overrideFilter(options.override)]),
      {
        name: "envoy.filters.http.router",
        typed_config: { "@type": `${TYPE}.extensions.filters.http.router.v3.Router` },
      },
    ],
    route_config: {
      name: "rc",
      virtual_hosts: [
        { name: "vh", domains: ["*"], ...settings(options.hostSettings), ...hostSpecifiers, routes: [route] },
      ],
    },
  };
  const clusters = Object.keys(options.upstreams).map((name) => ({
    name,
    type: "STATIC",
    connect_timeout: "2s",
    ...options.clusterFields,
    load_assignment: {
      cluster_name: name,
      endpoints: [
        {
          lb_endpoints: [
            { endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port(name) } } } },
          ],
        },
      ],
    },
  }));
  const empty = (options.noHosts ?? []).map((name) => ({ name, type: "STATIC", connect_timeout: "2s" }));
  const filters = [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }];
  return stringify({
    admin: { address: ANY_PORT },
    static_resources: {
      listeners: [{ name: "ingress", address: ANY_PORT, filter_chains: [{ filters }] }],
      clusters: [...clusters, ...empty, ...(options.moreClusters?.(port) ?? [])],
    },
  });
}

/** Starts an Envoy with the lowered config. */
export async function serve(version: string, options: Options): Promise<Serving> {
  const lowering = { file: "attempts.yaml", wasm: WASM, ...options.lowering };
  return Serving.start(
    version,
    options.upstreams,
    (upstreams) =>
      lower(
        bootstrap(options, (name) => upstreams.port(name)),
        lowering,
      ).text,
  );
}

/** Sends requests with these headers, one after another. */
export async function observe(
  version: string,
  options: Options,
  requests: Record<string, string>[] = [{}],
): Promise<Observed[]> {
  const serving = await serve(version, options);
  try {
    const observed: Observed[] = [];
    for (const headers of requests) {
      const { response, hops } = await serving.get("/", { "x-pick": "0", ...headers });
      await waitFor("the access log", () => records(serving).length > observed.length);
      const record = records(serving)[observed.length] ?? "";
      observed.push({ status: response.status, hops, record, headers: response.headers });
      const sent = serving.upstreams.hops.flatMap((hop) => hop.headers.map(([name]) => name));
      expect(sent.filter((name) => name.startsWith("x-attempt-router") || name === "x-envoy-ratelimited")).toEqual([]);
    }
    return observed;
  } finally {
    await serving.stop();
  }
}

function records(serving: Serving): string[] {
  const lines = serving.envoy.log.split("\n").filter((line) => line.startsWith(MARK));
  return lines.map((line) => line.slice(MARK.length));
}
