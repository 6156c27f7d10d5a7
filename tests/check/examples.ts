import { readdirSync, readFileSync } from "node:fs";
import { parse, stringify } from "yaml";
import { checkProgram, type CheckOptions } from "../../cli/check/run.js";
import type { CheckFinding } from "../../cli/check/check.js";
import { readProgram } from "../../cli/read/program.js";

const FOLDER = new URL("../../docs/checks/", import.meta.url);

type Fields = Record<string, unknown>;

/** A page of docs/checks. */
export interface Page {
  code: string;
  text: string;
  failing: string;
  mended: string;
}

export function pages(): Page[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".md"))
    .map((name) => {
      const text = readFileSync(new URL(name, FOLDER), "utf8");
      const [failing = "", mended = ""] = [...text.matchAll(/```yaml\n([^]*?)```/g)].map((match) => match[1] ?? "");
      return { code: name.replace(/\.md$/, ""), text, failing, mended };
    });
}

/** What is found in a config that has the fields of an example, see docs/check.md. */
export function findingsOf(example: string, options: CheckOptions = {}): CheckFinding[] {
  const text = bootstrapOf((parse(example) ?? {}) as Fields);
  return checkProgram(readProgram("example.yaml", text), text, options);
}

const TYPE = "type.googleapis.com/envoy.extensions";

/** A whole bootstrap in which nothing is to be found, with the fields of an example laid over it. */
export function bootstrapOf(example: Fields): string {
  const route = {
    match: { prefix: "/v1" },
    route: merge({ ...destination(example), ...ACTION }, example["route"] as Fields),
  };
  const host = {
    name: "v",
    domains: ["*"],
    routes: [merge(route, example["route_fields"] as Fields), ...list(example["more_routes"])],
  };
  const manager = {
    "@type": `${TYPE}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "in",
    route_config: { name: "rc", virtual_hosts: [merge(host, example["virtual_host"] as Fields)] },
    http_filters: [
      ...list(example["filters"]),
      { name: "router", typed_config: { "@type": `${TYPE}.filters.http.router.v3.Router` } },
    ],
  };
  const filter = { name: "hcm", typed_config: merge(manager, example["manager"] as Fields) };
  const listener = { name: "in", address: address(10000), filter_chains: [{ filters: [filter] }] };
  const bootstrap = {
    admin: { address: address(9901) },
    static_resources: { listeners: [merge(listener, example["listener"] as Fields)], clusters: clustersOf(example) },
  };
  return stringify(merge(bootstrap, example["bootstrap"] as Fields), { aliasDuplicateObjects: false });
}

const ACTION = {
  timeout: "30s",
  retry_policy: {
    retry_on: "5xx,reset,connect-failure,retriable-status-codes",
    retriable_status_codes: [429],
    num_retries: 1,
    per_try_timeout: "5s",
    refresh_cluster_on_retry: true,
  },
};

function destination(example: Fields): Fields {
  if (example["composite"] !== undefined) return { cluster: "composite" };
  const groups = (example["groups"] ?? { one: ["a"], two: ["b"] }) as Fields | [string, unknown[]][];
  const entries = Array.isArray(groups) ? groups : Object.entries(groups);
  const priority_groups = entries.map(([name, clusters]) => ({
    name,
    clusters: weighted(clusters as (string | number)[]),
  }));
  const specifier = {
    "@type": `${TYPE}.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`,
    priority_groups,
  };
  const typed_config = merge(specifier, example["specifier"] as Fields);
  const name = "envoy.router.cluster_specifier_plugin.priority_group";
  return { inline_cluster_specifier_plugin: { extension: { name, typed_config } } };
}

/** `[a, 80, b, 20]`, or names alone. */
function weighted(clusters: (string | number)[]): Fields[] {
  const names = clusters.filter((one) => typeof one === "string");
  return names.map((cluster_name) => {
    const next = clusters[clusters.indexOf(cluster_name) + 1];
    return { cluster_name, weight: typeof next === "number" ? next : 1 };
  });
}

function clustersOf(example: Fields): Fields[] {
  const own = (example["clusters"] ?? {}) as Record<string, Fields>;
  const clusters = ["a", "b", "c"].map((name) => {
    const endpoints = [{ lb_endpoints: [{ endpoint: { address: address(8080) } }] }];
    const base = {
      name,
      type: "STATIC",
      connect_timeout: "1s",
      circuit_breakers: { thresholds: [{ max_retries: 1000 }] },
      load_assignment: { cluster_name: name, endpoints },
    };
    return merge(base, own[name]);
  });
  const names = example["composite"] as string[] | undefined;
  const typed_config = {
    "@type": `${TYPE}.clusters.composite.v3.ClusterConfig`,
    clusters: (names ?? []).map((name) => ({ name })),
  };
  const composite = {
    name: "composite",
    connect_timeout: "1s",
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: { name: "envoy.clusters.composite", typed_config },
    circuit_breakers: { thresholds: [{ max_retries: 1000 }] },
  };
  return [...clusters, ...(names === undefined ? [] : [composite]), ...list(example["more_clusters"])];
}

function address(port_value: number): Fields {
  return { socket_address: { address: "127.0.0.1", port_value } };
}

/** Fields replace fields; null takes one away. Only the two outer levels are merged. */
function merge(base: Fields, over: Fields | undefined, depth = 2): Fields {
  const result = { ...base };
  for (const [key, value] of Object.entries(over ?? {})) {
    const old = result[key];
    if (value === null) Reflect.deleteProperty(result, key);
    else if (depth > 1 && isFields(old) && isFields(value) && key !== "retry_policy")
      result[key] = merge(old, value, depth - 1);
    else result[key] = value;
  }
  return result;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function list(value: unknown): unknown[] & Fields[] {
  return (value ?? []) as Fields[];
}
