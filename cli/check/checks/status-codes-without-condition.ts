import type { Check } from "../check.js";
import { allPolicies, conditionsOf } from "../context.js";

export const statusCodesWithoutCondition: Check = {
  code: "status-codes-without-condition",
  severity: "error",
  title: "retriable_status_codes that do not count",
  why: "The codes of retriable_status_codes are looked at only where retry_on has retriable-status-codes",
  find(context) {
    return allPolicies(context)
      .filter(
        (policy) => policy.retriableStatusCodes !== undefined && !conditionsOf(policy).has("retriable-status-codes"),
      )
      .map((policy) => ({
        at: policy.retriableStatusCodes ?? policy,
        message: "retriable_status_codes stand beside a retry_on without retriable-status-codes",
        fix: "add retriable-status-codes to retry_on",
      }));
  },
};
