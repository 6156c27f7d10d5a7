import type { Editor } from "../yaml/tree.js";
import type { Json } from "../yaml/scalar.js";
import { aggregateCluster, aggregateName, type Aggregate } from "./aggregates.js";
import type { CompositeDelivery } from "./aggregate-route.js";
import { needingFactor } from "./composite-form.js";
import { compositeNames } from "./composite-route.js";
import type { Composites } from "./composites.js";
import { OVERPROVISIONING } from "./members.js";
import type { PreparedRoute } from "./priority-group.js";

/** What needs aggregates. */
type Aggregated = Pick<CompositeDelivery, "aggregates">;

/** The aggregates that routes lead to, once each; those of composite clusters in another file are written there. */
export function aggregateClusters(
  deliveries: readonly Aggregated[],
  composites: Composites,
  elsewhere: boolean,
): Json[] {
  const all = aggregatesOf(deliveries).filter(({ composite }) => elsewhere || !composites.isElsewhere(composite));
  return all.map((one) => aggregateCluster(one, composites.definition(one.composite) ?? {}));
}

/** Makes one healthy host enough in the clusters of this file, `own`, to keep the aggregates on a cluster, as it keeps a composite cluster. */
export function keepOnHealthyHosts(
  deliveries: readonly Aggregated[],
  composites: Composites,
  own: ReadonlySet<string>,
  editor: Editor,
): void {
  const lists = aggregatesOf(deliveries).map(({ clusters }) => clusters);
  const names = new Set(lists.flatMap((list) => needingFactor(list, (name) => composites.member(name))));
  for (const name of names) {
    if (!own.has(name)) continue;
    const assignment = composites.clusterNamed(name)?.field("load_assignment");
    const policy = assignment?.field("policy");
    const factor = { overprovisioning_factor: OVERPROVISIONING };
    if (policy?.map !== undefined) editor.set(policy.map, "overprovisioning_factor", OVERPROVISIONING);
    else if (assignment?.map !== undefined) editor.set(assignment.map, "policy", factor);
  }
}

/** The composite clusters for which some route uses their clusters themselves, so that their own settings are lost. */
export function losingComposites(routes: readonly PreparedRoute[], composites: Composites): Set<string> {
  const probed = routes
    .filter((route) => route.composites?.form === "PROBE")
    .flatMap(({ settings }) => compositeNames(settings));
  const direct = routes.flatMap((route) => route.composites?.aggregates ?? []).filter((aggregate) => aggregate.direct);
  return new Set(composites.reach([...probed, ...direct.map(({ composite }) => composite)]));
}

function aggregatesOf(deliveries: readonly Aggregated[]): Aggregate[] {
  const all = deliveries.flatMap(({ aggregates }) => aggregates).filter((aggregate) => !aggregate.direct);
  return [...new Map(all.map((one) => [aggregateName(one), one])).values()];
}
