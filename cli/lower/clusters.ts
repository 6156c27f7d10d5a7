import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import { namesAttemptHeader } from "./attempt-header.js";
import { clusterFilters, type Resources, type RouteConfigSite } from "../read/resources.js";
import type { PriorityGroupRoute } from "./priority-group.js";
import { attemptsOfCluster } from "./retries.js";
import { hasOtherUpstreamFilters } from "./wiring.js";

/** The clusters of a file by name, and which of them have upstream filters of their own. */
export class Clusters {
  private readonly names = new Set<string>();
  private readonly changingHeader = new Set<string>();
  private readonly writingMetadata = new Set<string>();
  readonly withFilters: { name: string; cluster: Cursor }[] = [];
  /** Names in the order of the file. */
  readonly all: readonly string[];
  /** The most attempts that a retry policy of a cluster's own allows, see `attemptsOfCluster`. */
  readonly attempts: number;

  constructor(private readonly resources: Resources) {
    this.all = resources.clusters.map((cluster) => cluster.field("name")?.string() ?? "").filter((name) => name !== "");
    this.attempts = Math.max(1, ...resources.clusters.map(attemptsOfCluster));
    for (const cluster of resources.clusters) {
      const name = cluster.field("name")?.string() ?? "";
      this.names.add(name);
      const filters = clusterFilters(cluster);
      if (filters === undefined) continue;
      this.withFilters.push({ name, cluster });
      if (namesAttemptHeader(filters)) this.changingHeader.add(name);
      if (hasOtherUpstreamFilters(filters)) this.writingMetadata.add(name);
    }
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  /** Whether one of these clusters has filters of its own that change x-envoy-attempt-count, or may write metadata. */
  filtersOf(names: ReadonlySet<string>): { changesHeader: boolean; writesMetadata: boolean } {
    return {
      changesHeader: [...names].some((name) => this.changingHeader.has(name)),
      writesMetadata: [...names].some((name) => this.writingMetadata.has(name)),
    };
  }

  /** Reports the clusters of a route's groups that the bootstrap does not have, where Envoy would check them. */
  check(planned: PriorityGroupRoute, site: RouteConfigSite, findings: Finding[]): void {
    const validates = site.config.field("validate_clusters")?.bool() ?? site.validatesByDefault;
    if (!validates || this.resources.kind !== "bootstrap") return;
    const groups = planned.use.specifier.list("priority_groups");
    for (const name of groups
      .flatMap((group) => group.list("clusters"))
      .map((cluster) => cluster.field("cluster_name"))) {
      const text = name?.string();
      if (name === undefined || text === undefined || text === "" || this.has(text)) continue;
      findings.push(
        name.finding(`expected the name of a cluster in static_resources.clusters, found ${JSON.stringify(text)}`),
      );
    }
  }
}
