// Why clusters cannot stand in for each other in an aggregate.

import type { Cursor } from "../../yaml/cursor.js";
import type { Json } from "../../yaml/scalar.js";
import { messageJson, canonicalJson } from "../settings.js";
import { readMember } from "../members.js";
import { whyNotMarkable } from "../host-marks.js";
import { HTTP_PROTOCOL_OPTIONS, TYPE } from "../types.js";

/** What Envoy takes from the aggregate for whichever cluster has the host, so that it must be the same for all. */
const SHARED = ["http_filters", "upstream_http_protocol_options"];

/** Why the clusters of a list cannot be those of an aggregate, as the end of a sentence; undefined where they can. */
export function obstacleIn(list: readonly string[], clusterNamed: (name: string) => Cursor | undefined) {
  const [first = ""] = list;
  for (const [index, name] of list.entries()) {
    const cluster = clusterNamed(name);
    if (cluster === undefined) return `${name} is not in this file`;
    const because = obstacleOf(cluster, index === list.length - 1);
    if (because !== undefined) return `${name} ${because}`;
    const picked = clusterNamed(first);
    const field = picked && SHARED.find((one) => sharedOption(one, cluster) !== sharedOption(one, picked));
    if (field !== undefined) return `${name} has not the same ${field} as ${first}`;
  }
  return undefined;
}

function obstacleOf(cluster: Cursor, isLast: boolean): string | undefined {
  const { hosts, choosesByRequest, provider } = readMember(cluster);
  if (cluster.at("cluster_type", "typed_config")?.type() === TYPE.compositeCluster) {
    return "is a composite cluster: give its clusters groups of their own";
  }
  if (provider) {
    const because = whyNotMarkable(cluster);
    if (because !== undefined) return because;
  }
  if (hosts === "PER_REQUEST") return "finds its host by the request";
  if (hosts === "UNKNOWN") return "is of a type whose hosts this file does not tell";
  return choosesByRequest && !isLast ? "chooses among its hosts by the request (subsets or override hosts)" : undefined;
}

function sharedOption(field: string, cluster: Cursor): string {
  const option = cluster.at("typed_extension_protocol_options", HTTP_PROTOCOL_OPTIONS, field) ?? cluster.field(field);
  const json: Json = option === undefined ? null : messageJson(option, []);
  return canonicalJson(json);
}
