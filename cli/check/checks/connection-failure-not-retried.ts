import type { Check } from "../check.js";
import { conditionsOf, withPolicy } from "../context.js";

export const connectionFailureNotRetried: Check = {
  code: "connection-failure-not-retried",
  severity: "warning",
  title: "a failed connection does not move a request on",
  why: "A provider that is gone refuses or resets connections; that is retried only by 5xx, gateway-error, reset or connect-failure",
  find(context) {
    const covering = ["5xx", "gateway-error", "reset", "connect-failure"];
    return withPolicy(context)
      .filter(({ policy }) => {
        const conditions = conditionsOf(policy);
        return conditions.size > 0 && !covering.some((word) => conditions.has(word));
      })
      .map(({ policy }) => ({
        at: policy.retryOn ?? policy,
        message: "the retry policy of a route with several groups does not retry failed connections",
        fix: "add reset and connect-failure to retry_on",
      }));
  },
};
