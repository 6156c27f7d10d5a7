import type { Check } from "../check.js";
import { quoted } from "../context.js";

export const misplacedComposite: Check = {
  code: "misplaced-composite",
  severity: "error",
  title: "a composite cluster as one of weighted clusters",
  why: "There it cannot be lowered: an attempt's place in the list cannot be told from outside",
  find(context) {
    return context.routes.flatMap(({ route: { action } }) => {
      if (action.kind !== "route") return [];
      const { destination } = action.route;
      const weighted = destination.kind === "weighted_clusters" ? destination.clusters.map(({ name }) => name) : [];
      return weighted
        .filter(({ value }) => context.cluster(value)?.composite !== undefined)
        .map((at) => ({
          at,
          message: `the composite cluster ${quoted(at.value)} stands where lower cannot replace it`,
          fix: "name it as the route's own cluster",
        }));
    });
  },
};
