import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import { namesAttemptHeader } from "./attempt-header.js";
import { clusterFilters, type Resources, type RouteConfigSite } from "./find.js";
import type { PriorityGroupRoute } from "./priority-group.js";

/** The clusters of a file by name, and which of them have upstream filters of their own. */
export class Clusters {
  private readonly names = new Set<string>();
  private readonly changingHeader = new Set<string>();
  readonly withFilters: { name: string; cluster: Cursor }[] = [];

  constructor(private readonly resources: Resources) {
    for (const cluster of resources.clusters) {
      const name = cluster.field("name")?.string() ?? "";
      this.names.add(name);
      const filters = clusterFilters(cluster);
      if (filters === undefined) continue;
      this.withFilters.push({ name, cluster });
      if (namesAttemptHeader(filters)) this.changingHeader.add(name);
    }
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  /** Whether the cluster's own filters change x-envoy-attempt-count, on the header map that the router reads. */
  changesAttemptHeader(name: string): boolean {
    return this.changingHeader.has(name);
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
