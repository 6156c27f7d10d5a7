import { isPair, isScalar, isSeq, visit } from "yaml";
import type { Finding } from "../findings.js";
import { join, type Cursor } from "../yaml/cursor.js";
import { HTTP_PROTOCOL_OPTIONS, TYPE } from "./types.js";

/** A RouteConfiguration and whether Envoy checks its clusters when `validate_clusters` is not set. */
export interface RouteConfigSite {
  config: Cursor;
  validatesByDefault: boolean;
}

/** An HTTP connection manager, its own routes, and whether more routes come from RDS or SRDS. */
export interface ConnectionManagerSite {
  manager: Cursor;
  listenerName: string;
  routeConfigs: RouteConfigSite[];
  dynamicRoutes: boolean;
}

export interface Resources {
  kind: "bootstrap" | "route_configuration";
  connectionManagers: ConnectionManagerSite[];
  /** RouteConfigurations that no connection manager of the file owns. */
  looseRouteConfigs: RouteConfigSite[];
  clusters: Cursor[];
}

/** The resources of a file; undefined, with a finding, where it is nothing that `lower` knows. */
export function findResources(root: Cursor, findings: Finding[]): Resources | undefined {
  const type = root.type();
  if (type === TYPE.routeConfiguration || (type === undefined && looksLikeRouteConfig(root))) {
    const site = { config: root, validatesByDefault: false };
    return { kind: "route_configuration", connectionManagers: [], looseRouteConfigs: [site], clusters: [] };
  }
  if (type === TYPE.bootstrap || (type === undefined && looksLikeBootstrap(root))) return bootstrapResources(root);
  const found = type ?? (root.map === undefined ? "no map" : `fields ${keysOf(root).join(", ") || "none"}`);
  findings.push(root.finding(`expected a bootstrap or a RouteConfiguration, found ${found}`));
  return undefined;
}

/** The routes of a virtual host: its list, and those in the actions of its matcher tree. */
export function routesOf(virtualHost: Cursor): Cursor[] {
  const matcher = virtualHost.field("matcher");
  return [...virtualHost.list("routes"), ...(matcher === undefined ? [] : matcherRoutes(matcher))];
}

/** The upstream filters that a cluster puts in the place of the router's; undefined where it has none. */
export function clusterFilters(cluster: Cursor): Cursor | undefined {
  const filters = cluster.at("typed_extension_protocol_options", HTTP_PROTOCOL_OPTIONS, "http_filters");
  return filters !== undefined && filters.items().length > 0 ? filters : undefined;
}

/** Every priority-group specifier of the file, wherever it stands: its offset and path. */
export function everySpecifier(root: Cursor): { offset: number; path: string }[] {
  const places: { offset: number; path: string }[] = [];
  visit(root.source.document, {
    Map: (_, map, ancestors) => {
      const typed = map.items.some(
        ({ key, value }) =>
          isScalar(key) && key.value === "@type" && isScalar(value) && value.value === TYPE.priorityGroup,
      );
      if (typed && map.range) places.push({ offset: map.range[0], path: pathOf([...ancestors, map]) });
    },
  });
  return places;
}

function pathOf(nodes: readonly unknown[]): string {
  return nodes.reduce<string>((path, node, index) => {
    if (isPair(node)) return join(path, isScalar(node.key) ? String(node.key.value) : "");
    const parent = nodes[index - 1];
    return isSeq(parent) ? `${path}[${parent.items.indexOf(node)}]` : path;
  }, "");
}

function matcherRoutes(cursor: Cursor): Cursor[] {
  const type = cursor.type();
  if (type === TYPE.route) return [cursor];
  if (type === TYPE.routeList) return cursor.list("routes");
  const children = cursor.seq === undefined ? cursor.entries().map(({ value }) => value) : cursor.items();
  return children.flatMap(matcherRoutes);
}

function bootstrapResources(root: Cursor): Resources {
  const listeners = root.at("static_resources", "listeners")?.items() ?? [];
  return {
    kind: "bootstrap",
    connectionManagers: listeners.flatMap(connectionManagersOf),
    looseRouteConfigs: [],
    clusters: root.at("static_resources", "clusters")?.items() ?? [],
  };
}

function connectionManagersOf(listener: Cursor, index: number): ConnectionManagerSite[] {
  const name = listener.field("name")?.string() ?? `listener_${index}`;
  const chains = [...listener.list("filter_chains"), listener.field("default_filter_chain")];
  const configs = chains.flatMap((chain) => chain?.list("filters").map((filter) => filter.field("typed_config")) ?? []);
  return [...configs, listener.at("api_listener", "api_listener")]
    .map((config) => asConnectionManager(config))
    .filter((manager) => manager !== undefined)
    .map((manager) => connectionManagerSite(manager, name));
}

function asConnectionManager(config: Cursor | undefined): Cursor | undefined {
  const type = config?.type();
  if (type === TYPE.connectionManager) return config;
  return type === TYPE.mobileConnectionManager ? config?.field("config") : undefined;
}

function connectionManagerSite(manager: Cursor, listenerName: string): ConnectionManagerSite {
  const own = manager.field("route_config");
  const scopes =
    manager.at("scoped_routes", "scoped_route_configurations_list")?.list("scoped_route_configurations") ?? [];
  const scoped = scopes.map((scope) => scope.field("route_configuration"));
  const configs = [own, ...scoped].filter((config) => config !== undefined);
  const dynamicScope = scopes.some((scope) => scope.field("route_configuration_name") !== undefined);
  return {
    manager,
    listenerName,
    routeConfigs: configs.map((config) => ({ config, validatesByDefault: true })),
    dynamicRoutes:
      manager.field("rds") !== undefined || manager.at("scoped_routes", "scoped_rds") !== undefined || dynamicScope,
  };
}

function looksLikeRouteConfig(root: Cursor): boolean {
  return root.field("virtual_hosts") !== undefined || root.field("vhds") !== undefined;
}

function looksLikeBootstrap(root: Cursor): boolean {
  return ["static_resources", "dynamic_resources", "node", "admin"].some((field) => root.field(field) !== undefined);
}

function keysOf(root: Cursor): string[] {
  return root.entries().map(({ key }) => key);
}
