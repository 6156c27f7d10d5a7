// A stand-in: the stock aggregate cluster that attempts on one cluster of a priority group lead to.

import type { CoolDown } from "../../model/picking.js";
import { sha256 } from "../../sha256.js";
import { snakeCase, type Cursor } from "../../yaml/cursor.js";
import type { Json } from "../../yaml/scalar.js";
import { withRefresh } from "../aggregates.js";
import { canonicalJson, isMessage } from "../settings.js";
import { METADATA_NAMESPACE, TYPE } from "../types.js";
import { withErrorMatcher } from "./cool-down.js";

type Message = { [key: string]: Json };

/** What the router reads from the cluster that a route names; all else it takes from the cluster of the host. */
const OF_ROUTE = [
  ...["connect_timeout", "circuit_breakers", "typed_extension_protocol_options", "upstream_config"],
  ...["track_cluster_stats", "track_timeout_budgets", "metadata"],
  ...["upstream_http_protocol_options", "common_http_protocol_options", "http_protocol_options"],
  ...["http2_protocol_options", "protocol_selection"],
];
const DIGITS = 12;
const NAME = new RegExp(`@ar-[0-9a-f]{${DIGITS}}$`);

/** Whether a name is one that stand-ins have. */
export function isStandIn(name: string): boolean {
  return NAME.test(name);
}

/**
 * The stand-in of `picked` over these clusters, the pick first. It has what the pick sets for its routes, and counts under the
 * pick's name. Where no cluster has a healthy host, it asks the pick, which may have panic routing.
 */
export function standIn(
  picked: Cursor,
  clusters: readonly string[],
  coolDown: CoolDown | undefined,
): Message & { name: string } {
  const name = clusters[0] ?? "";
  const own = Object.fromEntries(
    picked.entries().flatMap(({ key, value }) => {
      const field = snakeCase(key);
      const copy = OF_ROUTE.includes(field) ? copyOf(field, value.copy()) : undefined;
      return copy === undefined ? [] : [[field, copy]];
    }),
  );
  const typed_config = { "@type": TYPE.aggregateCluster, clusters: [...clusters] };
  const options = coolDown && withErrorMatcher(own["typed_extension_protocol_options"], coolDown);
  const fields: Message = {
    ...own,
    ...(options === undefined ? {} : { typed_extension_protocol_options: options }),
    alt_stat_name: picked.field("alt_stat_name")?.string() ?? name,
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: { name: "envoy.clusters.aggregate", typed_config },
    common_lb_config: { healthy_panic_threshold: { value: 0 } },
  };
  return { name: `${name}@ar-${sha256(canonicalJson(fields)).slice(0, DIGITS)}`, ...fields };
}

function copyOf(field: string, value: Json): Json | undefined {
  if (!isMessage(value)) return value;
  if (field === "typed_extension_protocol_options") return withRefresh(value);
  return field === "metadata" ? withoutOwn(value) : value;
}

/** What the metadata says to `lower` is about the cluster itself. */
function withoutOwn(metadata: Message): Message | undefined {
  const key = "filterMetadata" in metadata ? "filterMetadata" : "filter_metadata";
  const namespaces = metadata[key];
  if (!isMessage(namespaces)) return metadata;
  const others = Object.fromEntries(Object.entries(namespaces).filter(([name]) => name !== METADATA_NAMESPACE));
  const rest = { ...metadata, [key]: others };
  return Object.keys(others).length === 0 && Object.keys(rest).length === 1 ? undefined : rest;
}
