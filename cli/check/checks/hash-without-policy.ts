import type { Check } from "../check.js";

export const hashWithoutPolicy: Check = {
  code: "hash-without-policy",
  severity: "warning",
  title: "use_hash_policy without a hash policy",
  why: "Where no hash policy gives a value, picks are random: the same user is sent to different clusters",
  find(context) {
    return context.fallbacks.flatMap(({ attempts: { random } }) => {
      if (random.kind !== "hash" || random.policies.length > 0) return [];
      return [
        {
          at: random.at,
          message: "use_hash_policy on a route without hash_policy",
          fix: "write hash_policy into the route",
        },
      ];
    });
  },
};
