import type { ModuleFiles } from "../modules.js";
import type { Cursor } from "../yaml/cursor.js";

/** Where Envoy finds the module. */
export type ModuleSource =
  | { kind: "local"; filename: string }
  | { kind: "remote"; uri: string; sha256: string; cluster: string; addCluster: boolean };

export type FailurePolicy = "FAIL_OPEN" | "FAIL_CLOSED" | "FAIL_RELOAD";

/** What `lower` needs to know beside the file. */
export interface PlanOptions {
  files: ModuleFiles;
  module: ModuleSource;
  /** False: x-envoy-attempt-count is never sent upstream, every route takes the one-slot form. */
  attemptHeader: boolean;
  failurePolicy: FailurePolicy;
  /** Also wire connection managers whose routes come from RDS or SRDS. */
  rds: boolean;
  /** Where that is the same, write a weighted chain as one route for each share of the requests. */
  splitWeights: boolean;
  /** Name of the HTTP filter before which the module goes; undefined: right before the router. */
  placeBefore: string | undefined;
  /** Clusters of the file of composite clusters, which is lowered apart. */
  elsewhere: readonly Cursor[];
  /** The attempt count of a client matters to nothing in the file, so it can be removed before a route is resolved. */
  removesAttemptCount: boolean;
}
