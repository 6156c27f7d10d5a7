import type { Cluster } from "../model/cluster.js";
import type { Editor } from "../yaml/tree.js";
import { nameOf, type Clusters } from "./clusters.js";
import type { PlanOptions } from "./options.js";
import { clusterNames } from "./prepare.js";
import type { PriorityGroupRoute } from "./priority-group.js";
import { wireCluster, type UpstreamPlace } from "./upstream-wiring.js";

/** The clusters whose own upstream filters need the upstream role, by the listeners that reach them. */
export class UpstreamUses {
  private readonly uses = new Map<Cluster, { listeners: Set<string | undefined>; place: UpstreamPlace }>();

  constructor(
    private readonly clusters: Clusters,
    private readonly options: PlanOptions,
  ) {}

  /**
   * Notes that routes need the role in the clusters that they may lead to.
   * @param listener Undefined for one that is not in the file.
   * @param routes Undefined where any cluster may be reached.
   */
  note(listener: string | undefined, routes: readonly PriorityGroupRoute[] | undefined, place: UpstreamPlace): void {
    const any = routes === undefined || routes.some(({ delivery }) => delivery.kind === "headers");
    const names = any ? undefined : clusterNames(routes);
    for (const cluster of this.clusters.withFilters) {
      if (!(names?.has(nameOf(cluster)) ?? true)) continue;
      const before = this.uses.get(cluster);
      const listeners = (before?.listeners ?? new Set()).add(listener);
      this.uses.set(cluster, { listeners, place: before?.place === "around" ? "around" : place });
    }
  }

  /**
   * Writes the role into the clusters; whether there is one. A cluster that several or unknown listeners reach has one
   * filter chain, and so a VM that is none of theirs.
   */
  wire(editor: Editor): boolean {
    for (const [cluster, { listeners, place }] of this.uses) {
      const [only, ...others] = listeners;
      const vmId = others.length === 0 && only !== undefined ? `attempt_router/${only}` : "attempt_router";
      wireCluster(cluster, vmId, place, this.options, editor);
    }
    return this.uses.size > 0;
  }
}
