// Composite clusters: attempt n uses the n-th cluster of a list, or the first one after it that has a host.

import { Bytes, View, encode } from "../bytes";
import { Named } from "./name-table";

/** The cluster of an attempt for which no cluster has a host: `lower` defines it, without endpoints. */
export const NO_HOST = encode("attempt_router_no_host");

/** Whether a cluster has a host, as far as is known. */
export enum HostState {
  UNKNOWN,
  HAS_HOST,
  NO_HOST,
}

/** A cluster that composite clusters list. What is known about it is shared by all of them, and changes over time. */
@final
export class Candidate extends Named {
  state: HostState = HostState.UNKNOWN;
  /** Whether some list goes on behind it, so that its state matters. */
  watched: bool = false;
  /** Whether `Candidates` has it. */
  remembered: bool = false;
  /** When it was last in use, in seconds. */
  usedAt: u32 = 0;
}

/** A composite cluster with, for every attempt, the clusters that the attempt may use in their order. */
@final
export class Composite {
  /** @param aggregates Whether the defaults of attempts with several clusters are aggregates of these. */
  constructor(
    readonly name: Bytes,
    private attempts: StaticArray<StaticArray<Candidate>>,
    private defaults: StaticArray<Bytes>,
    readonly aggregates: bool,
  ) {}

  /** Number of attempts that have a cluster. */
  get length(): i32 {
    return this.attempts.length;
  }

  /** The clusters of an attempt (1, 2, …) in their order; none past the end of the list. */
  candidates(attempt: u32): StaticArray<Candidate> {
    const index = attempt - 1;
    return index < <u32>this.attempts.length ? unchecked(this.attempts[index]) : NONE;
  }

  /**
   * The cluster that an attempt uses, or null: none has a host. A cluster of which nothing is known counts as having
   * one. Specification: composite cluster, "Cluster selection" and "Hosts availability".
   */
  clusterOf(attempt: u32): Candidate | null {
    const candidates = this.candidates(attempt);
    for (let i = 0; i < candidates.length; i++) {
      const candidate = unchecked(candidates[i]);
      if (candidate.state != HostState.NO_HOST) return candidate;
    }
    return null;
  }

  /** What an attempt uses while nothing is known of its clusters. */
  defaultOf(attempt: u32): Bytes {
    const index = attempt - 1;
    return index < <u32>this.defaults.length ? unchecked(this.defaults[index]) : NO_HOST;
  }
}

const NONE = new StaticArray<Candidate>(0);

/** The composite cluster of that name, or null. */
export function compositeNamed(composites: StaticArray<Composite>, name: View): Composite | null {
  for (let i = 0; i < composites.length; i++) {
    if (name.equals(unchecked(composites[i]).name)) return unchecked(composites[i]);
  }
  return null;
}
