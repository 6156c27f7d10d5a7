// What `explain` says, in the form of its JSON output.

export interface SpecifierRun {
  readonly level: "route_configuration" | "virtual_host" | "route";
  readonly name: string;
  readonly type: string;
  readonly applied: boolean;
  readonly because: string;
}

export interface Candidate {
  readonly cluster: string;
  readonly probability: number;
}

export interface ExplainedAttempt {
  readonly attempt: number;
  /** The priority group; null where the route has none. */
  readonly group: string | null;
  /** Where attempts of this number go, over all random values. */
  readonly candidates: readonly Candidate[];
  /** Null where it hangs on a random value that was not given. */
  readonly cluster: string | null;
  readonly answer: number | string | null;
  readonly next: "retry" | "end";
  readonly because: string;
  /** How many of the requests come to this attempt, 0 to 1. */
  readonly probability: number;
  readonly override?: { readonly used: boolean; readonly because: string };
  /** Clusters without a host that were passed over within the attempt. */
  readonly skipped?: readonly string[];
}

/** One way through the attempts. */
export interface Path {
  readonly probability: number;
  readonly clusters: readonly (string | null)[];
  readonly status: number | null;
}

export interface Explanation {
  readonly virtual_host: string | null;
  readonly route: string | null;
  /** Where the route stands: file:line:column. */
  readonly route_at: string | null;
  readonly because: { readonly virtual_host: string; readonly route: string };
  /** What could not be decided, in sentences. */
  readonly undecided: readonly string[];
  readonly specifiers: readonly SpecifierRun[];
  readonly retries: {
    readonly source: string;
    readonly conditions: readonly string[];
    readonly num_retries: number;
    readonly refresh_cluster_on_retry: boolean;
    readonly timeout_ms: number;
    readonly per_try_timeout_ms: number;
  } | null;
  readonly attempts: readonly ExplainedAttempt[];
  readonly paths: readonly Path[];
  /** Probabilities come from a sample of random values. */
  readonly sampled: boolean;
  readonly result: { readonly status: number | null; readonly cluster: string | null; readonly because: string };
}
