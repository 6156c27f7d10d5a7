import { messageOf } from "../../model/json.js";
import type { Check } from "../check.js";
import { DEFAULT_TIMEOUT_MS } from "../../explain/retry-rules.js";

export const timeoutCutsStream: Check = {
  code: "timeout-cuts-stream",
  severity: "warning",
  title: "a time-out that cuts streams",
  why: "The time-out of a route counts until the last byte of the response: a stream that takes longer is cut, although it has begun well",
  find(context) {
    return context.fallbacks.flatMap(({ route, virtualHost, action }) => {
      const streams = [route, virtualHost].some(
        ({ ownSettings }) => messageOf(ownSettings?.value)["hold_response"] !== undefined,
      );
      const timeout = action.timeout?.value ?? DEFAULT_TIMEOUT_MS;
      if (!streams || timeout === 0) return [];
      return [
        {
          at: action.timeout ?? action,
          message: `a route with hold_response, which is for streams, has a time-out of ${timeout} ms`,
          fix: "write timeout: 0s; per_try_timeout and the idle time-out still end what hangs",
        },
      ];
    });
  },
};
