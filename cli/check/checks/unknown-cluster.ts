import type { Check } from "../check.js";
import type { Route } from "../../model/index.js";
import { quoted, type FallbackRoute, type NamedCluster } from "../context.js";

export const unknownCluster: Check = {
  code: "unknown-cluster",
  severity: "error",
  title: "a route to a cluster that is not there",
  why: "An attempt whose cluster does not exist ends the request with 503, and retries that are left are not used",
  find(context) {
    if (!context.knowsAllClusters) return [];
    const fallbacks = new Map(context.fallbacks.map((one) => [one.route, one]));
    return context.routes.flatMap(({ route }) =>
      clustersNamed(route, fallbacks.get(route))
        .filter(({ name }) => name !== "" && context.cluster(name) === undefined)
        .map(({ name, at }) => ({
          at,
          message: `there is no cluster ${quoted(name)} in static_resources.clusters`,
          fix: "add the cluster, or name one that is there",
        })),
    );
  },
};

function clustersNamed({ action }: Route, fallback: FallbackRoute | undefined): NamedCluster[] {
  if (fallback !== undefined) return fallback.groups.flat();
  if (action.kind !== "route") return [];
  const { destination } = action.route;
  if (destination.kind === "cluster") return [{ name: destination.cluster.value, weight: 1, at: destination.cluster }];
  if (destination.kind !== "weighted_clusters") return [];
  return destination.clusters.map(({ name, weight }) => ({ name: name.value, weight, at: name }));
}
