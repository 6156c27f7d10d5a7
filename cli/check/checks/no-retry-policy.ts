import type { Check } from "../check.js";

export const noRetryPolicy: Check = {
  code: "no-retry-policy",
  severity: "error",
  title: "a chain of clusters without a retry policy",
  why: "Only a retry moves a request to the next cluster: without a policy everything but the first group is never used",
  find(context) {
    return context.fallbacks
      .filter(({ groups, policy, opaquePolicy }) => groups.length > 1 && policy === undefined && !opaquePolicy)
      .map(({ at, groups }) => ({
        at,
        message: `the route has ${groups.length} groups or clusters for its attempts, and no retry policy`,
        fix: "give the route, or its virtual host, a retry_policy with retry_on, num_retries and refresh_cluster_on_retry: true",
      }));
  },
};
