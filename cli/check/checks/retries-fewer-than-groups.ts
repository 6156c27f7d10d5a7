import type { Check } from "../check.js";
import { attemptsOf, conditionsOf, withPolicy } from "../context.js";

export const retriesFewerThanGroups: Check = {
  code: "retries-fewer-than-groups",
  severity: "warning",
  title: "fewer attempts than groups",
  why: "Attempt n uses group n: groups past the last attempt are never used",
  find(context) {
    return withPolicy(context)
      .filter((route) => conditionsOf(route.policy).size > 0 && attemptsOf(route) < route.groups.length)
      .map((route) => ({
        at: route.policy.numRetries ?? route.policy,
        message: `${attemptsOf(route)} attempts for ${route.groups.length} groups: the last ${route.groups.length - attemptsOf(route)} are never used`,
        fix: `write num_retries: ${route.groups.length - 1}`,
      }));
  },
};
