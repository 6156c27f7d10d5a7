// A whole file: what `lower`, `check`, `explain` and `test` look at.

import type { Cluster } from "./cluster.js";
import type { Filter, FilterChain } from "./filters.js";
import type { Duration, Json, Message, Value } from "./origin.js";
import type { RouteConfiguration } from "./route.js";

/** The filters of an HTTP connection manager's router. */
export interface Router extends Message {
  readonly filter: Filter;
  /** `upstream_http_filters`; undefined where there are none. */
  readonly upstream: FilterChain | undefined;
  readonly suppressEnvoyHeaders: boolean;
  readonly respectExpectedTimeout: boolean;
}

/** One of `upgrade_configs`. */
export interface Upgrade extends Message {
  readonly type: string;
  /** Filters of its own, which stand in the place of the connection manager's. */
  readonly chain: FilterChain | undefined;
}

/** Where the routes of a connection manager come from. */
export type RouteSource =
  | { readonly kind: "inline" }
  | { readonly kind: "rds"; readonly name: string; readonly at: Message }
  | { readonly kind: "scoped"; readonly at: Message; readonly dynamic: boolean }
  | { readonly kind: "none" };

export interface ConnectionManager extends Message {
  readonly listener: string;
  readonly chain: FilterChain | undefined;
  readonly upgrades: readonly Upgrade[];
  /** Of `chain` and of the upgrades that have a filter chain of their own. */
  readonly routers: readonly Router[];
  readonly source: RouteSource;
  /** Those in the connection manager, or in the file where RDS is answered by it. */
  readonly routeConfigurations: readonly RouteConfiguration[];
  /** Whether routes come by RDS or SRDS that are not in the file. */
  readonly dynamicRoutes: boolean;
  readonly requestTimeout: Duration | undefined;
  readonly streamIdleTimeout: Duration | undefined;
  readonly requestHeadersTimeout: Duration | undefined;
  readonly commonHttpOptions: Value<Json> | undefined;
  readonly useRemoteAddress: Value<boolean> | undefined;
  readonly internalAddressConfig: Value<Json> | undefined;
  readonly accessLogs: readonly Value<Json>[];
}

export interface Listener extends Message {
  /** `listener_<index>` where the file gives none. */
  readonly name: string;
  readonly perConnectionBufferLimit: Value<number> | undefined;
  readonly managers: readonly ConnectionManager[];
}

export interface Admin extends Message {
  readonly address: Value<Json> | undefined;
  readonly allowPaths: Value<Json> | undefined;
}

/** A bootstrap, a DiscoveryResponse or one resource. */
export interface Program extends Message {
  /** A bootstrap knows all that does not come by xDS; other files are a part of a whole that is not here. */
  readonly kind: "bootstrap" | "resources";
  readonly listeners: readonly Listener[];
  /** Those that no connection manager of the file takes. */
  readonly looseRouteConfigurations: readonly RouteConfiguration[];
  readonly clusters: readonly Cluster[];
  /** Clusters may come by CDS. */
  readonly dynamicClusters: boolean;
  readonly admin: Admin | undefined;
  /** Whether the runtime lets composite clusters skip clusters without a host; true unless a static layer says no. */
  readonly compositesSkip: boolean;
  /** Wasm filters' local files, by the place that names them. */
  readonly wasmFiles: readonly Value<string>[];
}

/** Every route configuration of a program once, those of connection managers first. */
export function routeConfigurationsOf(program: Program): RouteConfiguration[] {
  const managed = managersOf(program).flatMap((manager) => manager.routeConfigurations);
  return [...new Set([...managed, ...program.looseRouteConfigurations])];
}

/** The connection managers of all listeners. */
export function managersOf({ listeners }: Program): ConnectionManager[] {
  return listeners.flatMap(({ managers }) => managers);
}
