// The specification of route specifiers as a program: a native route configuration and a request → the final route.

import { holds, weightedPick, type ModelRequest } from "../../module/route-specifiers.model.js";
import type { Config } from "../../support/case.js";
import { matchHolds } from "./matching.js";

/** The clusters of a generated configuration. */
export const CLUSTERS = ["a", "b", "c", "d", "x", "y", "z"];

/** A configured route with what specifiers replaced. */
export interface FinalRoute {
  route: Config;
  /** One that route matching found; else a template. */
  matched: boolean;
  name: string;
  /** The one cluster of all attempts. */
  cluster?: string;
  /** Priority groups of an override. */
  groups?: Config[];
  timeout?: string;
  retry?: Config;
  transforms: { request: Config[]; response: Config[] };
}

/** What the values are that a request has by chance. */
export interface Chance {
  /** The random seed that specifiers are given. */
  seed: bigint;
  /** Which of the clusters of a native route Envoy picks. */
  pick: number;
}

export interface Result {
  route: FinalRoute | null;
  /** What each audit exported, in order. */
  audits: string[];
}

interface Step {
  level: string;
  config: Config;
}

/** Route matching, then the three levels. */
export function finalRoute(config: Config, request: ModelRequest, chance: Chance): Result {
  const host = hostOf(config, request);
  const matched = listOf(host, "routes").find((route) => matchHolds(route["match"] as Config, request));
  const chain = [...steps("route_configuration", config), ...steps("virtual_host", host), ...steps("route", matched)];
  const given = matched === undefined ? null : asIs(matched, true, (matched["name"] ?? "") as string);
  const audits: string[] = [];
  // Asked for only where it is needed, so that one knows whether a result hangs on it.
  const seeded = {
    ...request,
    get seed() {
      return chance.seed;
    },
  };
  const around = { host: (host?.["name"] ?? "") as string, audits, request: seeded, chance };
  return { route: run(chain, given, around), audits };
}

function hostOf(config: Config, request: ModelRequest): Config | undefined {
  const hosts = listOf(config, "virtual_hosts");
  const named = (domain: string) => hosts.find((host) => (host["domains"] as string[]).includes(domain));
  return named(request.headers["host"]?.[0] ?? "") ?? named("*");
}

function steps(level: string, holder: Config | undefined): Step[] {
  return listOf(holder, "route_specifiers").map((one) => ({ level, config: one["typed_config"] as Config }));
}

function listOf(holder: Config | undefined, name: string): Config[] {
  return (holder?.[name] ?? []) as Config[];
}

function asIs(route: Config, matched: boolean, name: string): FinalRoute {
  return { route, matched, name, transforms: { request: [], response: [] } };
}

interface Around {
  host: string;
  audits: string[];
  request: ModelRequest;
  chance: Chance;
}

function run([step, ...rest]: Step[], given: FinalRoute | null, around: Around): FinalRoute | null {
  if (step === undefined) return given;
  const { config } = step;
  const { request } = around;
  const when = config["when"] as Config | undefined;
  if (when !== undefined && !holds(when, given !== null, request)) return run(rest, given, around);
  const returned = onRoute(step, given, around);
  if (returned === "not applied") return run(rest, given, around);
  return config["final"] === true ? returned : run(rest, returned, around);
}

function onRoute({ level, config }: Step, given: FinalRoute | null, around: Around) {
  const { request } = around;
  switch ((config["@type"] as string).split(".").pop()) {
    case "Audit":
      if (config["response_header"] !== undefined) around.audits.push(audit(level, given, around));
      return given;
    case "DropRoute":
      return null;
    case "RouteTemplate":
      return templateOf(config, request) ?? "not applied";
    default:
      return given === null || given.route["route"] === undefined ? "not applied" : overridden(given, config, request);
  }
}

function templateOf(config: Config, request: ModelRequest): FinalRoute | undefined {
  const id = config["template_id"] as string;
  const route = listOf(config, "templates").find((one) => one["template_id"] === id)?.["route"] as Config;
  return matchHolds(route["match"] as Config, request)
    ? asIs(route, false, (route["name"] ?? id) as string)
    : undefined;
}

function overridden(given: FinalRoute, config: Config, request: ModelRequest): FinalRoute {
  const { cluster, groups, ...rest } = given;
  const one = namedCluster(config, request);
  const chain = config["priority_groups"] as Config[] | undefined;
  const kept = { ...(cluster !== undefined && { cluster }), ...(groups && { groups }) };
  const replaced = one === undefined ? chain && { groups: chain } : { cluster: one };
  const of = (kind: string) => ({
    add: config[`${kind}_headers_to_add`] ?? [],
    remove: config[`${kind}_headers_to_remove`] ?? [],
  });
  return {
    ...rest,
    ...(replaced ?? kept),
    ...(config["timeout"] !== undefined && { timeout: config["timeout"] as string }),
    ...(config["retry_policy"] !== undefined && { retry: config["retry_policy"] as Config }),
    transforms: {
      request: [...given.transforms.request, of("request")],
      response: [...given.transforms.response, of("response")],
    },
  };
}

function namedCluster(config: Config, request: ModelRequest): string | undefined {
  const weighted = config["weighted_clusters"] as { name: string; weight: number }[] | undefined;
  if (weighted !== undefined) return weighted.length === 1 ? weighted[0]?.name : weightedPick(weighted, request.seed);
  const header = config["cluster_header"] as string | undefined;
  if (header !== undefined) return request.headers[header]?.[0] || undefined;
  const key = config["cluster_metadata"] as { namespace: string; path: string[] } | undefined;
  if (key === undefined) return config["cluster"] as string | undefined;
  const value = key.path.reduce<unknown>(
    (found, step) => (found as Config | undefined)?.[step],
    request.metadata[key.namespace],
  );
  return typeof value === "string" && value !== "" ? value : undefined;
}

function audit(level: string, route: FinalRoute | null, { host, request, chance }: Around): string {
  const cluster = route === null ? "" : auditedCluster(route, request, chance);
  const names = { level, virtual_host: host, route: route?.name ?? "", cluster };
  return Object.entries(names)
    .map(([field, name]) => `${field}=${name === "" ? "-" : name}`)
    .join(" ");
}

/** That of the first attempt; of a template only where it names a single one. */
function auditedCluster(route: FinalRoute, request: ModelRequest, chance: Chance): string {
  const action = route.route["route"] as Config | undefined;
  const isOpen = route.cluster === undefined && route.groups === undefined;
  if (isOpen && !route.matched) return (action?.["cluster"] ?? "") as string;
  const cluster = clusterOf(route, 1, request, chance) ?? "";
  // Envoy knows no cluster of a native route that there is not.
  return isOpen && !CLUSTERS.includes(cluster) ? "" : cluster;
}

/** The cluster of an attempt; undefined for a route that does not forward. */
export function clusterOf(
  { route, cluster, groups, retry }: FinalRoute,
  attempt: number,
  request: ModelRequest,
  chance: Chance,
): string | undefined {
  const action = route["route"] as Config | undefined;
  if (action === undefined) return undefined;
  if (cluster !== undefined) return cluster;
  // Only a policy that refreshes the cluster leads to the groups after the first.
  const refreshes = retry !== undefined || (action["retry_policy"] as Config | undefined)?.["refresh_cluster_on_retry"];
  const at = refreshes === undefined ? 1 : attempt;
  if (groups !== undefined) return groupCluster(groups, at, () => chance.seed);
  const weighted = (action["weighted_clusters"] as { clusters: { name: string }[] } | undefined)?.clusters;
  if (weighted !== undefined) return weighted[chance.pick % weighted.length]?.name;
  const own = specifierOf(action);
  if (own === undefined)
    return (action["cluster"] ?? request.headers[action["cluster_header"] as string]?.[0] ?? "") as string;
  return groupCluster(own, at, () => BigInt(request.headers["x-pick"]?.[0] ?? 0));
}

function groupCluster(groups: Config[], attempt: number, value: () => bigint): string {
  const clusters = groups[Math.min(attempt, groups.length) - 1]?.["clusters"] as {
    cluster_name: string;
    weight: number;
  }[];
  const named = clusters.map(({ cluster_name, weight }) => ({ name: cluster_name, weight }));
  return named.length === 1 ? (named[0]?.name ?? "") : weightedPick(named, value());
}

function specifierOf(action: Config): Config[] | undefined {
  const inline = action["inline_cluster_specifier_plugin"] as { extension: { typed_config: Config } } | undefined;
  return inline?.extension.typed_config["priority_groups"] as Config[] | undefined;
}
