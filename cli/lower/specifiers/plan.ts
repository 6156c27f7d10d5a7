import { chainChangesCount, levelChangesCount } from "../../choose/attempt-count.js";
import type { Finding } from "../../findings.js";
import { managersOf, type Program } from "../../model/program.js";
import { CompositeNames } from "../../read/composite.js";
import { programOf } from "../../read/program.js";
import { attemptsOf, policyOf } from "../../read/retry-policy.js";
import { readLevel, readUse } from "../../read/route.js";
import { pluginsByName } from "../../read/route-configuration.js";
import { Cursor } from "../../yaml/cursor.js";
import { pairOf } from "../../yaml/edit.js";
import type { Editor, Tree } from "../../yaml/tree.js";
import type { Json } from "../../yaml/scalar.js";
import { Clusters } from "../clusters.js";
import type { CompositeContext } from "../composite-route.js";
import { behindModule, copiedState, type Behind } from "../copied-state.js";
import { runtimeSkips } from "../composite-uses.js";
import { Composites } from "../composites.js";
import { findResources, routesOf, type Resources, type RouteConfigSite } from "../../read/resources.js";
import type { PlanOptions } from "../options.js";
import { withAnswers, withoutAnswers } from "../answers.js";
import { allowedClusters, hasOverride, ownSettings, selectsByHeader } from "../override.js";
import { prepareRoute, specifierUse, type SpecifierUse } from "../priority-group.js";
import { isMessage, routeName, type RouteSettings } from "../settings.js";
import { ATTEMPT_COUNT_HEADER, GIVEN_KEY, METADATA_NAMESPACE } from "../types.js";
import {
  configuredRoute,
  digest,
  ownFields,
  readSpecifiers,
  subFields,
  type Configured,
  type Message,
  type Override,
} from "./configured.js";
import {
  fallbackCopy,
  overridesOf,
  routeCopies,
  routeMessage,
  templateRoutes,
  usesSlots,
  type CopyContext,
} from "./copies.js";
import { ignoresParameters } from "./template-match.js";
import { sharedSlotsFindings, undecidedTemplateFindings } from "./undecided-template.js";

/** The settings of a chain, and where its three lists stand in the file. */
export interface PlannedChain {
  /** The route, virtual host or route configuration whose chain it is. */
  holder: Cursor;
  settings: RouteSettings;
  levels: { route_configuration: Configured[]; virtual_host: Configured[]; route: Configured[] };
}

/** What lowering the route specifiers of a file will change. The output still has the priority groups of the input. */
export interface SpecifierPlan {
  editor: Editor;
  findings: Finding[];
  chains: PlannedChain[];
  /** Offsets of what `lower` refuses elsewhere and that stands in templates. */
  known: Set<number>;
}

const NO_ROUTE_PIN = "(no route)";
/** The number of slots that the module accepts. */
const MAX_SLOTS = 100;

/** Plans the route specifiers of a whole file. */
export function planSpecifiers(source: Tree, options: PlanOptions): SpecifierPlan {
  const plan: SpecifierPlan = { editor: source.edit(), findings: [], chains: [], known: new Set() };
  const root = Cursor.root(source);
  const resources = findResources(root, []);
  if (resources === undefined) return plan;
  const program = programOf(root, resources);
  const planner = new SpecifierPlanner(plan, root, resources, program, options);
  const managers = managersOf(program);
  for (const [index, { routeConfigs }] of resources.connectionManagers.entries()) {
    const changes = managers[index]?.routers.some(({ upstream }) => chainChangesCount(upstream) !== undefined) === true;
    const behind = behindModule(managers.slice(index, index + 1), options);
    for (const site of routeConfigs) planner.planConfig(site, changes, behind);
  }
  for (const site of resources.looseRouteConfigs) planner.planConfig(site, false, behindModule([], options));
  return plan;
}

/** Whether requests of a route configuration are given to specifiers, before or after lowering. */
export function usesSpecifiers(config: Cursor): boolean {
  return hasSpecifiers(config) || holdersOf(config).some(isSpecified);
}

/** Whether some specifiers stand in a route configuration. */
export function hasSpecifiers(config: Cursor): boolean {
  return holdersOf(config).some((holder) => holder.list("route_specifiers").length > 0);
}

/** A route configuration with its virtual hosts and their routes. */
function holdersOf(config: Cursor): Cursor[] {
  return [config, ...config.list("virtual_hosts").flatMap((host) => [host, ...routesOf(host)])];
}

function isSpecified(holder: Cursor): boolean {
  return holder.at("metadata", "filter_metadata", METADATA_NAMESPACE, "route_specifiers") !== undefined;
}

/** A route configuration and what its specifiers need to know of it. */
interface ConfigContext {
  site: RouteConfigSite;
  config: Configured[];
  slots: number;
  plugins: ReadonlyMap<string, Cursor>;
  upstreamChanges: boolean;
  behind: Behind;
}

class SpecifierPlanner {
  private readonly clusters: Clusters;
  private readonly compositeNames: CompositeNames;
  private readonly composites: CompositeContext;

  constructor(
    private readonly plan: SpecifierPlan,
    root: Cursor,
    private readonly resources: Resources,
    program: Program,
    private readonly options: PlanOptions,
  ) {
    this.clusters = new Clusters(program);
    this.compositeNames = new CompositeNames(resources.clusters);
    const closed = !program.dynamicClusters;
    this.composites = { composites: new Composites(resources.clusters, closed), skip: runtimeSkips(root) };
  }

  planConfig(site: RouteConfigSite, upstreamChanges: boolean, behind: Behind): void {
    const { config } = site;
    if (!holdersOf(config).some((holder) => holder.field("route_specifiers") !== undefined)) return;
    const own = this.read(config, site);
    this.rejectLateHosts(config, own);
    const hosts = config.list("virtual_hosts");
    const all = hosts
      .flatMap((host) => [host, ...routesOf(host)])
      .flatMap((holder) => readSpecifiers(holder, ignoresParameters(config), []));
    const lengths = overridesOf([...own, ...all]).map(({ groups }) => groups.length);
    const slots = Math.min(Math.max(0, ...lengths), MAX_SLOTS);
    const context = { site, config: own, slots, plugins: pluginsByName(config), upstreamChanges, behind };
    for (const host of hosts) this.planHost(host, context);
    this.remove(config);
    if (own.length > 0 && !hosts.some(takesEveryHost)) this.addCatchAll(config, context);
  }

  private planHost(host: Cursor, context: ConfigContext): void {
    const own = this.read(host, context.site);
    const routes = host.list("routes").map((route) => ({ route, own: this.read(route, context.site) }));
    this.rejectMatcher(host, [...context.config, ...own]);
    const shared = [...context.config, ...own];
    const specified = routes.filter((one) => shared.length + one.own.length > 0);
    this.remove(host);
    for (const { route } of routes) this.remove(route);
    if (specified.length === 0 && shared.length === 0) return;
    const everything = [...shared, ...routes.flatMap((one) => one.own)];
    this.addTemplateSettings(everything, host, context);
    const first: Json[] = this.templates(everything, host, context);
    for (const { route, own: level } of specified) {
      const copies = this.planRoute(route, host, [context.config, own, level], context);
      this.rejectCopiedState(route, [...copies, ...this.fallbacks(route, [...shared, ...level])], context);
      first.push(...copies);
    }
    for (const { route, own: level } of specified) first.push(...this.fallbacks(route, [...shared, ...level]));
    if (everything.some(({ template }) => template?.proxyMatches === true)) first.push(noRoute());
    if (shared.length > 0) this.writeHostSettings(host, [context.config, own], context.slots);
    this.insertFirst(host, first);
    this.countAttempts(host, everything);
  }

  /** Writes a route's settings; its copies. */
  private planRoute(route: Cursor, host: Cursor, lists: Configured[][], context: ConfigContext): Json[] {
    const name = route.field("name")?.string() ?? "";
    const pin = pinOf(route);
    const chain = lists.flat();
    const own = this.ownOf(route, host, overridesOf(chain), context);
    const settings = this.settingsOf(route, own, lists, context.slots, configuredRoute(route, name, pin));
    const { editor } = this.plan;
    if (route.map === undefined) return [];
    const before = route.field("route") === undefined ? "match" : "route";
    editor.set(route.map, "name", routeName(name, settings), before);
    editor.set(route.map, "metadata", withSettings(ownFields(route), settings), before);
    this.rejectLostHeader(chain, [context.site.config, host, route], context);
    this.plan.findings.push(...undecidedTemplateFindings(chain));
    const hasSlots = (one: Cursor) => this.groupUse(one, context.plugins) !== undefined;
    if (hasSlots(route)) this.plan.findings.push(...sharedSlotsFindings(chain, hasSlots));
    const message = routeMessage(route);
    if (Object.keys(own).length > 0) message["metadata"] = withSettings(message, own);
    return routeCopies(route, message, pin, this.copyContext(host, chain, context.slots));
  }

  /**
   * The settings that a route and its copies have for their own groups. Where requests may override these, there is a
   * slot for every attempt that a retry policy of a specifier allows.
   */
  private ownOf(route: Cursor, host: Cursor, overrides: readonly Override[], { plugins }: ConfigContext): Message {
    const use = this.groupUse(route, plugins);
    if (use === undefined) return withoutAnswers(ownSettings(route));
    const own = route.at("metadata", "filter_metadata", METADATA_NAMESPACE)?.json();
    const settings = withAnswers(isMessage(own) ? own : {}, route, host);
    const attempts = Math.max(0, ...overrides.map(({ retries }) => (retries ?? -1) + 1));
    if (!hasOverride(use.specifier) || attempts === 0) return settings;
    return { ...settings, slots: Math.min(Math.max(attempts, Number(settings["slots"] ?? 1)), MAX_SLOTS) };
  }

  private copyContext(host: Cursor, chain: readonly Configured[], slots: number): CopyContext {
    return { host, overrides: overridesOf(chain), slots, everyCluster: this.clusters.all };
  }

  private fallbacks(route: Cursor, chain: readonly Configured[]): Json[] {
    if (!chain.some(({ template }) => template?.proxyMatches === true)) return [];
    return [fallbackCopy(route, pinOf(route))];
  }

  private templates(specifiers: readonly Configured[], host: Cursor, context: ConfigContext): Json[] {
    const seen = new Set<string>();
    return specifiers.flatMap(({ template }) => {
      if (template === undefined || seen.has(template.pin)) return [];
      seen.add(template.pin);
      const routes = templateRoutes(template, this.copyContext(host, specifiers, context.slots));
      const everywhere = context.config.some((one) => one.template === template);
      const hosts = everywhere ? context.site.config.list("virtual_hosts").slice(1) : [];
      this.rejectCopiedState(template.route, [...routes.slice(1), ...hosts], context);
      return routes;
    });
  }

  /** Where a template has priority groups, the module must know them before the proxy has resolved it. */
  private addTemplateSettings(specifiers: readonly Configured[], host: Cursor, context: ConfigContext): void {
    for (const { template, settings } of specifiers) {
      const use = template && this.groupUse(template.route, context.plugins);
      if (template === undefined || use === undefined) continue;
      this.plan.known.add(use.specifier.offset);
      for (const group of use.specifier.list("priority_groups")) {
        for (const cluster of group.list("clusters")) this.plan.known.add(cluster.field("cluster_name")?.offset ?? -1);
      }
      const levels = [context.site.config, host, template.route];
      const oneSlot = !this.options.attemptHeader || context.upstreamChanges || changesCount(levels);
      const byHeader = selectsByHeader(template.route, use.specifier, []);
      const around = {
        form: byHeader !== undefined ? "HEADERS" : oneSlot ? "ONE_SLOT" : "SLOT_PER_ATTEMPT",
        pin: false,
        rereads: false,
        attempts: Math.max(attemptsIn(template.route, host), this.clusters.attempts),
        allowed: allowedClusters(template.route, use.specifier, this.clusters.all, []),
      } as const;
      const planned = prepareRoute(template.route, host, use, around, this.composites, []);
      const summary = chosenSummary(settings);
      if (summary !== undefined) summary["settings"] = planned.settings;
    }
  }

  private groupUse(route: Cursor, plugins: ReadonlyMap<string, Cursor>): SpecifierUse | undefined {
    const action = route.field("route");
    const attempts = action && readUse(action, [], { plugins, composites: this.compositeNames });
    return attempts && specifierUse(attempts);
  }

  private settingsOf(
    holder: Cursor,
    own: Message,
    lists: Configured[][],
    slots: number,
    resolved?: Message,
  ): RouteSettings {
    const [config = [], host = [], route = []] = lists;
    const lowered: Message = {};
    const levels = { route_configuration: config, virtual_host: host, route };
    for (const [level, list] of Object.entries(levels)) {
      if (list.length > 0) lowered[level] = list.map(({ settings }) => settings);
    }
    if (resolved !== undefined) lowered["resolved"] = resolved;
    if (slots > 0) lowered["slots"] = slots;
    const settings = { ...own, route_specifiers: lowered };
    this.plan.chains.push({ holder, settings: { route_specifiers: lowered }, levels });
    return settings;
  }

  /** The settings of requests that match none of the virtual host's routes. */
  private writeHostSettings(host: Cursor, lists: Configured[][], slots: number): void {
    const settings = this.settingsOf(host, withoutAnswers(ownSettings(host)), lists, slots);
    this.plan.findings.push(...undecidedTemplateFindings(lists.flat()));
    if (host.map === undefined) return;
    this.plan.editor.set(host.map, "name", routeName(host.field("name")?.string(), settings), "domains");
    this.plan.editor.set(host.map, "metadata", withSettings(ownFields(host), settings), "domains");
  }

  /** So that requests that match no virtual host are given to the specifiers of the route configuration. */
  private addCatchAll(config: Cursor, context: ConfigContext): void {
    const settings = this.settingsOf(config, {}, [context.config], context.slots);
    this.plan.findings.push(...undecidedTemplateFindings(context.config));
    this.addTemplateSettings(context.config, config, context);
    const routes = this.templates(context.config, config, context);
    const counts = usesSlots(overridesOf(context.config)) ? { include_request_attempt_count: true } : {};
    const host: Message = {
      // To specifiers its name is empty: none of the configuration's virtual hosts matched.
      name: routeName("", settings),
      domains: ["*"],
      metadata: withSettings({}, settings),
      ...counts,
      ...(routes.length > 0 ? { routes } : {}),
    };
    const list = config.field("virtual_hosts");
    if (list?.seq !== undefined) this.plan.editor.insertItem(list.seq, 0, host);
    else if (config.map !== undefined) this.plan.editor.set(config.map, "virtual_hosts", [host]);
  }

  private insertFirst(host: Cursor, routes: readonly Json[]): void {
    const list = host.field("routes");
    if (routes.length === 0 || host.map === undefined) return;
    if (list?.seq === undefined || list.items().length === 0) this.plan.editor.set(host.map, "routes", [...routes]);
    else for (const route of routes) this.plan.editor.insertItem(list.seq, 0, route);
  }

  private countAttempts(host: Cursor, specifiers: readonly Configured[]): void {
    if (host.map === undefined || !usesSlots(overridesOf(specifiers))) return;
    if (host.field("include_request_attempt_count")?.bool() === true) return;
    this.plan.editor.set(host.map, "include_request_attempt_count", true, "domains");
  }

  private remove(holder: Cursor): void {
    const pair = holder.map === undefined ? undefined : pairOf(holder.map, "route_specifiers");
    if (holder.map !== undefined && pair !== undefined) this.plan.editor.removePair(holder.map, pair);
  }

  private read(holder: Cursor, site: RouteConfigSite): Configured[] {
    const specifiers = readSpecifiers(holder, ignoresParameters(site.config), this.plan.findings);
    for (const { entry, type } of specifiers) if (type === "RouteOverride") this.checkClusters(entry, site);
    return specifiers;
  }

  private checkClusters(entry: Cursor, site: RouteConfigSite): void {
    const validates = site.config.field("validate_clusters")?.bool() ?? site.validatesByDefault;
    const config = entry.field("typed_config");
    if (!validates || this.resources.kind !== "bootstrap" || config === undefined) return;
    const groups = config.list("priority_groups").flatMap((group) => group.list("clusters"));
    const names = [
      config.field("cluster"),
      ...config.list("weighted_clusters").map((cluster) => cluster.field("name")),
      ...groups.map((cluster) => cluster.field("cluster_name")),
    ];
    for (const name of names) {
      const text = name?.string();
      if (name === undefined || text === undefined || text === "" || this.clusters.has(text)) continue;
      const message = `expected the name of a cluster in static_resources.clusters, found ${JSON.stringify(text)}`;
      this.plan.findings.push(name.finding(message));
    }
  }

  /** Nothing would give the requests of a virtual host that arrives later to the specifiers of its configuration. */
  private rejectLateHosts(config: Cursor, own: readonly Configured[]): void {
    if (own.length === 0 || config.field("vhds") === undefined) return;
    const message =
      "expected no route_specifiers beside vhds, found some: virtual hosts from VHDS would pass them by; " +
      "put all virtual hosts into the RouteConfiguration";
    this.plan.findings.push(config.findingBelow(["route_specifiers"], message));
  }

  private rejectMatcher(host: Cursor, shared: readonly Configured[]): void {
    const matcher = host.field("matcher");
    if (matcher === undefined) return;
    const routes = routesOf(host).filter((route) => route.list("route_specifiers").length > 0);
    if (shared.length === 0 && routes.length === 0) return;
    this.plan.findings.push(
      matcher.finding(
        "expected a list of routes where route specifiers apply, found a matcher, which cannot be lowered",
      ),
    );
  }

  private rejectCopiedState(route: Cursor, copies: readonly unknown[], { behind }: ConfigContext): void {
    if (copies.length > 0) this.plan.findings.push(...copiedState(route, behind));
  }

  private rejectLostHeader(chain: readonly Configured[], levels: readonly Cursor[], context: ConfigContext): void {
    if (!usesSlots(overridesOf(chain))) return;
    if (this.options.attemptHeader && !context.upstreamChanges && !changesCount(levels)) return;
    for (const { entry, override } of chain) {
      if (override === undefined || override.groups.length === 0) continue;
      const message = `expected no priority_groups where ${ATTEMPT_COUNT_HEADER} is not sent upstream unchanged, found some`;
      this.plan.findings.push(entry.findingBelow(["typed_config", "priority_groups"], message));
    }
  }
}

function takesEveryHost(host: Cursor): boolean {
  return host.list("domains").some((domain) => domain.string() === "*");
}

function changesCount(levels: readonly Cursor[]): boolean {
  return levelChangesCount(levels.map(readLevel)) !== undefined;
}

/** How many attempts the retry policies around a template's route allow. */
function attemptsIn(route: Cursor, host: Cursor): number {
  return attemptsOf(policyOf(route.field("route")) ?? policyOf(host));
}

function pinOf(route: Cursor): string {
  return `${route.field("name")?.string() ?? ""}/${digest(route)}`;
}

/** The metadata of a message with the module's settings among them. */
function withSettings(message: Message, settings: RouteSettings): Message {
  const metadata = subFields(message, "metadata");
  const filterMetadata = isMessage(metadata["filter_metadata"]) ? metadata["filter_metadata"] : {};
  return { ...metadata, filter_metadata: { ...filterMetadata, [METADATA_NAMESPACE]: settings } };
}

/** The template that a RouteTemplate's settings choose, as the module will read it. */
function chosenSummary(settings: Message): Message | undefined {
  const typed = settings["typed_config"];
  if (!isMessage(typed) || !Array.isArray(typed["templates"])) return undefined;
  const chosen = typed["templates"].filter(isMessage).find((item) => item["template_id"] === typed["template_id"]);
  return isMessage(chosen?.["route"]) ? chosen["route"] : undefined;
}

/** What a request without a route falls back to: Envoy's answer where a route was dropped. */
function noRoute(): Json {
  const filter_state = [{ key: GIVEN_KEY, string_match: { exact: NO_ROUTE_PIN } }];
  return { match: { prefix: "", filter_state }, direct_response: { status: 404 } };
}
