// A composite cluster as stock aggregate clusters, one for each attempt: an aggregate is asked for a host when the attempt is
// sent, and goes on to its next cluster where the one before has none.

import type { Json } from "../yaml/scalar.js";
import { isMessage } from "./settings.js";
import { HTTP_PROTOCOL_OPTIONS, NO_HOST_CLUSTER, TYPE } from "./types.js";

type Message = { [key: string]: Json };

/** What an attempt (1, 2, …) of a composite cluster may use, in its order. */
export interface Aggregate {
  composite: string;
  attempt: number;
  /** False: the attempt may use its own cluster only. */
  skip: boolean;
  clusters: readonly string[];
  /** Some cluster but the last may have hosts of which none is healthy. */
  byHealth: boolean;
  /** The only cluster is one that an aggregate cannot use, and stands for itself. */
  direct: boolean;
}

/** The name of the aggregate that stands for a composite cluster at an attempt. */
export function aggregateName({ composite, attempt, skip }: Pick<Aggregate, "composite" | "attempt" | "skip">): string {
  return `${composite}@ar-${attempt}${skip ? "" : "-only"}`;
}

/**
 * The aggregate as a cluster, with everything that `definition`, the composite cluster's own message, sets beside its list:
 * what the router reads from a route's cluster is then the composite's own. Statistics and %UPSTREAM_CLUSTER% have its name.
 */
export function aggregateCluster(aggregate: Aggregate, definition: Message): Message {
  const { composite, clusters, byHealth } = aggregate;
  const { alt_stat_name, typed_extension_protocol_options: options, ...own } = definition;
  const list = clusters.length === 0 ? [NO_HOST_CLUSTER] : [...clusters];
  const typed_config = { "@type": TYPE.aggregateCluster, clusters: list };
  return {
    ...own,
    name: aggregateName(aggregate),
    alt_stat_name: alt_stat_name ?? composite,
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: { name: "envoy.clusters.aggregate", typed_config },
    ...(isMessage(options) ? { typed_extension_protocol_options: withRefresh(options) } : {}),
    // Where no cluster has a healthy host, the first one is asked, which natively is asked first, too.
    ...(byHealth ? { common_lb_config: { healthy_panic_threshold: { value: 0 } } } : {}),
  };
}

/** A retry policy of the composite's own takes the place of the route's, and so must ask for the cluster of each attempt. */
export function withRefresh(options: Message): Message {
  const http = options[HTTP_PROTOCOL_OPTIONS];
  if (!isMessage(http)) return options;
  const key = "retryPolicy" in http ? "retryPolicy" : "retry_policy";
  const policy = http[key];
  if (!isMessage(policy)) return options;
  return { ...options, [HTTP_PROTOCOL_OPTIONS]: { ...http, [key]: refreshing(policy) } };
}

/** A retry policy that asks for the cluster of each attempt. */
export function refreshing(policy: Message): Message {
  const rest = Object.entries(policy).filter(([key]) => key !== "refreshClusterOnRetry");
  return { ...Object.fromEntries(rest), refresh_cluster_on_retry: true };
}
