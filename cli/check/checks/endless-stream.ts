import type { Check } from "../check.js";
import { idleTimeoutOf } from "../idle-timeout.js";

export const endlessStream: Check = {
  code: "endless-stream",
  severity: "warning",
  title: "a stream that nothing ends",
  why: "per_try_timeout ends with the response headers: with timeout 0s and no idle time-out, a stream that stops in its middle stays open for ever",
  find(context) {
    return context.fallbacks.flatMap(({ action, policy, managers }) => {
      const perTryIdle = policy?.perTryIdleTimeout?.value ?? 0;
      const ends = perTryIdle > 0 || (action.maxStreamDuration?.value ?? 0) > 0;
      const idle = idleTimeoutOf(action, managers);
      if (action.timeout?.value !== 0 || ends || idle.value > 0) return [];
      return [
        {
          at: idle.at ?? action.timeout,
          message: "the idle time-out is off on a route with timeout: 0s",
          fix: "write an idle_timeout into the route: the longest silence within a stream",
        },
      ];
    });
  },
};
