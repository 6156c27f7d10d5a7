import type { Cluster, ProtocolOptions, Thresholds } from "../model/cluster.js";
import { HTTP_PROTOCOL_OPTIONS, METADATA_NAMESPACE } from "../lower/types.js";
import type { Cursor } from "../yaml/cursor.js";
import { readComposite } from "./composite.js";
import { duration, enumIn, isTrue, json, jsonList, number, snakeJson, structAt, text } from "./fields.js";
import { readChain } from "./filters.js";
import { originOf } from "./place.js";
import { attemptsOf, policyOf, readRetryPolicy } from "./retry-policy.js";

const DISCOVERY = ["STATIC", "STRICT_DNS", "LOGICAL_DNS", "EDS", "ORIGINAL_DST"] as const;
/** Types whose endpoints come while Envoy runs. */
const FROM_ELSEWHERE = ["EDS", "ORIGINAL_DST"];

/** `envoy.config.cluster.v3.Cluster`. */
export function readCluster(cluster: Cursor): Cluster {
  const discovery = discoveryOf(cluster);
  const own = cluster.at("metadata", "filter_metadata", METADATA_NAMESPACE);
  return {
    name: text(cluster, "name"),
    discovery,
    endpoints: endpointsOf(cluster, discovery),
    endpointsOrigin: json(cluster, "load_assignment"),
    composite: readComposite(cluster),
    thresholds: (cluster.field("circuit_breakers")?.list("thresholds") ?? []).map(readThresholds),
    healthChecks: jsonList(cluster, "health_checks"),
    outlierDetection: json(cluster, "outlier_detection"),
    protocolOptions: readProtocolOptions(cluster.at("typed_extension_protocol_options", HTTP_PROTOCOL_OPTIONS)),
    lbPolicy: text(cluster, "lb_policy"),
    commonLbConfig: json(cluster, "common_lb_config"),
    connectTimeout: duration(cluster, "connect_timeout"),
    perConnectionBufferLimit: number(cluster, "per_connection_buffer_limit_bytes"),
    tls: readTls(cluster.field("transport_socket")),
    providerHost: text(own?.field("provider"), "host"),
    ownSettings: own && structAt(own),
    origin: originOf(cluster),
  };
}

function discoveryOf(cluster: Cursor): string {
  const custom = cluster.at("cluster_type", "name")?.string();
  return custom ?? enumIn(cluster, "type", DISCOVERY) ?? cluster.field("type")?.string() ?? "STATIC";
}

function endpointsOf(cluster: Cursor, discovery: string): number | undefined {
  if (FROM_ELSEWHERE.includes(discovery) || cluster.field("cluster_type") !== undefined) return undefined;
  const localities = cluster.field("load_assignment")?.list("endpoints") ?? [];
  if (localities.some((one) => one.field("leds_cluster_locality_config") !== undefined)) return undefined;
  return localities.reduce((count, locality) => count + locality.list("lb_endpoints").length, 0);
}

function readThresholds(item: Cursor): Thresholds {
  const budget = item.field("retry_budget");
  return {
    priority: enumIn(item, "priority", ["DEFAULT", "HIGH"]) ?? "DEFAULT",
    maxConnections: number(item, "max_connections"),
    maxPendingRequests: number(item, "max_pending_requests"),
    maxRequests: number(item, "max_requests"),
    maxRetries: number(item, "max_retries"),
    retryBudget: budget && { json: snakeJson(budget), origin: originOf(budget) },
    origin: originOf(item),
  };
}

function readProtocolOptions(options: Cursor | undefined): ProtocolOptions | undefined {
  const http = options?.field("upstream_http_protocol_options");
  return (
    options && {
      filters: readChain(options.field("http_filters")),
      retryPolicy: readRetryPolicy(options),
      attempts: attemptsOf(policyOf(options)),
      autoSni: isTrue(http, "auto_sni"),
      autoSanValidation: isTrue(http, "auto_san_validation"),
      get json() {
        return snakeJson(options);
      },
      origin: originOf(options),
    }
  );
}

function readTls(socket: Cursor | undefined): Cluster["tls"] {
  const config = socket?.field("typed_config");
  if (socket === undefined || config?.type()?.endsWith(".UpstreamTlsContext") !== true) return undefined;
  return { sni: text(config, "sni"), json: snakeJson(config), origin: originOf(socket) };
}
