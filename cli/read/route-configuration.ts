import type { RouteConfiguration, VirtualHost } from "../model/route.js";
import type { Cursor } from "../yaml/cursor.js";
import type { CompositeNames } from "./composite.js";
import { bool, isTrue, json, number, text, texts } from "./fields.js";
import { matcherRoutes, type RouteConfigSite } from "./resources.js";
import { readHedgePolicy, readRetryPolicy } from "./retry-policy.js";
import { readLevel, readMirror, readPlugin, readRoute } from "./route.js";

/** `envoy.config.route.v3.RouteConfiguration`. */
export function readRouteConfiguration(
  { config, validatesByDefault }: RouteConfigSite,
  composites: CompositeNames,
): RouteConfiguration {
  const plugins = config.list("cluster_specifier_plugins");
  const byName = pluginsByName(config);
  return {
    ...readLevel(config),
    virtualHosts: config.list("virtual_hosts").map((host) => readVirtualHost(host, byName, composites)),
    plugins: plugins.map((plugin) => readPlugin(plugin, composites)),
    validateClusters: bool(config, "validate_clusters"),
    validatesByDefault,
    inside: validatesByDefault,
    vhds: config.field("vhds") !== undefined,
    ignorePortInHostMatching: isTrue(config, "ignore_port_in_host_matching"),
    vhostHeader: text(config, "vhost_header"),
    internalOnlyHeaders: texts(config, "internal_only_headers"),
    requestMirrors: config.list("request_mirror_policies").map(readMirror),
  };
}

/** The named specifiers of a route configuration; of two with one name the first. */
export function pluginsByName(config: Cursor): Map<string, Cursor> {
  const byName = new Map<string, Cursor>();
  for (const plugin of config.list("cluster_specifier_plugins")) {
    const name = plugin.at("extension", "name")?.string();
    if (name !== undefined && !byName.has(name)) byName.set(name, plugin);
  }
  return byName;
}

/** `envoy.config.route.v3.VirtualHost`. */
function readVirtualHost(host: Cursor, plugins: ReadonlyMap<string, Cursor>, composites: CompositeNames): VirtualHost {
  const shared = { retryPolicy: readRetryPolicy(host), hedgePolicy: readHedgePolicy(host) };
  const parents = { virtualHost: host, shared, plugins, composites };
  const matcher = host.field("matcher");
  return {
    ...readLevel(host),
    ...shared,
    domains: texts(host, "domains"),
    routes: [
      ...host.list("routes").map((route) => readRoute(route, true, parents)),
      ...(matcher === undefined ? [] : matcherRoutes(matcher)).map((route) => readRoute(route, false, parents)),
    ],
    matcher: json(host, "matcher"),
    includeRequestAttemptCount: bool(host, "include_request_attempt_count"),
    includeAttemptCountInResponse: bool(host, "include_attempt_count_in_response"),
    requireTls: text(host, "require_tls"),
    requestBufferLimit: number(host, "request_body_buffer_limit") ?? number(host, "per_request_buffer_limit_bytes"),
  };
}
