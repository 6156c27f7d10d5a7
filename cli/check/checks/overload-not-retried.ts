import type { Check } from "../check.js";
import { conditionsOf, withPolicy } from "../context.js";
import { GRPC_CONDITIONS } from "../../explain/retry-rules.js";

export const overloadNotRetried: Check = {
  code: "overload-not-retried",
  severity: "warning",
  title: "429 does not move a request on",
  why: "An overloaded provider answers 429, which none of 5xx, gateway-error or reset covers: the client gets it although another provider is free",
  find(context) {
    return withPolicy(context)
      .filter(({ policy }) => {
        const conditions = conditionsOf(policy);
        const grpc = [...conditions].some((word) => word in GRPC_CONDITIONS);
        const covers =
          conditions.has("retriable-status-codes") && policy.retriableStatusCodes?.value.includes(429) === true;
        return conditions.size > 0 && !covers && !grpc && policy.retriableHeaders.length === 0;
      })
      .map(({ policy }) => ({
        at: policy.retryOn ?? policy,
        message: "the retry policy of a route with several groups does not retry 429",
        fix: "add retriable-status-codes to retry_on, and retriable_status_codes: [429]",
      }));
  },
};
