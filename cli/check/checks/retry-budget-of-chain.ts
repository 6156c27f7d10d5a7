import { messageOf } from "../../model/json.js";
import type { Check } from "../check.js";
import { quoted, withPolicy } from "../context.js";

export const retryBudgetOfChain: Check = {
  code: "retry-budget-of-chain",
  severity: "warning",
  title: "a retry budget that a failing provider uses up",
  why: "A retry_budget admits a share of the requests that are under way to attempt 1's cluster, 20 % unless set, and three of them at least. Retries go to other clusters but count here, and failed requests count no longer: when the provider fails, most requests get its failure although the next one is free",
  find(context) {
    return withPolicy(context).flatMap((route) =>
      context.firstClusters(route).flatMap((cluster) => {
        const own = cluster.thresholds.find(({ priority }) => priority === route.action.priority)?.retryBudget;
        if (own === undefined || Number(messageOf(own.json)["min_retry_concurrency"] ?? 3) >= GENEROUS) return [];
        return [
          {
            at: own,
            message: `cluster ${quoted(cluster.name?.value ?? "")} is the first of a chain, and has a retry_budget`,
            fix: "write max_retries: 1000 instead, or a min_retry_concurrency of the requests that may fail at once",
          },
        ];
      }),
    );
  },
};

/** So many concurrent retries are somebody's decision. */
const GENEROUS = 100;
