import type { Check } from "../check.js";
import { attemptsOf, withPolicy } from "../context.js";
import { idleTimeoutOf } from "../idle-timeout.js";

export const idleTimeoutEndsAttempts: Check = {
  code: "idle-timeout-ends-attempts",
  severity: "warning",
  title: "an idle time-out that attempts do not fit into",
  why: "Attempts without an answer move nothing, and a retry does not begin the idle time-out of the stream anew: once it is over the request ends with 504, whatever attempt it is at",
  find(context) {
    return withPolicy(context).flatMap((route) => {
      const { action, policy, groups, managers } = route;
      const perTry = policy.perTryTimeout?.value ?? 0;
      const timeout = action.timeout?.value ?? 0;
      const attempts = Math.min(attemptsOf(route), groups.length);
      const idle = idleTimeoutOf(action, managers);
      const isFirst = idle.value > 0 && (timeout === 0 || idle.value < timeout);
      if (perTry === 0 || !isFirst || perTry * attempts <= idle.value) return [];
      return [
        {
          at: idle.at ?? policy.perTryTimeout ?? policy,
          message: `${attempts} attempts of ${perTry} ms do not fit into the idle time-out of ${idle.value} ms`,
          fix: `write idle_timeout: ${Math.ceil((perTry * attempts) / 1000) + 1}s into the route, or a shorter per_try_timeout`,
        },
      ];
    });
  },
};
