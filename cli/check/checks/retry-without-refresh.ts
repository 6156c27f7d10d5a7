import type { Check } from "../check.js";
import { withPolicy } from "../context.js";

export const retryWithoutRefresh: Check = {
  code: "retry-without-refresh",
  severity: "error",
  title: "retries that do not ask for a cluster again",
  why: "Without refresh_cluster_on_retry every retry stays on the cluster of attempt 1, and later groups are never used",
  find(context) {
    return withPolicy(context)
      .filter(({ policy, composite }) => composite === undefined && policy.refreshCluster?.value !== true)
      .map(({ at }) => ({
        at,
        message: "the retry policy of a route with several priority groups has no refresh_cluster_on_retry",
        fix: "write refresh_cluster_on_retry: true into the retry_policy",
      }));
  },
};
