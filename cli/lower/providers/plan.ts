// Providers: which cluster gets which upstream filters, and the edits that write them.

import type { Finding, Warning } from "../../findings.js";
import { Cursor } from "../../yaml/cursor.js";
import type { Editor, Tree } from "../../yaml/tree.js";
import type { Json } from "../../yaml/scalar.js";
import { findResources, routesOf, type ConnectionManagerSite, type Resources } from "../../read/resources.js";
import { PROBE } from "../probe.js";
import { TYPE } from "../types.js";
import { routersOf } from "../../read/listener.js";
import { writeSecrets, writeServerName } from "./cluster-edits.js";
import { providerFilters } from "./filters.js";
import { reachOf, withMembers, type Reach } from "./reach.js";
import { providerOf, readProvider, secretName, type Provider } from "./settings.js";
import { writeFilters } from "./upstream-filters.js";

export interface ProviderPlan {
  editor: Editor;
  findings: Finding[];
  warnings: Warning[];
}

interface ProviderCluster {
  name: string;
  cluster: Cursor;
  provider: Provider | undefined;
}

/** Clusters that stand for others. */
const STANDS_FOR_OTHERS = new Set<string>([TYPE.compositeCluster, TYPE.aggregateCluster]);

/** Plans what the clusters of a file get; nothing where none has `provider` settings. */
export function planProviders(source: Tree): ProviderPlan {
  const plan: ProviderPlan = { editor: source.edit(), findings: [], warnings: [] };
  const root = Cursor.root(source);
  const resources = findResources(root, []);
  if (resources === undefined || !resources.clusters.some(mentionsSettings)) return plan;
  const clusters = resources.clusters.map((cluster) => ({
    name: cluster.field("name")?.string() ?? "",
    cluster,
    provider: readProvider(cluster, plan.findings),
  }));
  const reaches = reachesOf(resources, clusters);
  rejectHidden(clusters, reaches, plan.findings);
  rejectHostRewrites(resources, clusters, plan.findings);
  for (const one of clusters.filter(({ name }) => !isAdded(name))) {
    writeCluster(one, clusters, reaches, plan);
  }
  writeSecrets(root, resources, clusters, plan);
  return plan;
}

/** Clusters that lower itself adds send nothing to a provider. */
function isAdded(name: string): boolean {
  return name.startsWith("attempt_router_");
}

function mentionsSettings(cluster: Cursor): boolean {
  return cluster.at("metadata", "filter_metadata", "attempt_router") !== undefined;
}

function writeCluster(
  { name, cluster, provider }: ProviderCluster,
  clusters: readonly ProviderCluster[],
  reaches: readonly ManagedReach[],
  plan: ProviderPlan,
): void {
  const here = reaches.filter(({ reach }) => leadsTo(reach, name));
  const beside = clusters.filter(
    (other) => other.name !== name && here.some(({ reach }) => leadsTo(reach, other.name)),
  );
  const filters = providerFilters({
    provider,
    secretName: secretName(name),
    beside: beside.flatMap((other) => other.provider ?? []),
  });
  const chains = here.flatMap(({ site }) => (site === undefined ? [] : routersOf(site.manager)));
  // The inner message first: both edits may be at the end of the same line.
  if (provider?.host !== undefined) writeServerName(cluster, provider.host, plan);
  writeFilters(cluster, filters, chains, plan);
}

/** Clusters that one request may meet, and the connection manager whose routes lead there. */
interface ManagedReach {
  reach: Reach;
  site: ConnectionManagerSite | undefined;
}

function leadsTo({ names, every }: Reach, name: string): boolean {
  return every || names.has(name);
}

const EVERY: Reach = { names: new Set(), every: true };

function reachesOf(resources: Resources, clusters: readonly ProviderCluster[]): ManagedReach[] {
  const members = new Map(clusters.map(({ name, cluster }) => [name, membersOf(cluster)]));
  const isProvider = (name: string) => clusters.some((one) => one.name === name && one.provider !== undefined);
  // A probe for hosts names any cluster, and carries nothing.
  const managers = resources.connectionManagers.filter(({ listenerName }) => listenerName !== PROBE);
  const managed = managers.map((site) => ({
    site,
    reaches: site.routeConfigs.flatMap(({ config }) => configReaches(config, members)),
  }));
  const loose = resources.looseRouteConfigs.flatMap(({ config }) => configReaches(config, members));
  // A file of clusters alone does not say which routes lead to them.
  if (managed.length + loose.length === 0) return [{ reach: EVERY, site: undefined }];
  return [
    ...managed.flatMap(({ site, reaches }) =>
      [...joinedByRedirects(reaches, isProvider), ...(site.dynamicRoutes ? [EVERY] : [])].map((reach) => ({
        reach,
        site,
      })),
    ),
    ...joinedByRedirects(loose, isProvider).map((reach) => ({ reach, site: undefined })),
  ];
}

type RouteReach = Reach & { redirects: boolean };

function configReaches(config: Cursor, members: ReadonlyMap<string, readonly string[]>): RouteReach[] {
  const plugins = new Map(
    config.list("cluster_specifier_plugins").map((plugin) => [plugin.at("extension", "name")?.string(), plugin.json()]),
  );
  return config.list("virtual_hosts").flatMap((host) =>
    routesOf(host).map((route) => {
      const plugin = plugins.get(route.at("route", "cluster_specifier_plugin")?.string());
      const around = [config, host].flatMap((level) => LEVEL_FIELDS.map((field) => withKey(level, field)));
      const reach = withMembers(reachOf([route.json(), plugin ?? null, ...around]), members);
      const action = route.field("route");
      const redirects = ["internal_redirect_policy", "internal_redirect_action"].some(
        (f) => action?.field(f) !== undefined,
      );
      return { ...reach, redirects };
    }),
  );
}

/** Fields of a virtual host or route configuration that lead its routes to further clusters. */
const LEVEL_FIELDS = ["request_mirror_policies", "route_specifiers"];

function withKey(level: Cursor, field: string): Json {
  return { [field]: level.field(field)?.json() ?? null };
}

/** A redirected request keeps its headers, so what a provider may redirect meets all routes of the manager. */
function joinedByRedirects(reaches: readonly RouteReach[], isProvider: (name: string) => boolean): Reach[] {
  const mayRedirect = (reach: RouteReach) => reach.redirects && (reach.every || [...reach.names].some(isProvider));
  if (!reaches.some(mayRedirect)) return [...reaches];
  const names = new Set(reaches.flatMap((reach) => [...reach.names]));
  return [{ names, every: reaches.some(({ every }) => every) }];
}

function standsForOthers(cluster: Cursor): boolean {
  return STANDS_FOR_OTHERS.has(cluster.at("cluster_type", "typed_config")?.type() ?? "");
}

/** The clusters that a composite or aggregate cluster stands for. */
function membersOf(cluster: Cursor): string[] {
  const members = standsForOthers(cluster) ? (cluster.at("cluster_type", "typed_config")?.list("clusters") ?? []) : [];
  return members.map((member) => member.string() ?? member.field("name")?.string() ?? "");
}

/** The router takes the filters of the cluster that the route names, never those of a member of an aggregate. */
function rejectHidden(
  clusters: readonly ProviderCluster[],
  reaches: readonly ManagedReach[],
  findings: Finding[],
): void {
  for (const { name, cluster, provider } of clusters) {
    const place = providerOf(cluster);
    if (provider !== undefined && standsForOthers(cluster))
      findings.push(
        (place ?? cluster).finding("expected provider in the clusters that this one stands for, found it here"),
      );
    const isAggregate = cluster.at("cluster_type", "typed_config")?.type() === TYPE.aggregateCluster;
    if (!isAggregate || isAdded(name) || !reaches.some(({ reach }) => leadsTo(reach, name))) continue;
    const members = membersOf(cluster);
    for (const one of clusters.filter((member) => member.provider !== undefined && members.includes(member.name)))
      findings.push((providerOf(one.cluster) ?? one.cluster).finding(HIDDEN.replace("%", name)));
  }
}

const HIDDEN =
  "expected a cluster that routes name themselves, found a member of the aggregate cluster %, whose filters Envoy takes for it: name the members in priority groups or a composite cluster";

/** Envoy rewrites the authority after all upstream filters. */
function rejectHostRewrites(resources: Resources, clusters: readonly ProviderCluster[], findings: Finding[]): void {
  const members = new Map(clusters.map(({ name, cluster }) => [name, membersOf(cluster)]));
  const hosts = new Set(clusters.flatMap(({ name, provider }) => (provider?.host === undefined ? [] : [name])));
  const configs = [
    ...resources.connectionManagers.flatMap(({ routeConfigs }) => routeConfigs),
    ...resources.looseRouteConfigs,
  ];
  for (const route of configs.flatMap(({ config }) => config.list("virtual_hosts").flatMap(routesOf))) {
    const rewrite = route.at("route", "auto_host_rewrite");
    if (rewrite?.bool() !== true) continue;
    const reach = withMembers(reachOf([route.json()]), members);
    const name = [...hosts].find((host) => leadsTo(reach, host));
    if (name !== undefined)
      findings.push(
        rewrite.finding(`expected no auto_host_rewrite on a route to ${name}, whose provider has a host, found it`),
      );
  }
}
