import type { Cursor } from "../yaml/cursor.js";

/** The retry policy that counts for a route. */
export function policyOf(route: Cursor, host: Cursor | undefined): Cursor | undefined {
  return route.at("route", "retry_policy") ?? host?.field("retry_policy");
}

/** Whether it asks for the cluster of every attempt. */
export function refreshesCluster(route: Cursor, host: Cursor | undefined): boolean {
  return policyOf(route, host)?.field("refresh_cluster_on_retry")?.bool() === true;
}
