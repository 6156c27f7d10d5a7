import { InputError, type Finding, type Warning } from "../findings.js";
import { Cursor } from "../yaml/cursor.js";
import { Editor, pairOf } from "../yaml/edit.js";
import type { Json } from "../yaml/scalar.js";
import type { Source } from "../yaml/source.js";
import { changesAttemptHeader, matchesAttemptHeader, namesAttemptHeader } from "./attempt-header.js";
import { Clusters } from "./clusters.js";
import { compositeCluster, skipsClusters, type CompositeContext } from "./composite-route.js";
import { otherUses, runtimeSkips } from "./composite-uses.js";
import { Composites } from "./composites.js";
import {
  findResources,
  routesOf,
  everySpecifier,
  type ConnectionManagerSite,
  type Resources,
  type RouteConfigSite,
} from "../read/resources.js";
import { HOLD_FILTER } from "./hold/filters.js";
import type { PlanOptions } from "./options.js";
import {
  planRoute,
  pluginSpecifier,
  readsAttemptCount,
  rewriteRoute,
  setPerFilter,
  slotSpecifier,
  specifierUse,
  type PriorityGroupRoute,
  type RouteContext,
  type SpecifierUse,
} from "./priority-group.js";
import { allowedClusters, selectsByHeader } from "./override.js";
import { enabled, isInside, keepsRoutes, ownFilters, type OwnFilter } from "./own-filters.js";
import { isPinned, pinnedCopies } from "./pin.js";
import { routeFindings } from "./route-check.js";
import { groupsOf, routeName } from "./settings.js";
import { changeItems } from "./lists.js";
import { adminCluster } from "./admin.js";
import { availabilityOf, moduleSettings } from "./module-settings.js";
import { addProbe, PROBE_EXTENSION, probeCluster, probeListener } from "./probe.js";
import { attemptsOf } from "./retries.js";
import { headerSelection } from "./slot-tree.js";
import { canBeCopied, shareCopies } from "./share-copies.js";
import { startMark } from "./start-mark.js";
import { NO_HOST_CLUSTER, TYPE } from "./types.js";
import { hasSpecifiers, usesSpecifiers } from "./specifiers/plan.js";
import {
  hasEarlierFilters,
  hasMark,
  hasOtherUpstreamFilters,
  moduleCluster,
  routersOf,
  staleFilters,
  wireCluster,
  wireConnectionManager,
  type ModuleUse,
  type UpstreamPlace,
} from "./wiring.js";

/** Everything that lowering one file will change, before anything is changed. */
export interface Plan {
  editor: Editor;
  findings: Finding[];
  warnings: Warning[];
  routes: PriorityGroupRoute[];
  /** Named specifiers that no route uses: removed, but they must be valid as the used ones. */
  unusedSpecifiers: PriorityGroupRoute[];
  /** Whether the output, or what goes with it, names the module. */
  usesModule: boolean;
}

/** Plans a whole file. Findings do not stop it, so that all are found. */
export function planFile(source: Source, options: PlanOptions, known: ReadonlySet<number> = new Set()): Plan {
  const plan: Plan = {
    editor: new Editor(source),
    findings: [],
    warnings: [],
    routes: [],
    unusedSpecifiers: [],
    usesModule: false,
  };
  const root = Cursor.root(source);
  const resources = findResources(root, plan.findings);
  if (resources === undefined) throw new InputError(plan.findings);
  new Planner(plan, root, resources, options, known).run();
  return plan;
}

/** The name of a listener that is not in the file; those in the file have names. */
const NO_LISTENER = "";

const DYNAMIC_ROUTES =
  "routes that come from RDS or SRDS are not in this file: those that name a composite cluster will not find it";

const NO_MODULE_CLUSTER =
  "the module is fetched through a cluster that is not in this file: give the bootstrap or CDS a cluster named";

function noHostCluster(): Json {
  const load_assignment = { cluster_name: NO_HOST_CLUSTER };
  return { name: NO_HOST_CLUSTER, type: "STATIC", connect_timeout: "1s", load_assignment };
}

/** What the filter chain of a connection manager means for its routes. */
interface Chain {
  /** Upstream filters change x-envoy-attempt-count. */
  changesHeader: boolean;
  /** Filters before the module may change what the route was matched by. */
  pin: boolean;
  /** A filter marks that the router has begun, for the routes that need no more. */
  marks: boolean;
  /** Upstream filters may write dynamic metadata. */
  writesMetadata: boolean;
}

/** The listeners whose routes need the upstream role in a cluster's own filters, and where it goes. */
interface UpstreamUse {
  listeners: Set<string>;
  place: UpstreamPlace;
}

/** In longer lists, requests would pass too many copies of other routes. */
const MAX_ROUTES_TO_COPY = 100;

interface RouteUse {
  route: Cursor;
  use: SpecifierUse;
  /** The route may become several. */
  splits: boolean;
  /** The filters before the module may change what the route was matched by, and a copy of it can be found all the same. */
  pin: boolean;
}

interface PlannedManager {
  site: ConnectionManagerSite;
  routes: PriorityGroupRoute[];
}

class Planner {
  private readonly clusters: Clusters;
  private readonly context: CompositeContext;
  /** Clusters that the output has in addition. */
  private readonly added: Json[] = [];
  /** Resources other than clusters that a list has in addition. */
  private readonly addedResources: Json[] = [];
  /** Offsets of the specifiers that were met where one may stand. */
  private readonly known = new Set<number>();
  /** The planned routes of each RouteConfiguration, by its offset: several connection managers may take one over RDS. */
  private readonly plannedConfigs = new Map<number, PriorityGroupRoute[]>();
  /** Listeners whose routes need the upstream role in a cluster's own filters, by cluster. */
  private readonly upstreamUsers = new Map<Cursor, UpstreamUse>();

  constructor(
    private readonly plan: Plan,
    private readonly root: Cursor,
    private readonly resources: Resources,
    private readonly options: PlanOptions,
    known: ReadonlySet<number>,
  ) {
    for (const offset of known) this.known.add(offset);
    this.clusters = new Clusters(resources);
    const closed = resources.kind === "bootstrap" && root.at("dynamic_resources", "cds_config") === undefined;
    this.context = { composites: new Composites(resources.clusters, closed), skip: runtimeSkips(root) };
  }

  run(): void {
    const managers = this.resources.connectionManagers.map((site) => this.planManager(site));
    this.wireManagers(managers);
    for (const site of this.resources.looseRouteConfigs) this.planLooseConfig(site);
    this.planLooseClusters();
    this.wireClusters();
    if (this.root.source.text.includes(HOLD_FILTER)) this.plan.usesModule = true;
    if (this.plan.usesModule) this.addModuleCluster();
    this.replaceComposites();
    this.changeClusters();
    this.rejectUnknownPlaces();
  }

  private planManager(site: ConnectionManagerSite): PlannedManager {
    this.plan.findings.push(...staleFilters(site.manager, this.options));
    const marks = this.profitsFromMark(site);
    const routes = site.routeConfigs.flatMap((config) =>
      this.planConfig(config, { ...this.chainBefore(config), marks }),
    );
    return { site, routes };
  }

  /**
   * Whether routes of a connection manager can do without the module by marking when the router begins. Where it serves
   * all routes anyway, the filter that marks would only come on top.
   */
  private profitsFromMark(site: ConnectionManagerSite): boolean {
    const { manager, routeConfigs, dynamicRoutes } = site;
    if (dynamicRoutes || routeConfigs.some(({ config }) => usesSpecifiers(config) || !isInside(config, manager)))
      return false;
    const routes = routeConfigs.flatMap((config) =>
      this.tryConfig(config, { ...this.chainBefore(config), marks: true }),
    );
    const deciding = routes.filter(({ needsModule }) => needsModule);
    return (
      deciding.length === 0 ||
      (!deciding.some((route) => this.decidesPerAttempt(route)) && this.ownFilters(site, deciding) !== undefined)
    );
  }

  /** The routes of a RouteConfiguration as they would be planned. */
  private tryConfig({ config }: RouteConfigSite, chain: Chain): PriorityGroupRoute[] {
    const plugins = this.namedPlugins(config);
    return config
      .list("virtual_hosts")
      .flatMap((host) => this.uses(host, plugins, chain).map((use) => this.planUse(use, host, config, chain, [])));
  }

  /** All connection managers of a listener share a VM, so they get the same configuration of the module. */
  private wireManagers(managers: readonly PlannedManager[]): void {
    const listeners = new Map<string, PriorityGroupRoute[]>();
    for (const { site, routes } of managers) {
      listeners.set(site.listenerName, [...(listeners.get(site.listenerName) ?? []), ...routes]);
    }
    for (const { site, routes } of managers) {
      const ofListener = listeners.get(site.listenerName) ?? [];
      this.wireManager(site, routes, moduleSettings(ofListener, this.context, this.plan.findings));
    }
    const modes = new Set(managers.map(({ routes }) => availabilityOf(moduleSettings(routes, this.context, []))));
    if (modes.has("ADMIN")) this.added.push(adminCluster(this.root, this.plan.findings));
    if (modes.has("PROBE")) {
      if (this.resources.kind === "bootstrap") addProbe(this.root, this.plan.editor);
      else this.addProbeResources();
      this.added.push(probeCluster());
    }
  }

  private addProbeResources(): void {
    this.addedResources.push({ "@type": TYPE.listener, ...(probeListener() as object) });
    const message = `composite clusters need bootstrap_extensions with ${PROBE_EXTENSION}: the bootstrap is not in this file`;
    this.plan.warnings.push(this.root.finding(message));
  }

  private wireManager(site: ConnectionManagerSite, routes: PriorityGroupRoute[], settings: Json | undefined): void {
    const specified = site.routeConfigs.some(({ config }) => usesSpecifiers(config));
    const dynamic = site.dynamicRoutes && this.options.rds;
    const deciding = routes.filter(({ needsModule }) => needsModule);
    const module = deciding.length > 0 || dynamic || specified ? this.moduleUse(site, deciding, settings) : undefined;
    const keeps = !specified && keepsRoutes(site.manager, this.options);
    const marks = routes.some((route) => route.marks) || hasMark(site.manager);
    const mark = marks ? { disabled: keeps } : undefined;
    const own = module?.own;
    for (const route of routes) {
      const filter = own?.get(route.name);
      const perFilter = { ...(filter === undefined ? {} : enabled(filter)), ...(route.marks ? startMark() : {}) };
      setPerFilter(route, perFilter, this.plan.editor);
    }
    if (module !== undefined) this.plan.usesModule = true;
    if (module === undefined && mark === undefined) return;
    wireConnectionManager(site, { module, mark }, this.options, this.plan.editor, this.plan.findings);
  }

  /** Where the module goes, for the routes that need it. */
  private moduleUse(site: ConnectionManagerSite, routes: PriorityGroupRoute[], settings: Json | undefined): ModuleUse {
    const perAttempt = routes.filter((route) => this.decidesPerAttempt(route));
    const everyCluster = site.dynamicRoutes && this.options.rds && !this.options.attemptHeader;
    const place = this.upstreamPlace(routes, perAttempt.length > 0 || everyCluster);
    if (place === "nowhere") {
      const own = settings === undefined ? this.ownFilters(site, routes) : undefined;
      return { place, settings, ...(own === undefined ? {} : { own }) };
    }
    const anyCluster = everyCluster || perAttempt.some((route) => route.form === "HEADERS");
    this.noteUpstreamUse(site.listenerName, anyCluster ? undefined : clusterNames(perAttempt), place);
    return { place, settings };
  }

  /** The filters of the routes; undefined where one filter serves them all. */
  private ownFilters(site: ConnectionManagerSite, routes: PriorityGroupRoute[]): Map<string, OwnFilter> | undefined {
    // While connections of a listener that was replaced drain, its virtual machines stay: an update of weights every few
    // seconds would add hundreds. The listeners of a bootstrap are not replaced.
    if (this.resources.kind !== "bootstrap") return undefined;
    const isShared = ({ config }: RouteConfigSite) => this.takersOf(config).length > 1;
    if (site.routeConfigs.some(isShared) || routes.some(({ settings }) => groupsOf(settings).length === 0))
      return undefined;
    return ownFilters(site, routes, this.options);
  }

  private takersOf(config: Cursor): ConnectionManagerSite[] {
    return this.resources.connectionManagers.filter(({ routeConfigs }) =>
      routeConfigs.some((site) => site.config.offset === config.offset),
    );
  }

  /** What holds for one of the connection managers that take a RouteConfiguration holds for its routes. */
  private chainBefore({ config }: RouteConfigSite): Omit<Chain, "marks"> {
    const chains = this.takersOf(config).map(({ manager }) => chainOf(manager, this.options));
    return {
      changesHeader: chains.some((chain) => chain.changesHeader),
      pin: chains.some((chain) => chain.pin),
      writesMetadata: chains.some((chain) => chain.writesMetadata),
    };
  }

  private upstreamPlace(routes: readonly PriorityGroupRoute[], needed: boolean): UpstreamPlace {
    if (routes.some((route) => route.rereads)) return "around";
    return needed ? "first" : "nowhere";
  }

  private planLooseConfig(site: RouteConfigSite): void {
    // Which filters come before the router is not known here, so there may be some.
    const all = this.planConfig(site, { changesHeader: false, pin: true, marks: false, writesMetadata: false });
    const routes = all.filter(({ needsModule }) => needsModule);
    this.warnOfClusterCheck(site, all);
    if (routes.length === 0 && !hasSpecifiers(site.config)) return;
    this.plan.usesModule = true;
    const perAttempt = routes.filter((route) => this.decidesPerAttempt(route));
    if (perAttempt.length > 0) {
      this.noteUpstreamUse(NO_LISTENER, clusterNames(perAttempt), this.upstreamPlace(perAttempt, true));
    }
    const upstream = routes.some((route) => route.form === "ONE_SLOT") ? " --no-attempt-header" : "";
    const message =
      "a RouteConfiguration has no filter chain: lower the bootstrap or Listener whose connection manager takes these " +
      `routes with --rds${upstream}, which puts the module in front of its router`;
    this.plan.warnings.push(site.config.finding(message));
  }

  private warnOfClusterCheck(site: RouteConfigSite, routes: readonly PriorityGroupRoute[]): void {
    if (routes.length === 0 || site.config.field("validate_clusters")?.bool() !== true) return;
    const unchecked = "validate_clusters cannot be kept for priority groups: the clusters are not in this file";
    this.plan.warnings.push(site.config.findingBelow(["validate_clusters"], unchecked));
  }

  /** Clusters as CDS carries them: any route may lead to them, from any listener. */
  private planLooseClusters(): void {
    const { kind, connectionManagers } = this.resources;
    if (kind !== "resources" || connectionManagers.length > 0) return;
    if (this.options.rds && !this.options.attemptHeader) this.noteUpstreamUse(NO_LISTENER, undefined, "first");
  }

  private planConfig(site: RouteConfigSite, chain: Chain): PriorityGroupRoute[] {
    const before = this.plannedConfigs.get(site.config.offset);
    if (before !== undefined) return before;
    const plugins = this.namedPlugins(site.config);
    const routes = site.config
      .list("virtual_hosts")
      .flatMap((host) => this.planVirtualHost(host, site, plugins, chain));
    this.planRemovals(site.config, routes);
    this.plannedConfigs.set(site.config.offset, routes);
    return routes;
  }

  private planVirtualHost(
    host: Cursor,
    site: RouteConfigSite,
    plugins: ReadonlyMap<string, Cursor>,
    chain: Chain,
  ): PriorityGroupRoute[] {
    const { findings } = this.plan;
    for (const route of routesOf(host)) {
      this.checkPluginName(route, plugins);
      this.checkPluginType(route);
    }
    const routes = this.uses(host, plugins, chain).map((routeUse) => {
      const { route, use } = routeUse;
      this.known.add(use.specifier.offset);
      findings.push(...routeFindings(route));
      const planned = this.planUse(routeUse, host, site.config, chain, findings);
      for (const group of use.specifier.list("priority_groups")) {
        for (const cluster of group.list("clusters")) this.known.add(cluster.field("cluster_name")?.offset ?? -1);
      }
      this.clusters.check(planned, site, findings);
      return planned;
    });
    this.plan.routes.push(...routes);
    tellPinnedApart(routes);
    for (const route of routes) rewriteRoute(route, this.plan.editor);
    this.addPinnedCopies(host, routes);
    this.addShareCopies(host, routes);
    if (
      routes.some(readsAttemptCount) &&
      host.map !== undefined &&
      host.field("include_request_attempt_count")?.bool() !== true
    ) {
      const before = host.field("routes") === undefined ? "matcher" : "routes";
      this.plan.editor.set(host.map, "include_request_attempt_count", true, before);
    }
    return routes;
  }

  /** The routes of a virtual host that have something to lower. */
  private uses(host: Cursor, plugins: ReadonlyMap<string, Cursor>, chain: Chain): RouteUse[] {
    const listed = new Set(host.list("routes").map((route) => route.offset));
    // The module takes a client's attempt count away before the route is resolved anew.
    const pinAll = chain.pin || matchesAttemptHeader(host);
    const mayCopy = this.options.splitWeights && listed.size <= MAX_ROUTES_TO_COPY;
    return routesOf(host).flatMap((route) => {
      const use = specifierUse(route, plugins) ?? this.compositeUse(route);
      const inList = listed.has(route.offset);
      const splits = mayCopy && inList && canBeCopied(route);
      return use === undefined ? [] : [{ route, use, pin: pinAll && inList, splits }];
    });
  }

  private planUse(
    { route, use, pin, splits }: RouteUse,
    host: Cursor,
    config: Cursor,
    chain: Chain,
    findings: Finding[],
  ): PriorityGroupRoute {
    const changesHeader = chain.changesHeader || changesAttemptHeader([config, host, route]);
    return this.planOne(route, host, use, { ...chain, changesHeader, pin, splits }, findings);
  }

  private addPinnedCopies(host: Cursor, routes: PriorityGroupRoute[]): void {
    const list = host.field("routes")?.seq;
    for (const route of routes) {
      if (!route.pin || isPinned(route.route) || list === undefined || groupsOf(route.settings).length === 0) continue;
      const copies = pinnedCopies(route, pinnedSelection(route));
      for (const copy of copies) this.plan.editor.insertItem(list, 0, copy);
    }
  }

  private addShareCopies(host: Cursor, routes: PriorityGroupRoute[]): void {
    const list = host.field("routes")?.seq;
    const indexes = new Map(host.list("routes").map((route, index) => [route.offset, index]));
    for (const route of routes) {
      const index = indexes.get(route.route.offset);
      if (list === undefined || index === undefined) continue;
      for (const copy of shareCopies(route)) this.plan.editor.insertItem(list, index, copy);
    }
  }

  private compositeUse(route: Cursor): SpecifierUse | undefined {
    const cluster = compositeCluster(route, this.context);
    return cluster === undefined ? undefined : { specifier: cluster, field: "cluster" };
  }

  /** Whether the upstream role has work on a route. */
  private decidesPerAttempt(route: PriorityGroupRoute): boolean {
    if (!route.needsModule) return false;
    return route.form === "ONE_SLOT" || route.rereads || skipsClusters(route.settings, this.context);
  }

  private planOne(
    route: Cursor,
    host: Cursor,
    use: SpecifierUse,
    chain: Chain & { splits: boolean },
    findings: Finding[],
  ): PriorityGroupRoute {
    const around: RouteContext = {
      form: this.options.attemptHeader && !chain.changesHeader ? "SLOT_PER_ATTEMPT" : "ONE_SLOT",
      pin: chain.pin,
      marks: chain.marks,
      splits: chain.splits,
      rereads: chain.writesMetadata,
      attempts: Math.max(attemptsOf(route, host), this.clusters.attempts),
      allowed: allowedClusters(route, use.specifier, this.clusters.all, findings),
    };
    if (selectsByHeader(route, use.specifier, findings)) return this.planByHeader(route, host, use, around, findings);
    const planned = planRoute(route, host, use, around, this.context, findings);
    // A cluster's own upstream filters see the same header map and metadata as the router does.
    const { changesHeader, writesMetadata } = this.clusters.filtersOf(clusterNames([planned]));
    if (!changesHeader && !writesMetadata) return planned;
    const form = changesHeader ? "ONE_SLOT" : around.form;
    const rereads = around.rereads || writesMetadata;
    return planRoute(route, host, use, { ...around, form, rereads }, this.context, []);
  }

  private planByHeader(
    route: Cursor,
    host: Cursor,
    use: SpecifierUse,
    around: RouteContext,
    findings: Finding[],
  ): PriorityGroupRoute {
    const { changesHeader, writesMetadata } = this.clusters.filtersOf(new Set(this.clusters.all));
    if (around.form !== "SLOT_PER_ATTEMPT" || changesHeader) findings.push(route.finding(HEADER_NEEDS_COUNT));
    if (!host.list("routes").some(({ offset }) => offset === route.offset))
      findings.push(route.finding(HEADER_NEEDS_LIST));
    const rereads = around.rereads || writesMetadata;
    const context = { ...around, form: "HEADERS", pin: true, marks: false, rereads } as const;
    return planRoute(route, host, use, context, this.context, findings);
  }

  private namedPlugins(config: Cursor): Map<string, Cursor> {
    const plugins = new Map<string, Cursor>();
    for (const plugin of config.list("cluster_specifier_plugins")) {
      const name = plugin.at("extension", "name")?.string();
      if (name !== undefined && !plugins.has(name)) plugins.set(name, plugin);
    }
    return plugins;
  }

  /** No route uses the named priority-group specifiers any more, and Envoy before 1.40 does not know their type. */
  private planRemovals(config: Cursor, routes: PriorityGroupRoute[]): void {
    const used = new Set(routes.map((route) => route.use.specifier.offset));
    const list = config.field("cluster_specifier_plugins");
    const items = list?.items() ?? [];
    const removed = items.flatMap((plugin, index) => (pluginSpecifier(plugin) === undefined ? [] : [index]));
    for (const index of removed) {
      const specifier = pluginSpecifier(items[index]);
      if (specifier === undefined || used.has(specifier.offset)) continue;
      this.known.add(specifier.offset);
      const use = { specifier, field: "cluster_specifier_plugin" } as const;
      const plugin = items[index] as Cursor;
      this.plan.unusedSpecifiers.push(planRoute(plugin, undefined, use, UNUSED, this.context, this.plan.findings));
    }
    if (removed.length === 0 || config.map === undefined || list?.seq === undefined) return;
    const pair = pairOf(config.map, "cluster_specifier_plugins");
    if (removed.length < items.length) this.plan.editor.removeItems(list.seq, new Set(removed));
    else if (pair !== undefined) this.plan.editor.removePair(config.map, pair);
  }

  private checkPluginName(route: Cursor, plugins: ReadonlyMap<string, Cursor>): void {
    const name = route.at("route", "cluster_specifier_plugin");
    const text = name?.string();
    if (name === undefined || text === undefined || plugins.has(text)) return;
    const message = "expected the name of a plugin in cluster_specifier_plugins, found";
    this.plan.findings.push(name.finding(`${message} ${JSON.stringify(text)}`));
  }

  /** Envoy refuses it, but says no line, and a specifier without its type is none that could be lowered. */
  private checkPluginType(route: Cursor): void {
    const config = route.at("route", "inline_cluster_specifier_plugin", "extension", "typed_config");
    if (config === undefined || config.entries().length === 0 || config.field("@type") !== undefined) return;
    this.plan.findings.push(config.finding("expected an @type, found none"));
  }

  /** `names` undefined: any cluster may be reached. */
  private noteUpstreamUse(listenerName: string, names: ReadonlySet<string> | undefined, place: UpstreamPlace): void {
    for (const { name, cluster } of this.clusters.withFilters) {
      if (!(names?.has(name) ?? true)) continue;
      const before = this.upstreamUsers.get(cluster);
      const listeners = (before?.listeners ?? new Set()).add(listenerName);
      this.upstreamUsers.set(cluster, { listeners, place: before?.place === "around" ? "around" : place });
    }
  }

  /** A cluster that several or unknown listeners reach has one filter chain, and so a VM that is none of theirs. */
  private wireClusters(): void {
    if (this.upstreamUsers.size > 0) this.plan.usesModule = true;
    for (const [cluster, { listeners, place }] of this.upstreamUsers) {
      const [only = NO_LISTENER, ...others] = listeners;
      const isOne = others.length === 0 && only !== NO_LISTENER;
      const vmId = isOne ? `attempt_router/${only}` : "attempt_router";
      wireCluster(cluster, vmId, place, this.options, this.plan.editor);
    }
  }

  private addModuleCluster(): void {
    const cluster = moduleCluster(this.options.module);
    if (cluster === undefined || this.options.module.kind !== "remote") return;
    const { cluster: name } = this.options.module;
    if (this.clusters.has(name)) return;
    if (this.resources.clusterList !== undefined) this.added.push(cluster);
    else if (this.resources.connectionManagers.length > 0) {
      this.plan.warnings.push(this.root.finding(`${NO_MODULE_CLUSTER} ${name}`));
    }
  }

  /** Nothing names the composite clusters any more, and Envoy before 1.37 does not know their type. */
  private replaceComposites(): void {
    const { composites } = this.context;
    if (composites.isEmpty) return;
    composites.check(this.plan.findings);
    this.plan.findings.push(...otherUses(this.root, composites, this.known));
    this.added.push(noHostCluster());
    for (const site of this.resources.connectionManagers) {
      if (site.dynamicRoutes) this.plan.warnings.push(site.manager.finding(DYNAMIC_ROUTES));
    }
  }

  private changeClusters(): void {
    const list = this.resources.clusterList;
    const { indexes } = this.context.composites;
    if (list === undefined) {
      for (const index of indexes) this.rejectLoneComposite(index);
      return;
    }
    const removed = new Set([...indexes].map((index) => list.indexes[index] ?? -1));
    if (removed.size + this.added.length === 0) return;
    const clusters = this.added.map((cluster) =>
      list.typed ? { "@type": TYPE.cluster, ...(cluster as object) } : cluster,
    );
    const added = [...this.addedResources, ...clusters];
    changeItems(list.holder, list.key, removed, added, this.plan.editor);
  }

  private rejectLoneComposite(index: number): void {
    const message = "expected a composite cluster together with its routes (resources: [...]), found it alone";
    const cluster = this.resources.clusters[index];
    if (cluster !== undefined) this.plan.findings.push(cluster.finding(message));
  }

  private rejectUnknownPlaces(): void {
    for (const { offset, path, misspelt } of everySpecifier(this.root)) {
      if (this.known.has(offset)) continue;
      const expected =
        misspelt === undefined
          ? "a priority-group specifier only where a route can be lowered, and as its own @type, found one here"
          : `the @type ${TYPE.priorityGroup}, found ${misspelt}`;
      this.plan.findings.push(this.root.source.finding(offset, path, `expected ${expected}`));
    }
  }
}

function chainOf(manager: Cursor, options: PlanOptions): Omit<Chain, "marks"> {
  const upstreamChains = routersOf(manager).map((router) => router.field("upstream_http_filters"));
  return {
    changesHeader: upstreamChains.some(namesAttemptHeader),
    pin: hasEarlierFilters(manager, options),
    writesMetadata: upstreamChains.some(hasOtherUpstreamFilters),
  };
}

const HEADER_NEEDS_COUNT =
  "expected cluster_selection HEADER only where x-envoy-attempt-count is sent upstream as Envoy writes it, found it changed";
const HEADER_NEEDS_LIST =
  "expected cluster_selection HEADER only on a route in the routes of its virtual host, found one in a matcher";

/** A pinned copy is found by its route's name, so the name must lead to one route of the virtual host. */
function tellPinnedApart(routes: PriorityGroupRoute[]): void {
  const uses = new Map<string, number>();
  for (const route of routes) {
    if (!route.pin || isPinned(route.route)) continue;
    const count = (uses.get(route.name) ?? 0) + 1;
    uses.set(route.name, count);
    if (count > 1) route.name = routeName(route.route.field("name")?.string(), route.settings, count - 1);
  }
}

function pinnedSelection(route: PriorityGroupRoute): { [key: string]: Json } {
  if (route.form === "HEADERS") return headerSelection(route.slots.length);
  return { inline_cluster_specifier_plugin: slotSpecifier(route) };
}

function clusterNames(routes: readonly PriorityGroupRoute[]): Set<string> {
  return new Set(routes.flatMap(({ slots }) => slots.flatMap((slot) => [slot.defaultCluster, ...slot.otherClusters])));
}

/** A named specifier that no route uses is only checked. */
const UNUSED: RouteContext = {
  form: "SLOT_PER_ATTEMPT",
  pin: false,
  marks: false,
  splits: false,
  rereads: false,
  attempts: 1,
  allowed: [],
};
