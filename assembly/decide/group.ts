import { Bytes } from "../bytes";
import { Choice } from "./choice";

/**
 * A priority group ready to be picked from: cluster names and the ends of their weight intervals.
 *
 * Cluster i owns the random values with `ends[i - 1] <= value % total < ends[i]`, in list order; a cluster that is
 * listed twice owns two intervals. Weights are 32-bit and their sum is 64-bit, so no list that fits in memory overflows.
 */
@final
export class Group {
  constructor(
    readonly name: Bytes,
    readonly clusters: StaticArray<Bytes>,
    private ends: StaticArray<u64>,
  ) {}

  /** Sum of the weights, at least 1. */
  get total(): u64 {
    return this.ends[this.ends.length - 1];
  }

  /** Index of the cluster that the random value falls on. Specification: priority groups, "Cluster selection". */
  pick(random: u64): i32 {
    const ends = this.ends;
    const last = ends.length - 1;
    if (last == 0) return 0;
    const value = random % unchecked(ends[last]);
    let low = 0;
    let high = last;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value < unchecked(ends[middle])) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Sets `out` to the group's clusters. */
  lend(out: Choice): void {
    out.clear();
    let start: u64 = 0;
    for (let i = 0; i < this.clusters.length; i++) {
      const cluster = unchecked(this.clusters[i]);
      const end = unchecked(this.ends[i]);
      out.add(changetype<usize>(cluster), cluster.length, end - start);
      start = end;
    }
  }

  /** Whether the random value matters. */
  get isWeighted(): bool {
    return this.clusters.length > 1;
  }
}

/** Builds a group; `weights[i]` (1 to 2^32 - 1) belongs to `clusters[i]`, and there is at least one. */
export function group(name: Bytes, clusters: StaticArray<Bytes>, weights: StaticArray<u32>): Group {
  const ends = new StaticArray<u64>(weights.length);
  let total: u64 = 0;
  for (let i = 0; i < weights.length; i++) {
    total += weights[i];
    ends[i] = total;
  }
  return new Group(name, clusters, ends);
}
