import type { Cursor } from "../yaml/cursor.js";
import { HTTP_PROTOCOL_OPTIONS } from "./types.js";

/** Retries of a policy that does not say how many. */
const DEFAULT_RETRIES = 1;

/**
 * How many attempts of a request ask for a cluster anew, the first one included: what the retry policy of the route
 * allows, or that of its virtual host where the route has none.
 */
export function attemptsOf(route: Cursor, virtualHost: Cursor): number {
  const policy = policyOf(route.field("route")) ?? policyOf(virtualHost);
  return policy === undefined ? 1 : attemptsOfPolicy(policy);
}

/** The same for the retry policy of a cluster, which takes the place of the route's; 1 where it has none. */
export function attemptsOfCluster(cluster: Cursor): number {
  const policy = policyOf(cluster.at("typed_extension_protocol_options", HTTP_PROTOCOL_OPTIONS));
  return policy === undefined ? 1 : attemptsOfPolicy(policy);
}

function policyOf(holder: Cursor | undefined): Cursor | undefined {
  return holder?.field("retry_policy") ?? holder?.field("retry_policy_typed_config");
}

// Without a refresh every attempt stays on the cluster of the first.
function attemptsOfPolicy(policy: Cursor): number {
  if (policy.field("refresh_cluster_on_retry")?.bool() !== true) return 1;
  const retries = Number(policy.field("num_retries")?.json() ?? DEFAULT_RETRIES);
  return Number.isInteger(retries) && retries >= 0 ? retries + 1 : 1;
}
