import type { Admin, Listener, Program } from "../model/program.js";
import type { Value } from "../model/origin.js";
import type { RouteConfiguration } from "../model/route.js";
import { InputError, type Finding } from "../findings.js";
import { runtimeSkips } from "../lower/composite-uses.js";
import { Cursor } from "../yaml/cursor.js";
import { Source } from "../yaml/source.js";
import { readCluster } from "./cluster.js";
import { CompositeNames } from "./composite.js";
import { json, number, text } from "./fields.js";
import { filtersOf, readConnectionManager } from "./listener.js";
import { originOf } from "./place.js";
import { clusterFilters, findResources, type Resources, type RouteConfigSite } from "./resources.js";
import { readRouteConfiguration } from "./route-configuration.js";

/**
 * Native or lowered config, YAML or JSON, as a program: read through its aliases and merge keys.
 *
 * @throws InputError where the text is no YAML, or nothing that Envoy reads.
 */
export function readProgram(file: string, input: string): Program {
  const root = Cursor.root(Source.parse(file, input));
  const findings: Finding[] = [];
  const resources = findResources(root, findings);
  if (resources === undefined) throw new InputError(findings);
  return programOf(root, resources);
}

/** Each step of lowering reads the same resources. */
const programs = new WeakMap<Resources, Program>();

/** The program of resources that were found; `elsewhere` are clusters that another file brings. */
export function programOf(root: Cursor, resources: Resources, elsewhere: readonly Cursor[] = []): Program {
  if (elsewhere.length > 0) return read(root, resources, elsewhere);
  const known = programs.get(resources) ?? read(root, resources, []);
  programs.set(resources, known);
  return known;
}

function read(root: Cursor, resources: Resources, elsewhere: readonly Cursor[]): Program {
  const composites = new CompositeNames([...elsewhere, ...resources.clusters]);
  const open = resources.kind !== "bootstrap" || elsewhere.length > 0;
  const configs = new Map<number, RouteConfiguration>();
  // Over RDS, several connection managers may take one.
  const routeConfiguration = (site: RouteConfigSite): RouteConfiguration => {
    const known = configs.get(site.config.offset) ?? readRouteConfiguration(site, composites);
    configs.set(site.config.offset, known);
    return known;
  };
  return {
    kind: resources.kind,
    listeners: listenersOf(resources, routeConfiguration),
    looseRouteConfigurations: resources.looseRouteConfigs.map(routeConfiguration),
    clusters: resources.clusters.map(readCluster),
    dynamicClusters: open || root.at("dynamic_resources", "cds_config") !== undefined,
    admin: readAdmin(root.field("admin")),
    compositesSkip: runtimeSkips(root),
    wasmFiles: wasmFilesOf(resources),
    origin: originOf(root),
  };
}

function listenersOf(
  { listeners, connectionManagers }: Resources,
  routeConfiguration: (site: RouteConfigSite) => RouteConfiguration,
): Listener[] {
  return listeners.map((listener, index) => {
    const name = listener.field("name")?.string() ?? `listener_${index}`;
    const sites = connectionManagers.filter((site) => site.listener.offset === listener.offset);
    return {
      name,
      perConnectionBufferLimit: number(listener, "per_connection_buffer_limit_bytes"),
      managers: sites.map((site) => readConnectionManager(site, site.routeConfigs.map(routeConfiguration))),
      origin: originOf(listener),
    };
  });
}

function readAdmin(admin: Cursor | undefined): Admin | undefined {
  return admin && { address: json(admin, "address"), allowPaths: json(admin, "allow_paths"), origin: originOf(admin) };
}

/** The local files of Wasm filters, downstream and upstream. */
function wasmFilesOf({ connectionManagers, clusters }: Resources): Value<string>[] {
  const downstream = connectionManagers.flatMap(({ manager }) => filtersOf(manager));
  const routers = downstream.flatMap((filter) => filter.field("typed_config")?.list("upstream_http_filters") ?? []);
  const own = clusters.flatMap((cluster) => clusterFilters(cluster)?.items() ?? []);
  return [...downstream, ...routers, ...own].flatMap((filter) => {
    const local = filter.at("typed_config", "config", "vm_config", "code", "local");
    return text(local, "filename") ?? [];
  });
}
