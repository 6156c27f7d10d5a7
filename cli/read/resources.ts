import { isScalar } from "yaml";
import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Tree } from "../yaml/tree.js";
import { walkPairs } from "../yaml/walk.js";
import { HTTP_PROTOCOL_OPTIONS, TYPE } from "../lower/types.js";

/** A RouteConfiguration and whether Envoy checks its clusters when `validate_clusters` is not set. */
export interface RouteConfigSite {
  config: Cursor;
  validatesByDefault: boolean;
}

/** An HTTP connection manager, its own routes, and whether more routes come from RDS or SRDS. */
export interface ConnectionManagerSite {
  manager: Cursor;
  listener: Cursor;
  listenerName: string;
  routeConfigs: RouteConfigSite[];
  dynamicRoutes: boolean;
}

/** The list in which the clusters of a file stand. */
export interface ClusterList {
  /** The message whose field `key` is the list. */
  holder: Cursor;
  key: string;
  /** Whether items carry their type, as resources do. */
  typed: boolean;
  /** Where in the list each of `Resources.clusters` stands. */
  indexes: number[];
}

export interface Resources {
  kind: "bootstrap" | "resources";
  listeners: Cursor[];
  connectionManagers: ConnectionManagerSite[];
  /** RouteConfigurations that no connection manager of the file takes. */
  looseRouteConfigs: RouteConfigSite[];
  clusters: Cursor[];
  /** Undefined where clusters can be neither added nor removed. */
  clusterList?: ClusterList;
}

const KNOWN = "a bootstrap, a RouteConfiguration, a Listener, a Cluster or a list of such (resources: [...])";

/** The resources of a file; undefined, with a finding, where it is nothing that `lower` knows. */
export function findResources(root: Cursor, findings: Finding[]): Resources | undefined {
  const known = found.get(root.source) ?? foundIn(root);
  found.set(root.source, known);
  findings.push(...known.findings);
  return known.resources;
}

interface Found {
  resources: Resources | undefined;
  findings: Finding[];
}

/** Each step of lowering asks for the resources of the same tree. */
const found = new WeakMap<Tree, Found>();

function foundIn(root: Cursor): Found {
  const findings: Finding[] = [];
  return { resources: searched(root, findings), findings };
}

function searched(root: Cursor, findings: Finding[]): Resources | undefined {
  const type = root.type();
  if (type === TYPE.bootstrap) return bootstrapResources(root);
  if (type === TYPE.discoveryResponse || root.field("resources")?.seq !== undefined) {
    return listedResources(root, findings);
  }
  const single = type ?? guessedType(root);
  if (single === TYPE.bootstrap) return bootstrapResources(root);
  if (single !== undefined && RESOURCE_TYPES.has(single)) return resourcesOf([{ type: single, resource: root }]);
  const what = type ?? (root.map === undefined ? "no map" : `fields ${keysOf(root).join(", ") || "none"}`);
  findings.push(root.finding(`expected ${KNOWN}, found ${what}`));
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

/** A priority-group specifier, wherever it stands. */
export interface SpecifierPlace {
  offset: number;
  path: string;
  /** Its `@type` where that is not the one that Envoy knows. */
  misspelt?: string;
}

/** Every priority-group specifier of the file. */
export function everySpecifier(root: Cursor): SpecifierPlace[] {
  const places: SpecifierPlace[] = [];
  walkPairs(root.source.root, ({ key, value }, map, path) => {
    if (!isScalar(key) || !isScalar(value) || !map.range) return true;
    const type = String(value.value);
    if (!namesSpecifier(String(key.value), type)) return true;
    const misspelt = key.value === "@type" && type !== TYPE.priorityGroup ? { misspelt: type } : {};
    places.push({ offset: map.range[0], path: path(), ...misspelt });
    return true;
  });
  return places;
}

/** Every override of priority groups that stands in the file as a typed message. */
export function everyTypedOverride(root: Cursor): Pick<SpecifierPlace, "offset" | "path">[] {
  const places: Pick<SpecifierPlace, "offset" | "path">[] = [];
  if (!root.source.mentions(OVERRIDE_NAME)) return places;
  walkPairs(root.source.root, ({ key, value }, map, path) => {
    const isOverride = isScalar(key) && isScalar(value) && key.value === "@type";
    if (isOverride && map.range && String(value.value).endsWith(OVERRIDE_NAME)) {
      places.push({ offset: map.range[0], path: path() });
    }
    return true;
  });
  return places;
}

/** As the type of an Any, misspelt or not, or of a TypedStruct, whose URL may have any host. */
function namesSpecifier(key: string, type: string): boolean {
  if (key === "@type") {
    return type.endsWith(SPECIFIER_NAME) || (type.includes(SPECIFIER_PACKAGE) && !type.endsWith(OVERRIDE_NAME));
  }
  return (key === "type_url" || key === "typeUrl") && type.split("/").at(-1) === TYPE.priorityGroup.split("/").at(-1);
}

const SPECIFIER_NAME = ".PriorityGroupClusterSpecifier";
const OVERRIDE_NAME = ".PriorityGroupsOverride";
const SPECIFIER_PACKAGE = "envoy.extensions.router.cluster_specifiers.priority_group.";

export function matcherRoutes(cursor: Cursor): Cursor[] {
  const type = cursor.type();
  if (type === TYPE.route) return [cursor];
  if (type === TYPE.routeList) return cursor.list("routes");
  const children = cursor.seq === undefined ? cursor.entries().map(({ value }) => value) : cursor.items();
  return children.flatMap(matcherRoutes);
}

function bootstrapResources(root: Cursor): Resources {
  const listeners = root.at("static_resources", "listeners")?.items() ?? [];
  const clusters = root.at("static_resources", "clusters")?.items() ?? [];
  const holder = root.field("static_resources");
  const resources: Resources = {
    kind: "bootstrap",
    listeners,
    connectionManagers: listeners.flatMap(connectionManagersOf),
    looseRouteConfigs: [],
    clusters,
  };
  if (holder !== undefined) {
    resources.clusterList = { holder, key: "clusters", typed: false, indexes: [...clusters.keys()] };
  }
  return resources;
}

/** A resource as a discovery service carries it. */
interface Resource {
  type: string;
  resource: Cursor;
}

const RESOURCE_TYPES = new Set<string>([TYPE.routeConfiguration, TYPE.listener, TYPE.cluster, TYPE.scopedRoutes]);

/** A DiscoveryResponse, as files of a path_config_source hold one, or all resources of a control plane in that form. */
function listedResources(root: Cursor, findings: Finding[]): Resources | undefined {
  const items = root.list("resources");
  const untyped = items.filter((item) => item.type() === undefined);
  for (const item of untyped) findings.push(item.finding("expected a resource with its @type, found none"));
  if (untyped.length > 0) return undefined;
  const unwrapped = items.map(unwrap);
  const resources = resourcesOf(unwrapped.filter((item) => item !== undefined));
  const indexes = [...unwrapped.keys()].filter((index) => unwrapped[index]?.type === TYPE.cluster);
  // An answer without clusters is that of another discovery service, which may not carry one.
  if (indexes.length > 0) resources.clusterList = { holder: root, key: "resources", typed: true, indexes };
  return resources;
}

/** Discovery services may wrap a resource in one that adds its name and version. */
function unwrap(item: Cursor): Resource | undefined {
  const resource = item.type() === TYPE.resource ? item.field("resource") : item;
  const type = resource?.type();
  return resource === undefined || type === undefined ? undefined : { type, resource };
}

function resourcesOf(all: readonly Resource[]): Resources {
  const ofType = (type: string) => all.filter((one) => one.type === type).map(({ resource }) => resource);
  const scoped = ofType(TYPE.scopedRoutes).map((scope) => scope.field("route_configuration"));
  const named = ofType(TYPE.routeConfiguration);
  const configs = [...named, ...scoped.filter((config) => config !== undefined)];
  const managers = ofType(TYPE.listener)
    .flatMap(connectionManagersOf)
    .map((site) => withNamedRoutes(site, named));
  const taken = new Set(managers.flatMap((site) => site.routeConfigs.map(({ config }) => config.offset)));
  const loose = configs.filter((config) => !taken.has(config.offset));
  return {
    kind: "resources",
    listeners: ofType(TYPE.listener),
    connectionManagers: managers,
    looseRouteConfigs: loose.map((config) => ({ config, validatesByDefault: false })),
    clusters: ofType(TYPE.cluster),
  };
}

/** A connection manager whose RouteConfiguration comes over RDS and is in the same file. */
function withNamedRoutes(site: ConnectionManagerSite, configs: readonly Cursor[]): ConnectionManagerSite {
  const name = site.manager.at("rds", "route_config_name")?.string();
  const config = name === undefined ? undefined : configs.find((one) => one.field("name")?.string() === name);
  if (config === undefined) return site;
  const routeConfigs = [...site.routeConfigs, { config, validatesByDefault: false }];
  return { ...site, routeConfigs, dynamicRoutes: false };
}

function connectionManagersOf(listener: Cursor, index: number): ConnectionManagerSite[] {
  const name = listener.field("name")?.string() ?? `listener_${index}`;
  const chains = [...listener.list("filter_chains"), listener.field("default_filter_chain")];
  const configs = chains.flatMap((chain) => chain?.list("filters").map((filter) => filter.field("typed_config")) ?? []);
  return [...configs, listener.at("api_listener", "api_listener")]
    .map((config) => asConnectionManager(config))
    .filter((manager) => manager !== undefined)
    .map((manager) => connectionManagerSite(manager, listener, name));
}

function asConnectionManager(config: Cursor | undefined): Cursor | undefined {
  const type = config?.type();
  if (type === TYPE.connectionManager) return config;
  return type === TYPE.mobileConnectionManager ? config?.field("config") : undefined;
}

function connectionManagerSite(manager: Cursor, listener: Cursor, listenerName: string): ConnectionManagerSite {
  const own = manager.field("route_config");
  const scopes =
    manager.at("scoped_routes", "scoped_route_configurations_list")?.list("scoped_route_configurations") ?? [];
  const scoped = scopes.map((scope) => scope.field("route_configuration"));
  const configs = [own, ...scoped].filter((config) => config !== undefined);
  const dynamicScope = scopes.some((scope) => scope.field("route_configuration_name") !== undefined);
  return {
    manager,
    listener,
    listenerName,
    routeConfigs: configs.map((config) => ({ config, validatesByDefault: true })),
    dynamicRoutes:
      manager.field("rds") !== undefined || manager.at("scoped_routes", "scoped_rds") !== undefined || dynamicScope,
  };
}

const FIELDS_OF: readonly (readonly [string, readonly string[]])[] = [
  [TYPE.bootstrap, ["static_resources", "dynamic_resources", "node", "admin"]],
  [TYPE.routeConfiguration, ["virtual_hosts", "vhds"]],
  [TYPE.listener, ["filter_chains", "default_filter_chain", "api_listener", "listener_filters"]],
  [TYPE.cluster, ["load_assignment", "connect_timeout", "eds_cluster_config", "cluster_type", "lb_policy"]],
];

/** The type of a resource that does not say it, by fields that only this type has. */
function guessedType(root: Cursor): string | undefined {
  return FIELDS_OF.find(([, fields]) => fields.some((field) => root.field(field) !== undefined))?.[0];
}

function keysOf(root: Cursor): string[] {
  return root.entries().map(({ key }) => key);
}
