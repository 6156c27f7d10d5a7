import type { Check } from "../check.js";
import { conditionsOf, withPolicy } from "../context.js";

export const perTryTimeoutNotRetried: Check = {
  code: "per-try-timeout-not-retried",
  severity: "warning",
  title: "per-try time-outs that are not retried",
  why: "A per-try time-out counts as a reset of the stream: connect-failure or status codes do not cover it, and the client gets 504",
  find(context) {
    const covering = ["5xx", "gateway-error", "reset"];
    return withPolicy(context)
      .filter(({ policy, route }) => {
        const conditions = conditionsOf(policy);
        const hedges = route.retries?.hedging?.onPerTryTimeout?.value === true;
        return policy.perTryTimeout !== undefined && !hedges && !covering.some((word) => conditions.has(word));
      })
      .map(({ policy }) => ({
        at: policy.perTryTimeout ?? policy,
        message: "per_try_timeout beside a retry_on without 5xx, gateway-error or reset",
        fix: "add reset to retry_on",
      }));
  },
};
