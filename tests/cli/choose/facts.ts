import type { Reason } from "../../../cli/choose/delivery.js";
import type { RouteFacts, RouteSurroundings } from "../../../cli/choose/routes.js";
import type { Json, Origin } from "../../../cli/model/origin.js";

export const AT: Origin = { file: "in.yaml", line: 1, column: 1, path: "(document)" };

/** No connection manager stands in the way of a form. */
export const FREE: RouteSurroundings = { unmarked: undefined, sharedFilter: undefined };

export interface Group {
  name: string;
  weights: Record<string, number>;
}

export function group(name: string, weights: Record<string, number>): Group {
  return { name, weights };
}

export function reason(because: string): Reason {
  return { because, at: AT };
}

/** A route with these groups, of which nothing else is to be said; `specifier`: more fields of its specifier. */
export function route(groups: readonly Group[], specifier: Record<string, Json> = {}): RouteFacts {
  const value = <T>(of: T) => ({ value: of, origin: AT });
  const priority_groups = groups.map(({ name, weights }) => ({
    name,
    clusters: Object.entries(weights).map(([cluster_name, weight]) => ({ cluster_name, weight })),
  }));
  return {
    at: AT,
    attempts: {
      origin: AT,
      source: { kind: "inline" },
      groups: groups.map(({ name, weights }) => ({
        name: value(name),
        origin: AT,
        clusters: Object.entries(weights).map(([cluster, weight]) => ({ name: value(cluster), weight, origin: AT })),
      })),
      random: { kind: "internal" },
      override: undefined,
      composites: [],
      json: {},
    },
    settings: { priority_group: { priority_groups, ...specifier }, slots: groups.length },
    slots: groups.map(({ weights }) => {
      const [defaultCluster = "", ...otherClusters] = Object.keys(weights);
      return { defaultCluster, otherClusters, open: false };
    }),
    byHeader: undefined,
    watchesAnswers: undefined,
    countUnusable: undefined,
    unsplittable: undefined,
    pinned: undefined,
    readsPerAttempt: undefined,
    skips: undefined,
  };
}
