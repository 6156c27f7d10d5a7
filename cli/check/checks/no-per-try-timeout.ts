import type { Check } from "../check.js";
import { withPolicy } from "../context.js";

export const noPerTryTimeout: Check = {
  code: "no-per-try-timeout",
  severity: "warning",
  title: "a hanging upstream is never left",
  why: "Without per_try_timeout or per_try_idle_timeout an attempt that gets no answer uses up the time of all attempts: the next provider is never asked",
  find(context) {
    return withPolicy(context)
      .filter(({ policy }) => (policy.perTryTimeout?.value ?? 0) === 0 && (policy.perTryIdleTimeout?.value ?? 0) === 0)
      .map(({ at }) => ({
        at,
        message: "the retry policy of a route with several groups has no per_try_timeout",
        fix: "write per_try_timeout: the time until response headers; a stream that has begun is not cut by it",
      }));
  },
};
