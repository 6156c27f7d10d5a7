import type { Finding } from "../findings.js";
import type { Resources, RouteConfigSite } from "./find.js";
import type { PriorityGroupRoute } from "./priority-group.js";

/** Reports the clusters of a route's groups that the bootstrap does not have, where Envoy would check them. */
export function checkClusters(
  planned: PriorityGroupRoute,
  site: RouteConfigSite,
  resources: Resources,
  findings: Finding[],
): void {
  const validates = site.config.field("validate_clusters")?.bool() ?? site.validatesByDefault;
  if (!validates || resources.kind !== "bootstrap") return;
  const known = new Set(resources.clusters.map((cluster) => cluster.field("name")?.string()));
  for (const group of planned.use.specifier.list("priority_groups")) {
    for (const cluster of group.list("clusters")) {
      const name = cluster.field("cluster_name");
      const text = name?.string();
      if (name === undefined || text === undefined || text === "" || known.has(text)) continue;
      findings.push(
        name.finding(`expected the name of a cluster in static_resources.clusters, found ${JSON.stringify(text)}`),
      );
    }
  }
}
