// The route table.

import type { Attempts, HashPolicy, WeightedCluster } from "./attempts.js";
import type { HeaderChanges, PerFilterConfig } from "./filters.js";
import type { RouteMatch } from "./match.js";
import type { Duration, Fraction, Json, Message, Value } from "./origin.js";
import type { Picking } from "./picking.js";
import type { HedgePolicy, Retries, RetryPolicy } from "./retries.js";
import type { Specifiers } from "./specifiers.js";

/** What route configurations, virtual hosts and routes have alike. */
export interface Level extends Message {
  readonly name: Value<string> | undefined;
  readonly specifiers: Specifiers;
  readonly headers: HeaderChanges;
  readonly perFilter: readonly PerFilterConfig[];
  /** `filter_metadata.attempt_router` of its metadata: what the user wrote for the module or for `lower`. */
  readonly ownSettings: Value<Json> | undefined;
  readonly metadata: Value<Json> | undefined;
}

/** How a forwarding route finds its cluster. */
export type Destination =
  | { readonly kind: "cluster"; readonly cluster: Value<string> }
  | { readonly kind: "cluster_header"; readonly header: Value<string> }
  | { readonly kind: "weighted_clusters"; readonly at: Message; readonly clusters: readonly WeightedCluster[] }
  /** Priority groups or a composite cluster: see `Route.attempts`. */
  | { readonly kind: "attempts" }
  /** A specifier of another type; `type` is its URL. */
  | { readonly kind: "specifier"; readonly at: Message; readonly type: string }
  | { readonly kind: "none" };

export interface Mirror extends Message {
  readonly cluster: Value<string> | undefined;
  readonly clusterHeader: Value<string> | undefined;
  readonly fraction: Fraction | undefined;
}

export interface InternalRedirects extends Message {
  /** Unset: 1. */
  readonly max: Value<number> | undefined;
  /** Unset: 302. */
  readonly codes: Value<readonly number[]> | undefined;
  readonly predicates: readonly Value<Json>[];
}

/** `envoy.config.route.v3.RouteAction`. */
export interface RouteAction extends Message {
  readonly destination: Destination;
  /** Of all attempts together; unset: 15 s. */
  readonly timeout: Duration | undefined;
  readonly idleTimeout: Duration | undefined;
  /** `max_stream_duration.max_stream_duration`. */
  readonly maxStreamDuration: Duration | undefined;
  readonly retryPolicy: RetryPolicy | undefined;
  readonly hedgePolicy: HedgePolicy | undefined;
  readonly hashPolicies: readonly HashPolicy[];
  readonly mirrors: readonly Mirror[];
  readonly internalRedirects: InternalRedirects | undefined;
  readonly priority: "DEFAULT" | "HIGH";
  /** The fields that rewrite path or authority, as the file has them: `prefix_rewrite`, `host_rewrite_literal`, `auto_host_rewrite`… */
  readonly rewrites: Readonly<Record<string, Value<Json>>>;
  /** The whole action in snake_case. */
  readonly json: Json;
}

/** What a route does with a request. */
export type Action =
  | { readonly kind: "route"; readonly route: RouteAction }
  | { readonly kind: "redirect"; readonly redirect: Value<Json> }
  | { readonly kind: "direct_response"; readonly status: number; readonly response: Value<Json> }
  | { readonly kind: "other"; readonly field: string; readonly value: Value<Json> }
  | { readonly kind: "none" };

export interface Route extends Level {
  readonly match: RouteMatch;
  readonly action: Action;
  /** What to retry, and in which way; undefined for a route that does not forward. */
  readonly retries: Retries | undefined;
  /** Priority groups, or a composite cluster; undefined for all other routes, which `lower` leaves alone. */
  readonly attempts: Attempts | undefined;
  readonly picking: Picking;
  readonly requestBufferLimit: Value<number> | undefined;
  /** False: the route stands in an action of the virtual host's matcher. */
  readonly listed: boolean;
  /** A field of the action that stands beside it, where Envoy does not read it: `retry_policy`, `hash_policy`, `timeout`. */
  readonly misplaced: readonly Value<Json>[];
}

export interface VirtualHost extends Level {
  readonly domains: readonly Value<string>[];
  /** Its list, and then those in the actions of its matcher; see `Route.listed`. */
  readonly routes: readonly Route[];
  /** Envoy asks the matcher, if there is one, and not the list. */
  readonly matcher: Value<Json> | undefined;
  readonly retryPolicy: RetryPolicy | undefined;
  readonly hedgePolicy: HedgePolicy | undefined;
  readonly includeRequestAttemptCount: Value<boolean> | undefined;
  readonly includeAttemptCountInResponse: Value<boolean> | undefined;
  readonly requireTls: Value<string> | undefined;
  readonly requestBufferLimit: Value<number> | undefined;
}

/** One of `cluster_specifier_plugins`. */
export interface NamedPlugin extends Message {
  readonly name: string;
  readonly type: string | undefined;
  /** Where it is a priority-group specifier; its hash policies are those of each route. */
  readonly attempts: Attempts | undefined;
}

export interface RouteConfiguration extends Level {
  readonly virtualHosts: readonly VirtualHost[];
  readonly plugins: readonly NamedPlugin[];
  readonly validateClusters: Value<boolean> | undefined;
  /** Whether Envoy checks the clusters of routes where `validate_clusters` is not set. */
  readonly validatesByDefault: boolean;
  /** Whether it stands in a connection manager, and so comes with it. */
  readonly inside: boolean;
  /** Whether virtual hosts come by VHDS. */
  readonly vhds: boolean;
  /** Whether the port in the authority is ignored when virtual hosts are matched. */
  readonly ignorePortInHostMatching: boolean;
  readonly vhostHeader: Value<string> | undefined;
  readonly internalOnlyHeaders: readonly Value<string>[];
  readonly requestMirrors: readonly Mirror[];
}
