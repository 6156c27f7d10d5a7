import type { Check } from "../check.js";
import { withPolicy } from "../context.js";

export const defaultRouteTimeout: Check = {
  code: "default-route-timeout",
  severity: "warning",
  title: "the default time-out of 15 s for all attempts together",
  why: "A route's time-out covers all of its attempts and the waits between them, and is 15 s unless set: slow answers leave no time for the next provider",
  find(context) {
    return withPolicy(context)
      .filter(({ action }) => action.timeout === undefined)
      .map(({ action }) => ({
        at: action,
        message: "a route with several groups has no timeout: 15 s for all attempts",
        fix: "write the timeout that all attempts together may take, or timeout: 0s with a per_try_timeout",
      }));
  },
};
