import type { Check } from "../check.js";
import { withPolicy } from "../context.js";

export const smallRetryBuffer: Check = {
  code: "small-retry-buffer",
  severity: "warning",
  title: "a buffer too small for the bodies that are sent again",
  why: "A retry needs the whole body: once a body is larger than the buffer limit, retries silently end and the first failure is the answer",
  find(context) {
    return withPolicy(context).flatMap(({ route, virtualHost, managers }) => {
      const listeners = context.program.listeners.filter((one) =>
        one.managers.some((manager) => managers.includes(manager)),
      );
      const own = route.requestBufferLimit ?? virtualHost.requestBufferLimit;
      const limits = own === undefined ? listeners.map((listener) => listener.perConnectionBufferLimit) : [own];
      return limits.flatMap((limit) => {
        if (limit === undefined || limit.value >= SMALL) return [];
        return [
          {
            at: limit,
            message: `a route with several groups keeps ${limit.value} bytes of a body: requests with more are not retried`,
            fix: "write per_request_buffer_limit_bytes of the largest body that should be retried into the route",
          },
        ];
      });
    });
  },
};

/** Prompts and uploads are larger: below this, retries end for ordinary requests. */
const SMALL = 64 * 1024;
