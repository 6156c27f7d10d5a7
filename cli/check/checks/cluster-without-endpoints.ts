import type { Check } from "../check.js";
import { quoted } from "../context.js";

export const clusterWithoutEndpoints: Check = {
  code: "cluster-without-endpoints",
  severity: "warning",
  title: "a cluster of a chain that has no endpoint",
  why: "An attempt that leads to a cluster without a host ends the request with 503 at once: neither is it retried, nor are the groups after it used",
  find(context) {
    return context.fallbacks.flatMap((route) => {
      if (route.composite !== undefined && context.program.compositesSkip) return [];
      return context
        .clustersOf(route)
        .filter(({ endpoints, composite }) => endpoints === 0 && composite === undefined)
        .map((cluster) => ({
          at: cluster,
          message: `cluster ${quoted(cluster.name?.value ?? "")} of a chain has no endpoint`,
          fix: "give it endpoints, or leave it out of the groups",
        }));
    });
  },
};
