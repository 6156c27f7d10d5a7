// Envoy's own weighted_clusters, which a retry with a refresh moves on from.

import type { WeightedCluster } from "../model/index.js";
import type { Picks } from "./attempts.js";

/** Picks by a random value: a retry picks among the clusters that were not used, and begins anew once all were. */
export function weightedPicks(clusters: readonly WeightedCluster[], random: bigint): Picks {
  let unused = [...clusters];
  return {
    cluster: () => {
      if (unused.length === 0) unused = [...clusters];
      const picked = pick(unused, random);
      unused = unused.filter((cluster) => cluster !== picked);
      return picked?.name.value ?? "";
    },
  };
}

function pick(clusters: readonly WeightedCluster[], random: bigint): WeightedCluster | undefined {
  const total = clusters.reduce((all, { weight }) => all + BigInt(weight), 0n);
  if (total === 0n) return clusters[0];
  let rest = random % total;
  return clusters.find(({ weight }) => {
    if (rest < BigInt(weight)) return true;
    rest -= BigInt(weight);
    return false;
  });
}
