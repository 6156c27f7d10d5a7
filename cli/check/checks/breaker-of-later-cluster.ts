import type { Check } from "../check.js";
import { quoted, withPolicy } from "../context.js";
import { type Cluster, type Value } from "../../model/index.js";

export const breakerOfLaterCluster: Check = {
  code: "breaker-of-later-cluster",
  severity: "warning",
  title: "a retry breaker on a cluster where it does not count",
  why: "Of a chain only the retry breaker of attempt 1's cluster is looked at: a limit on a later one changes nothing",
  find(context) {
    return withPolicy(context).flatMap((route) => {
      const first = context.firstClusters(route);
      const limits = first.map((cluster) => limitOf(cluster, route.action.priority));
      return context.clustersOf(route).flatMap((cluster) => {
        const limit = limitOf(cluster, route.action.priority);
        if (first.includes(cluster) || limit === undefined || limits.some((one) => one !== undefined)) return [];
        return [
          {
            at: limit,
            message: `cluster ${quoted(cluster.name?.value ?? "")} has max_retries, and the first cluster of the chain has none`,
            fix: "write max_retries into the first cluster of the chain",
          },
        ];
      });
    });
  },
};

function limitOf({ thresholds }: Cluster, wanted: string): Value<number> | undefined {
  return thresholds.find(({ priority }) => priority === wanted)?.maxRetries;
}
