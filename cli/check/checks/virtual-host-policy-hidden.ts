import { messageOf } from "../../model/json.js";
import type { Check } from "../check.js";

export const virtualHostPolicyHidden: Check = {
  code: "virtual-host-policy-hidden",
  severity: "warning",
  title: "a virtual host's retry policy that a route's own one replaces",
  why: "Envoy does not merge retry policies: a route with one of its own has nothing of that of its virtual host",
  find(context) {
    return context.fallbacks.flatMap(({ route, virtualHost }) => {
      const own = route.retries?.route;
      const hidden = virtualHost.retryPolicy;
      if (own === undefined || hidden === undefined) return [];
      const lost = Object.keys(messageOf(hidden.json)).filter((field) => !(field in messageOf(own.json)));
      if (lost.length === 0) return [];
      return [
        {
          at: own,
          message: `the route's retry_policy replaces that of its virtual host, which also sets ${lost.join(", ")}`,
          fix: "repeat in the route's retry_policy what should hold there, or leave it out",
        },
      ];
    });
  },
};
