// What is retried, how often and for how long.

import type { Duration, Fraction, Json, Message, Value } from "./origin.js";
import type { HeaderMatcher } from "./match.js";

/** `envoy.config.route.v3.RetryPolicy`. */
export interface RetryPolicy extends Message {
  /** The conditions, in the order of the file; spaces around the commas are left out. */
  readonly retryOn: Value<readonly string[]> | undefined;
  /** Unset: 1. */
  readonly numRetries: Value<number> | undefined;
  readonly perTryTimeout: Duration | undefined;
  readonly perTryIdleTimeout: Duration | undefined;
  readonly retriableStatusCodes: Value<readonly number[]> | undefined;
  readonly retriableHeaders: readonly HeaderMatcher[];
  readonly retriableRequestHeaders: readonly HeaderMatcher[];
  /** Unset: base 25 ms, max 10 × base. */
  readonly backOff: (Message & { readonly base: Duration | undefined; readonly max: Duration | undefined }) | undefined;
  readonly rateLimitedBackOff: Value<Json> | undefined;
  /** Whether each retry asks for its cluster anew; unset: false. */
  readonly refreshCluster: Value<boolean> | undefined;
  readonly hostSelectionRetryMaxAttempts: Value<number> | undefined;
  readonly retryHostPredicates: Value<Json> | undefined;
  readonly retryPriority: Value<Json> | undefined;
  /** The whole policy, in snake_case. */
  readonly json: Json;
}

/** `envoy.config.route.v3.HedgePolicy`. */
export interface HedgePolicy extends Message {
  readonly onPerTryTimeout: Value<boolean> | undefined;
  readonly initialRequests: Value<number> | undefined;
  readonly additionalRequestChance: Fraction | undefined;
}

/** The retry policies that a route may have, and the one in force. */
export interface Retries {
  readonly route: RetryPolicy | undefined;
  readonly virtualHost: RetryPolicy | undefined;
  /** The route's, else that of its virtual host: the two are never merged. Of a cluster's own policy see `Cluster`. */
  readonly effective: RetryPolicy | undefined;
  /** `retry_policy_typed_config` of the route or of the virtual host, whose content only Envoy knows. */
  readonly typed: Value<Json> | undefined;
  /** The hedge policy in force: the route's, else that of the virtual host. */
  readonly hedging: HedgePolicy | undefined;
  /** How many attempts of a request ask for a cluster anew, the first one included; 1 where retries do not. */
  readonly attempts: number;
}
