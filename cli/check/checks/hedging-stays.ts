import type { Check } from "../check.js";
import { withPolicy } from "../context.js";

export const hedgingStays: Check = {
  code: "hedging-stays",
  severity: "warning",
  title: "hedged requests stay on the first cluster",
  why: "With hedge_on_per_try_timeout the cluster is not refreshed after a time-out: later groups are not used for slow attempts",
  find(context) {
    return withPolicy(context)
      .filter(
        ({ route, composite }) => composite === undefined && route.retries?.hedging?.onPerTryTimeout?.value === true,
      )
      .map(({ route, action }) => ({
        at: route.retries?.hedging?.onPerTryTimeout ?? action,
        message: "hedge_on_per_try_timeout on a route with several priority groups",
        fix: "leave hedge_policy out: a per-try time-out then moves the request to the next group",
      }));
  },
};
