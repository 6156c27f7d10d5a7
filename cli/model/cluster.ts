// What routing has to know of a cluster.

import type { FilterChain } from "./filters.js";
import type { Duration, Json, Message, Value } from "./origin.js";
import type { RetryPolicy } from "./retries.js";

/** One of `circuit_breakers.thresholds`; an unset limit is Envoy's default. */
export interface Thresholds extends Message {
  readonly priority: "DEFAULT" | "HIGH";
  readonly maxConnections: Value<number> | undefined;
  readonly maxPendingRequests: Value<number> | undefined;
  readonly maxRequests: Value<number> | undefined;
  /** Unset: 3. */
  readonly maxRetries: Value<number> | undefined;
  readonly retryBudget: (Message & { readonly json: Json }) | undefined;
}

/** `envoy.extensions.upstreams.http.v3.HttpProtocolOptions`. */
export interface ProtocolOptions extends Message {
  /** The upstream filters that stand in the place of the router's. */
  readonly filters: FilterChain | undefined;
  /** Stands in the place of the route's. */
  readonly retryPolicy: RetryPolicy | undefined;
  /** How many attempts its own retry policy has ask for a cluster anew; 1 where it has none. */
  readonly attempts: number;
  readonly autoSni: boolean;
  readonly autoSanValidation: boolean;
  readonly json: Json;
}

/** A cluster of type `envoy.clusters.composite`. */
export interface Composite extends Message {
  readonly clusters: readonly Value<string>[];
}

export interface Cluster extends Message {
  readonly name: Value<string> | undefined;
  /** `type`, or the name of `cluster_type`; STATIC where the file gives neither. */
  readonly discovery: string;
  /** The number of endpoints in the file; undefined where discovery brings them. DNS names count as endpoints. */
  readonly endpoints: number | undefined;
  readonly endpointsOrigin: Value<Json> | undefined;
  readonly composite: Composite | undefined;
  readonly thresholds: readonly Thresholds[];
  readonly healthChecks: readonly Value<Json>[];
  readonly outlierDetection: Value<Json> | undefined;
  readonly protocolOptions: ProtocolOptions | undefined;
  readonly lbPolicy: Value<string> | undefined;
  readonly commonLbConfig: Value<Json> | undefined;
  readonly connectTimeout: Duration | undefined;
  readonly perConnectionBufferLimit: Value<number> | undefined;
  /** `transport_socket`; `sni` where it is TLS and names one. */
  readonly tls: (Message & { readonly sni: Value<string> | undefined; readonly json: Json }) | undefined;
  /** The authority of its attempts, where the cluster's settings give a provider one; `lower` writes it as `sni`, too. */
  readonly providerHost: Value<string> | undefined;
  /** `filter_metadata.attempt_router` of the cluster. */
  readonly ownSettings: Value<Json> | undefined;
}
