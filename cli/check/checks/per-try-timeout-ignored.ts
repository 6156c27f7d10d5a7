import type { Check } from "../check.js";
import { DEFAULT_TIMEOUT_MS } from "../../explain/retry-rules.js";

export const perTryTimeoutIgnored: Check = {
  code: "per-try-timeout-ignored",
  severity: "error",
  title: "a per_try_timeout that never comes",
  why: "Envoy ignores a per_try_timeout that is not shorter than the time-out of the route",
  find(context) {
    return context.fallbacks.flatMap(({ action, policy }) => {
      const timeout = action.timeout?.value ?? DEFAULT_TIMEOUT_MS;
      const perTry = policy?.perTryTimeout;
      if (perTry === undefined || timeout === 0 || perTry.value < timeout) return [];
      return [
        {
          at: perTry,
          message: `per_try_timeout of ${perTry.value} ms beside a time-out of the route of ${timeout} ms`,
          fix: "write a per_try_timeout that leaves time for the other attempts",
        },
      ];
    });
  },
};
