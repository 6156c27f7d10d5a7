import type { Check } from "../check.js";
import { attemptsOf, withPolicy } from "../context.js";

export const retriesBeyondComposite: Check = {
  code: "retries-beyond-composite",
  severity: "warning",
  title: "more attempts than a composite cluster has clusters",
  why: "An attempt past the end of a composite cluster's list has no host: the client gets 503 no healthy upstream instead of the last answer",
  find(context) {
    return withPolicy(context)
      .filter((route) => route.composite !== undefined && attemptsOf(route) > route.groups.length)
      .map((route) => ({
        at: route.policy.numRetries ?? route.policy,
        message: `${attemptsOf(route)} attempts for a composite cluster of ${route.groups.length} clusters`,
        fix: `write num_retries: ${route.groups.length - 1}`,
      }));
  },
};
