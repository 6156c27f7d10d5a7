import type { Composite } from "../model/cluster.js";
import { TYPE } from "../lower/types.js";
import type { Cursor } from "../yaml/cursor.js";
import { text, valueOf } from "./fields.js";
import { originOf } from "./place.js";

const COMPOSITE_TYPE = "envoy.clusters.composite";

/** The definition of a composite cluster; undefined for any other cluster. */
export function readComposite(cluster: Cursor): Composite | undefined {
  const type = cluster.field("cluster_type");
  const config = type?.field("typed_config");
  if (config?.type() !== TYPE.compositeCluster && type?.field("name")?.string() !== COMPOSITE_TYPE) return undefined;
  const entries = config?.list("clusters") ?? [];
  return {
    clusters: entries.map((entry) => text(entry, "name") ?? valueOf(entry, "")),
    origin: originOf(config ?? cluster),
  };
}

/** Which names are those of composite clusters, and what these lead to. */
export class CompositeNames {
  private readonly lists = new Map<string, readonly string[]>();

  constructor(clusters: readonly Cursor[]) {
    for (const cluster of clusters) {
      const composite = readComposite(cluster);
      const names = composite?.clusters.map(({ value }) => value);
      if (names !== undefined) this.lists.set(cluster.field("name")?.string() ?? "", names);
    }
  }

  get names(): string[] {
    return [...this.lists.keys()];
  }

  has(name: string): boolean {
    return this.lists.has(name);
  }

  /** The composite clusters that can be met from these names: themselves and those nested in them. */
  reach(names: readonly string[]): string[] {
    const reached = new Set<string>();
    const visit = (name: string): void => {
      if (!this.has(name) || reached.has(name)) return;
      reached.add(name);
      this.lists.get(name)?.forEach(visit);
    };
    names.forEach(visit);
    return [...reached];
  }
}
