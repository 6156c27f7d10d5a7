// What a file says of the hosts of a cluster: whether an aggregate skips the cluster exactly when the cluster itself has no
// host for the request, and whether a question that is not the request's can tell.

import type { Cursor } from "../yaml/cursor.js";
import { providerOf } from "./providers/settings.js";
import { clusterFilters } from "../read/resources.js";

/** Where the hosts of a cluster come from. */
export type HostSource = "STATIC" | "DNS" | "EDS" | "PER_REQUEST" | "UNKNOWN";

/** The facts about a cluster that decide how it may stand in the list of a composite cluster. */
export interface Member {
  name: string;
  hosts: HostSource;
  /** It is what chooses the host for each request that says so: a subset load balancer, or one for override hosts. */
  choosesByRequest: boolean;
  healthChecks: "NONE" | "PLAIN" | "MAY_DEGRADE";
  outlierDetection: boolean;
  /** Some endpoint has a `health_status`. */
  statuses: boolean;
  /** More than one priority. */
  priorities: boolean;
  /** Localities may share the load by how many of their hosts are healthy. */
  localities: boolean;
  /** The cluster has an overprovisioning factor of its own. */
  factor: boolean;
  /** Percentage of healthy hosts below which Envoy uses unhealthy ones, too; 0 for never. */
  panicThreshold: number;
  /** Upstream filters in the place of the router's. */
  filters: boolean;
  /** Settings of a provider, which filters of its own carry out. */
  provider: boolean;
}

/** A factor by which one healthy host is enough to keep an aggregate on the cluster. */
export const OVERPROVISIONING = 4_000_000;

/** How a member behaves in an aggregate: as in a composite cluster, with a factor or without, or not, and why. */
export type Verdict = { equal: true; factor: boolean } | { equal: false; because: string };

const DEFAULT_PANIC = 50;
const SOURCES: Record<string, HostSource> = {
  STATIC: "STATIC",
  STRICT_DNS: "DNS",
  LOGICAL_DNS: "DNS",
  EDS: "EDS",
  ORIGINAL_DST: "PER_REQUEST",
  "envoy.cluster.static": "STATIC",
  "envoy.cluster.strict_dns": "DNS",
  "envoy.cluster.logical_dns": "DNS",
  "envoy.clusters.dns": "DNS",
  "envoy.cluster.eds": "EDS",
  "envoy.cluster.original_dst": "PER_REQUEST",
  "envoy.clusters.dynamic_forward_proxy": "PER_REQUEST",
};
const TYPES = ["STATIC", "STRICT_DNS", "LOGICAL_DNS", "EDS", "ORIGINAL_DST"];
/** Load balancing policies of Envoy's that look at nothing of the request but its hash. */
const PLAIN_POLICIES = ["round_robin", "least_request", "random", "ring_hash", "maglev"];

/** Reads the facts of a cluster. */
export function readMember(cluster: Cursor): Member {
  const endpoints = cluster.field("load_assignment")?.list("endpoints") ?? [];
  const hosts = endpoints.flatMap((locality) => locality.list("lb_endpoints"));
  return {
    name: cluster.field("name")?.string() ?? "",
    hosts: sourceOf(cluster),
    choosesByRequest: choosesByRequest(cluster),
    healthChecks: healthChecksOf(cluster),
    outlierDetection: cluster.field("outlier_detection") !== undefined,
    statuses: hosts.some(
      (host) => !["UNKNOWN", "HEALTHY", "0", "1"].includes(textOf(host.field("health_status"), "0")),
    ),
    priorities: endpoints.some((locality) => textOf(locality.field("priority"), "0") !== "0"),
    localities: sharesByLocality(cluster),
    factor: cluster.at("load_assignment", "policy", "overprovisioning_factor") !== undefined,
    panicThreshold: panicOf(cluster),
    filters: clusterFilters(cluster) !== undefined,
    provider: providerOf(cluster) !== undefined,
  };
}

/** Whether an aggregate treats the member as a composite cluster does. */
export function verdict(member: Member): Verdict {
  const { name } = member;
  const unequal = (because: string): Verdict => ({ equal: false, because: `${name} ${because}` });
  const request = chosenByRequest(member);
  if (request !== undefined) return unequal(request);
  if (member.hosts === "UNKNOWN") return unequal("is of a type whose hosts this file does not tell");
  if (member.hosts === "EDS") return unequal("gets its hosts and their health by EDS");
  if (member.statuses) return unequal("has endpoints with a health_status");
  if (member.healthChecks === "NONE" && !member.outlierDetection) return { equal: true, factor: false };
  if (member.healthChecks === "MAY_DEGRADE") return unequal("has HTTP health checks, which may call a host degraded");
  if (member.panicThreshold !== 0) return unequal("may use hosts that are not healthy (healthy_panic_threshold)");
  if (!takesFactor(member)) return unequal("shares the load between priorities or localities by their health");
  return { equal: true, factor: true };
}

/** Whether one healthy host can be made enough to keep an aggregate on the member, with nothing else changed. */
export function takesFactor(member: Member): boolean {
  const { hosts, priorities, localities, factor } = member;
  return (hosts === "STATIC" || hosts === "DNS") && !priorities && !localities && !factor;
}

/** Why the host depends on the request, so that only the request itself can find out that there is none. */
export function chosenByRequest(member: Member): string | undefined {
  if (member.hosts === "PER_REQUEST") return "finds its host by the request";
  return member.choosesByRequest ? "chooses among its hosts by the request (subsets or override hosts)" : undefined;
}

function sourceOf(cluster: Cursor): HostSource {
  const custom = cluster.field("cluster_type");
  const type = custom === undefined ? (cluster.field("type")?.json() ?? "STATIC") : custom.field("name")?.string();
  return SOURCES[typeof type === "number" ? (TYPES[type] ?? "") : (type as string)] ?? "UNKNOWN";
}

function choosesByRequest(cluster: Cursor): boolean {
  if (cluster.field("lb_subset_config") !== undefined) return true;
  const policies = cluster.at("load_balancing_policy")?.list("policies") ?? [];
  const names = policies.map((policy) => policy.at("typed_extension_config", "name")?.string() ?? "");
  return names.some((name) => !PLAIN_POLICIES.includes(name.replace("envoy.load_balancing_policies.", "")));
}

function healthChecksOf(cluster: Cursor): Member["healthChecks"] {
  const checks = cluster.list("health_checks");
  if (checks.length === 0) return "NONE";
  return checks.some((check) => check.field("http_health_check") !== undefined) ? "MAY_DEGRADE" : "PLAIN";
}

function sharesByLocality(cluster: Cursor): boolean {
  const own = cluster.at("common_lb_config", "locality_weighted_lb_config") ?? cluster.field("load_balancing_policy");
  return own !== undefined;
}

/** A threshold of a load balancing policy's own counts as one that is not 0. */
function panicOf(cluster: Cursor): number {
  const threshold = cluster.at("common_lb_config", "healthy_panic_threshold");
  // Above 0, `fail_traffic_on_panic` leaves a cluster with some healthy hosts without one.
  if (threshold === undefined || cluster.field("load_balancing_policy") !== undefined) return DEFAULT_PANIC;
  return Number(threshold.field("value")?.json() ?? 0);
}

function textOf(cursor: Cursor | undefined, otherwise: string): string {
  const value = cursor?.json() ?? otherwise;
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
