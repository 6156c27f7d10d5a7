import type { Check } from "../check.js";
import { quoted } from "../context.js";

export const duplicateCluster: Check = {
  code: "duplicate-cluster",
  severity: "error",
  title: "two clusters with one name",
  why: "Envoy refuses a second static cluster of the same name",
  find(context) {
    const seen = new Set<string>();
    return context.program.clusters.flatMap((cluster) => {
      const name = cluster.name?.value ?? "";
      const known = seen.has(name);
      seen.add(name);
      if (!known) return [];
      return [
        {
          at: cluster,
          message: `a second cluster is called ${quoted(name)}`,
          fix: "give each cluster a name of its own",
        },
      ];
    });
  },
};
