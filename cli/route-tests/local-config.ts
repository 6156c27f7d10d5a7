// A config that runs on this machine: stand-ins in the place of upstreams, and ports that the system chooses.

import { parse } from "yaml";
import type { Json, JsonMessage } from "../model/index.js";
import { withLocalKeys } from "./local-keys.js";

/** Clusters that are no upstreams: they lead to others, or into Envoy. */
const OWN = /^attempt_router_/;

export interface LocalPorts {
  /** The port of a cluster's stand-in; undefined for a cluster that has none. */
  readonly port: (cluster: string) => number | undefined;
  /** Clusters that get no endpoint. */
  readonly down: ReadonlySet<string>;
  readonly admin: string;
}

/** The clusters of a bootstrap that need a stand-in, and whether they speak HTTP/2. */
export function upstreamsOf(text: string): { name: string; usesHttp2: boolean }[] {
  return clustersOf(parse(text) as JsonMessage)
    .filter(isUpstream)
    .map((cluster) => ({
      name: nameOf(cluster),
      usesHttp2: JSON.stringify(cluster).includes("http2_protocol_options"),
    }));
}

/** A bootstrap as JSON, whose upstreams and keys are here. */
export function localConfig(text: string, ports: LocalPorts): string {
  const root = withLocalKeys(parse(text) as JsonMessage);
  const resources = messageOf(root["static_resources"]);
  const listeners = listOf(resources["listeners"]).map((listener) =>
    "address" in listener ? { ...listener, address: anyPort() } : listener,
  );
  const clusters = clustersOf(root).map((cluster) => (isUpstream(cluster) ? localCluster(cluster, ports) : cluster));
  return JSON.stringify({
    ...root,
    admin: { address: { pipe: { path: ports.admin } } },
    static_resources: { ...resources, listeners, clusters },
  });
}

function localCluster(cluster: JsonMessage, { port, down }: LocalPorts): JsonMessage {
  const name = nameOf(cluster);
  const at = port(name);
  const endpoint = { address: { socket_address: { address: "127.0.0.1", port_value: at ?? 1 } } };
  const endpoints = down.has(name) || at === undefined ? [] : [{ lb_endpoints: [{ endpoint }] }];
  const kept = Object.fromEntries(Object.entries(cluster).filter(([key]) => KEPT.includes(key)));
  const assignment = { ...messageOf(cluster["load_assignment"]), cluster_name: name, endpoints };
  return { ...kept, type: "STATIC", load_assignment: assignment };
}

/** What plays a part in attempts; discovery, TLS and health checks belong to the real upstream. */
const KEPT = [
  ...["name", "connect_timeout", "circuit_breakers", "typed_extension_protocol_options", "lb_policy", "metadata"],
  ...["common_lb_config", "http2_protocol_options", "per_connection_buffer_limit_bytes"],
];

function isUpstream(cluster: JsonMessage): boolean {
  return !OWN.test(nameOf(cluster)) && cluster["cluster_type"] === undefined;
}

function nameOf(cluster: JsonMessage): string {
  return typeof cluster["name"] === "string" ? cluster["name"] : "";
}

function clustersOf(root: JsonMessage): JsonMessage[] {
  return listOf(messageOf(root["static_resources"])["clusters"]);
}

function anyPort(): JsonMessage {
  return { socket_address: { address: "127.0.0.1", port_value: 0 } };
}

function messageOf(value: Json | undefined): JsonMessage {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

function listOf(value: Json | undefined): JsonMessage[] {
  return Array.isArray(value) ? value.map(messageOf) : [];
}
