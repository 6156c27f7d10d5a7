import { messageOf } from "../../model/json.js";
import type { Check } from "../check.js";

export const redirectTakesHeaders: Check = {
  code: "redirect-takes-headers",
  severity: "warning",
  title: "an upstream can send a request, with its headers, to any route",
  why: "With an internal redirect the upstream's Location chooses the next route, and the request takes along what was set for the first cluster, such as a provider's key; the attempts begin anew there",
  find(context) {
    return context.fallbacks.flatMap(({ action }) => {
      const redirects = action.internalRedirects;
      if (redirects === undefined || redirects.max?.value === 0) return [];
      const listed = redirects.predicates.some(
        ({ value }) => messageOf(messageOf(value)["typed_config"])["allowed_route_names"] !== undefined,
      );
      if (listed) return [];
      return [
        {
          at: redirects,
          message: "internal_redirect_policy without a list of the routes that it may lead to",
          fix: "add the predicate envoy.internal_redirect_predicates.allow_listed_routes with allowed_route_names",
        },
      ];
    });
  },
};
