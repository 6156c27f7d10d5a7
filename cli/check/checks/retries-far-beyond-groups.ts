import type { Check } from "../check.js";
import { attemptsOf, withPolicy } from "../context.js";

export const retriesFarBeyondGroups: Check = {
  code: "retries-far-beyond-groups",
  severity: "warning",
  title: "many more attempts than groups",
  why: "Attempts past the list stay on the last group: that many retries on one cluster only add load to what has failed",
  find(context) {
    return withPolicy(context)
      .filter((route) => route.composite === undefined && attemptsOf(route) > Math.max(10, 3 * route.groups.length))
      .map((route) => ({
        at: route.policy.numRetries ?? route.policy,
        message: `${attemptsOf(route)} attempts for ${route.groups.length} groups`,
        fix: `write num_retries: ${route.groups.length - 1}, or repeat groups in the list`,
      }));
  },
};
