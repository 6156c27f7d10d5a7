// Providers: which cluster gets which upstream filters, and the edits that write them.

import type { Finding, Warning } from "../../findings.js";
import { Cursor } from "../../yaml/cursor.js";
import type { Editor, Tree } from "../../yaml/tree.js";
import type { Json } from "../../yaml/scalar.js";
import { findResources, routesOf, type ConnectionManagerSite, type Resources } from "../../read/resources.js";
import { PROBE } from "../probe.js";
import { TYPE } from "../types.js";
import { routersOf } from "../../read/listener.js";
import { autoServerNames, writeSecrets, writeServerName } from "./cluster-edits.js";
import type { ProviderUse } from "./filters.js";
import { markEndpoints, whyNotMarkable } from "../host-marks.js";
import { aggregateFilters } from "./members.js";
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
  one: ProviderCluster,
  clusters: readonly ProviderCluster[],
  reaches: readonly ManagedReach[],
  plan: ProviderPlan,
): void {
  const { name, cluster, provider } = one;
  const here = reaches.filter(({ reach }) => leadsTo(reach, name));
  const met = clusters.filter((other) => here.some(({ reach }) => leadsTo(reach, other.name)));
  const useOf = (user: ProviderCluster): ProviderUse => ({
    provider: user.provider,
    secretName: secretName(user.name),
    beside: met.flatMap((other) => (other.name === user.name ? [] : (other.provider ?? []))),
  });
  const members = isAggregate(cluster) ? leavesOf(name, clusters).filter((leaf) => leaf.provider !== undefined) : [];
  const filters = aggregateFilters(
    members.map((member) => ({ name: member.name, ...useOf(member) })),
    useOf(one),
  );
  const chains = here.flatMap(({ site }) => (site === undefined ? [] : routersOf(site.manager)));
  // The inner message first: both edits may be at the end of the same line.
  if (isMember(one, clusters)) markEndpoints(cluster, name, plan.editor);
  if (provider?.host !== undefined) writeServerName(cluster, provider.host, plan);
  writeFilters(cluster, filters, chains, plan);
}

/** Whether an aggregate may have its host from a provider. */
function isMember({ name, provider }: ProviderCluster, clusters: readonly ProviderCluster[]): boolean {
  return (
    provider !== undefined &&
    clusters.some((one) => isAggregate(one.cluster) && leavesOf(one.name, clusters).some((leaf) => leaf.name === name))
  );
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

function isAggregate(cluster: Cursor): boolean {
  return cluster.at("cluster_type", "typed_config")?.type() === TYPE.aggregateCluster;
}

/** The clusters that have the hosts of a cluster. */
function leavesOf(name: string, clusters: readonly ProviderCluster[]): ProviderCluster[] {
  const members = new Map(clusters.map((one) => [one.name, membersOf(one.cluster)]));
  const { names } = withMembers({ names: new Set([name]), every: false }, members);
  return clusters.filter((one) => names.has(one.name) && !standsForOthers(one.cluster));
}

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
    if (!isAggregate(cluster) || isAdded(name) || !reaches.some(({ reach }) => leadsTo(reach, name))) continue;
    const leaves = leavesOf(name, clusters).filter((leaf) => leaf.provider !== undefined);
    if (leaves.some((leaf) => leaf.provider?.host !== undefined)) findings.push(...autoServerNames(cluster));
    for (const one of leaves) {
      if (whyNotMarkable(one.cluster) !== undefined)
        findings.push((providerOf(one.cluster) ?? one.cluster).finding(UNMARKED.replace("%", name)));
    }
  }
}

const UNMARKED =
  "expected endpoints in this file beside provider, which name the cluster to the filters of the aggregate cluster %, found none";

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
