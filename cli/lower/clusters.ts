import { chainChangesCount } from "../choose/attempt-count.js";
import type { Reason } from "../choose/delivery.js";
import { otherUpstreamFilter } from "../choose/filter-chain.js";
import type { Finding } from "../findings.js";
import type { Attempts } from "../model/attempts.js";
import type { Cluster } from "../model/cluster.js";
import type { Program } from "../model/program.js";
import type { RouteConfiguration } from "../model/route.js";
import { cursorAt } from "../read/place.js";

/** What upstream filters may do that counts for routes. */
export interface FilterEffects {
  changesCount: Reason | undefined;
  writesMetadata: Reason | undefined;
}

/** The clusters of a file by name, and which of them have upstream filters of their own. */
export class Clusters {
  /** Those with upstream filters of their own. */
  readonly withFilters: readonly Cluster[];
  /** Names in the order of the file. */
  readonly all: readonly string[];
  /** The most attempts that a retry policy of a cluster's own allows. */
  readonly attempts: number;
  private readonly names: ReadonlySet<string>;
  private readonly effects = new Map<string, FilterEffects>();

  constructor(private readonly program: Program) {
    const { clusters } = program;
    this.all = clusters.map(nameOf).filter((name) => name !== "");
    this.names = new Set(clusters.map(nameOf));
    this.attempts = Math.max(1, ...clusters.map(({ protocolOptions }) => protocolOptions?.attempts ?? 1));
    this.withFilters = clusters.filter(({ protocolOptions }) => protocolOptions?.filters !== undefined);
    for (const cluster of this.withFilters) {
      const filters = cluster.protocolOptions?.filters;
      const other = otherUpstreamFilter(filters);
      this.effects.set(nameOf(cluster), {
        changesCount: chainChangesCount(filters),
        writesMetadata: other && writesMetadata(other),
      });
    }
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  /** Whether one of these clusters has filters of its own that change x-envoy-attempt-count, or may write metadata. */
  effectsOf(names: ReadonlySet<string>): FilterEffects {
    const effects = [...names].map((name) => this.effects.get(name));
    return {
      changesCount: effects.find((one) => one?.changesCount !== undefined)?.changesCount,
      writesMetadata: effects.find((one) => one?.writesMetadata !== undefined)?.writesMetadata,
    };
  }

  /** The clusters of a route's groups that the bootstrap does not have, where Envoy would check them. */
  unknown({ groups }: Attempts, config: RouteConfiguration): Finding[] {
    const validates = config.validateClusters?.value ?? config.validatesByDefault;
    if (!validates || this.program.kind !== "bootstrap") return [];
    const names = groups.flatMap(({ clusters }) => clusters.map(({ name }) => name));
    const unknown = names.filter(({ value }) => value !== "" && !this.has(value));
    return unknown.map(({ value, origin }) => {
      const message = `expected the name of a cluster in static_resources.clusters, found ${JSON.stringify(value)}`;
      return cursorAt(origin).finding(message);
    });
  }
}

export function nameOf({ name }: Cluster): string {
  return name?.value ?? "";
}

/** Why an upstream filter may write what an override is read from. */
export function writesMetadata({ name, origin }: { name: string; origin: Reason["at"] }): Reason {
  return { because: `the upstream filter ${name} may write metadata`, at: origin };
}
