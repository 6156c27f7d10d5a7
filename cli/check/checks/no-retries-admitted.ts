import type { Check } from "../check.js";
import { quoted, withPolicy } from "../context.js";

export const noRetriesAdmitted: Check = {
  code: "no-retries-admitted",
  severity: "error",
  title: "a first cluster that admits no retry",
  why: "The retry breaker of attempt 1's cluster counts for all attempts: with max_retries 0 there is none",
  find(context) {
    return withPolicy(context).flatMap((route) =>
      context.firstClusters(route).flatMap((cluster) => {
        const own = cluster.thresholds.find(({ priority }) => priority === route.action.priority);
        if (own?.maxRetries?.value !== 0 || own.retryBudget !== undefined) return [];
        return [
          {
            at: own.maxRetries,
            message: `cluster ${quoted(cluster.name?.value ?? "")} is the first of a chain, and admits no retry`,
            fix: "raise max_retries",
          },
        ];
      }),
    );
  },
};
