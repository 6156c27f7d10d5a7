import type { ConnectionManager, Router, RouteSource, Upgrade } from "../model/program.js";
import type { RouteConfiguration } from "../model/route.js";
import type { Cursor } from "../yaml/cursor.js";
import { bool, duration, isTrue, json, jsonList } from "./fields.js";
import { isRouter, readChain, readFilter } from "./filters.js";
import { originOf } from "./place.js";
import type { ConnectionManagerSite } from "./resources.js";

/** `HttpConnectionManager`, with the route configurations that it takes. */
export function readConnectionManager(
  { manager, listenerName, dynamicRoutes }: ConnectionManagerSite,
  routeConfigurations: readonly RouteConfiguration[],
): ConnectionManager {
  const common = manager.field("common_http_protocol_options");
  return {
    listener: listenerName,
    chain: readChain(manager.field("http_filters")),
    upgrades: manager.list("upgrade_configs").map(readUpgrade),
    routers: filtersOf(manager).filter(isRouter).map(readRouter),
    source: sourceOf(manager),
    routeConfigurations,
    dynamicRoutes,
    requestTimeout: duration(manager, "request_timeout"),
    streamIdleTimeout: duration(manager, "stream_idle_timeout"),
    requestHeadersTimeout: duration(manager, "request_headers_timeout"),
    commonHttpOptions: common && json(manager, "common_http_protocol_options"),
    useRemoteAddress: bool(manager, "use_remote_address"),
    internalAddressConfig: json(manager, "internal_address_config"),
    accessLogs: jsonList(manager, "access_log"),
    origin: originOf(manager),
  };
}

/** The filters of a connection manager, those of its upgrades included. */
export function filtersOf(manager: Cursor): Cursor[] {
  const upgrades = manager.list("upgrade_configs").flatMap((upgrade) => upgrade.list("filters"));
  return [...manager.list("http_filters"), ...upgrades];
}

/** The configurations of the Router filters of a connection manager, those of its upgrades included. */
export function routersOf(manager: Cursor): Cursor[] {
  const configs = filtersOf(manager).filter(isRouter);
  return configs.flatMap((filter) => filter.field("typed_config") ?? []);
}

function readUpgrade(upgrade: Cursor): Upgrade {
  return {
    type: upgrade.field("upgrade_type")?.string() ?? "",
    chain: readChain(upgrade.field("filters")),
    origin: originOf(upgrade),
  };
}

function readRouter(filter: Cursor): Router {
  const config = filter.field("typed_config");
  return {
    filter: readFilter(filter),
    upstream: readChain(config?.field("upstream_http_filters")),
    suppressEnvoyHeaders: isTrue(config, "suppress_envoy_headers"),
    respectExpectedTimeout: isTrue(config, "respect_expected_rq_timeout"),
    origin: originOf(filter),
  };
}

function sourceOf(manager: Cursor): RouteSource {
  if (manager.field("route_config") !== undefined) return { kind: "inline" };
  const rds = manager.field("rds");
  if (rds !== undefined) {
    return { kind: "rds", name: rds.field("route_config_name")?.string() ?? "", at: { origin: originOf(rds) } };
  }
  const scoped = manager.field("scoped_routes");
  if (scoped === undefined) return { kind: "none" };
  return { kind: "scoped", at: { origin: originOf(scoped) }, dynamic: scoped.field("scoped_rds") !== undefined };
}
