import type { Check } from "../check.js";
import { allPolicies, conditionsOf } from "../context.js";

export const conditionWithoutStatusCodes: Check = {
  code: "condition-without-status-codes",
  severity: "warning",
  title: "the condition retriable-status-codes without codes",
  why: "retriable-status-codes retries what retriable_status_codes lists: without a list it retries nothing",
  find(context) {
    return allPolicies(context)
      .filter(
        (policy) =>
          conditionsOf(policy).has("retriable-status-codes") && (policy.retriableStatusCodes?.value ?? []).length === 0,
      )
      .map((policy) => ({
        at: policy.retryOn ?? policy,
        message: "retry_on has retriable-status-codes, and retriable_status_codes is empty",
        fix: "list the codes: retriable_status_codes: [429]",
      }));
  },
};
