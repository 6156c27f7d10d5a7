// What is known of clusters: whether they exist, have a host, and let a request pass.

import type { Cluster, Program } from "../model/index.js";

/** The clusters of a program, and those that are down for the request. */
export class ClusterFacts {
  private readonly byName = new Map<string, Cluster>();

  /** @param down names of clusters that have no healthy host */
  constructor(
    private readonly program: Program,
    private readonly down: ReadonlySet<string>,
  ) {
    // Envoy refuses a second static cluster of a name, so the first is as good as any.
    for (const cluster of program.clusters) {
      const name = cluster.name?.value ?? "";
      if (!this.byName.has(name)) this.byName.set(name, cluster);
    }
  }

  /** Names of the clusters whose own retry policy stands in the place of a route's. */
  get withRetryPolicy(): string[] {
    return [...this.byName].filter(([, one]) => one.protocolOptions?.retryPolicy !== undefined).map(([name]) => name);
  }

  get(name: string): Cluster | undefined {
    return this.byName.get(name);
  }

  /** Clusters that are not in the file may come by CDS, or stand in the file of another resource. */
  exists(name: string): boolean {
    return this.byName.has(name) || this.program.dynamicClusters || this.program.kind === "resources";
  }

  /** Whether an attempt finds a host; that of a composite cluster is that of the cluster it leads to. */
  hasHost(name: string): boolean {
    if (this.down.has(name) || !this.exists(name)) return false;
    return this.byName.get(name)?.endpoints !== 0;
  }

  isDown(name: string): boolean {
    return this.down.has(name);
  }

  /** The limits of a cluster for a priority. */
  limits(name: string, priority: "DEFAULT" | "HIGH"): { retries: number; requests: number } {
    const own = this.byName.get(name)?.thresholds.find((one) => one.priority === priority);
    const requests = Math.min(
      own?.maxRequests?.value ?? 1024,
      own?.maxConnections?.value ?? 1024,
      own?.maxPendingRequests?.value ?? 1024,
    );
    return { retries: retryLimit(own), requests };
  }

  /**
   * Where an attempt of a composite cluster goes, and what it passes over. `cluster` undefined: past the end of the list.
   * Specification: composite clusters, "Cluster selection" and "Hosts availability".
   */
  resolve(name: string, attempt: number): { cluster: string | undefined; skipped: string[] } {
    return this.resolveIn(name, attempt, new Set());
  }

  private resolveIn(
    name: string,
    attempt: number,
    seen: ReadonlySet<string>,
  ): { cluster: string | undefined; skipped: string[] } {
    const composite = this.byName.get(name)?.composite;
    if (composite === undefined || seen.has(name)) return { cluster: name, skipped: [] };
    const inside = new Set([...seen, name]);
    const skipped: string[] = [];
    const entries = composite.clusters.slice(attempt - 1, this.program.compositesSkip ? undefined : attempt);
    for (const entry of entries) {
      const inner = this.resolveIn(entry.value, attempt, inside);
      skipped.push(...inner.skipped);
      if (inner.cluster !== undefined && this.hasHost(inner.cluster)) return { cluster: inner.cluster, skipped };
      if (inner.cluster !== undefined) skipped.push(inner.cluster);
    }
    return { cluster: undefined, skipped };
  }
}

type Thresholds = Cluster["thresholds"][number];

/** Concurrent retries; with a retry budget, those of a cluster that has this one request. */
function retryLimit(own: Thresholds | undefined): number {
  const budget = own?.retryBudget?.json;
  if (budget === undefined || budget === null || typeof budget !== "object" || Array.isArray(budget)) {
    return own?.maxRetries?.value ?? 3;
  }
  const atLeast = budget["min_retry_concurrency"] ?? budget["minRetryConcurrency"] ?? 3;
  return Number(atLeast);
}
