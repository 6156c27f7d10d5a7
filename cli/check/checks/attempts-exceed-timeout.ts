import type { Check } from "../check.js";
import { attemptsOf, withPolicy } from "../context.js";
import { DEFAULT_TIMEOUT_MS } from "../../explain/retry-rules.js";

export const attemptsExceedTimeout: Check = {
  code: "attempts-exceed-timeout",
  severity: "warning",
  title: "attempts that do not fit into the route's time-out",
  why: "The time-out of the route ends the request whatever attempt it is at: where per_try_timeout times the attempts is more, the last ones never come",
  find(context) {
    return withPolicy(context).flatMap((route) => {
      const { action, policy, groups } = route;
      const timeout = action.timeout?.value ?? DEFAULT_TIMEOUT_MS;
      const perTry = policy.perTryTimeout?.value ?? 0;
      const attempts = Math.min(attemptsOf(route), groups.length);
      if (timeout === 0 || perTry === 0 || perTry >= timeout || perTry * attempts <= timeout) return [];
      return [
        {
          at: policy.perTryTimeout ?? policy,
          message: `${attempts} attempts of ${perTry} ms do not fit into the route's time-out of ${timeout} ms`,
          fix: `write timeout: ${Math.ceil((perTry * attempts) / 1000) + 1}s, or a shorter per_try_timeout`,
        },
      ];
    });
  },
};
