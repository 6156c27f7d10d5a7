import type { Check } from "../check.js";
import { quoted, withPolicy } from "../context.js";

export const defaultRetryBreaker: Check = {
  code: "default-retry-breaker",
  severity: "warning",
  title: "the default limit of three concurrent retries",
  why: "A cluster lets three retries be under way at a time unless circuit_breakers say otherwise, and the first cluster's limit counts for the whole chain: with more requests at once, most of them get the first failure although the next provider is free",
  find(context) {
    return withPolicy(context).flatMap((route) =>
      context
        .firstClusters(route)
        .filter((cluster) => {
          const own = cluster.thresholds.find(({ priority }) => priority === route.action.priority);
          return own?.maxRetries === undefined && own?.retryBudget === undefined;
        })
        .map((cluster) => ({
          at: cluster,
          message: `cluster ${quoted(cluster.name?.value ?? "")} is the first of a chain, and has no max_retries: 3 concurrent retries`,
          fix: "write circuit_breakers: {thresholds: [{max_retries: 1000}]} into the cluster",
        })),
    );
  },
};
