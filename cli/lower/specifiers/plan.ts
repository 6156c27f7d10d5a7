import { chainChangesCount } from "../../choose/attempt-count.js";
import { managersOf } from "../../model/program.js";
import { programOf } from "../../read/program.js";
import { findResources, routesOf, type Resources, type RouteConfigSite } from "../../read/resources.js";
import { pluginsByName } from "../../read/route-configuration.js";
import { Cursor } from "../../yaml/cursor.js";
import { pairOf } from "../../yaml/edit.js";
import type { Tree } from "../../yaml/tree.js";
import type { Json } from "../../yaml/scalar.js";
import { withoutGroupSettings } from "../answers.js";
import { behindModule, copiedState, type Behind } from "../copied-state.js";
import type { PlanOptions } from "../options.js";
import { ownSettings } from "../override.js";
import { routeName } from "../settings.js";
import { chainSettings, withSettings, type Levels } from "./chain-settings.js";
import { configuredRoute, ownFields, readSpecifiers, type Configured, type Message } from "./configured.js";
import { overridesOf, routeCopies, routeMessage, usesSlots } from "./copies.js";
import { Groups } from "./groups.js";
import { holdersOf, takesEveryHost } from "./holders.js";
import { MAX_SLOTS, type ConfigContext, type SpecifierPlan } from "./planned.js";
import { changesCount, lateHosts, lostHeader, routesInMatcher, wrongRouting } from "./refusals.js";
import { ignoresParameters } from "./template-match.js";
import { addTemplateSettings, fallbacks, noRoute, pinOf, routesOfTemplates } from "./template-routes.js";
import { sharedSlotsFindings, undecidedTemplateFindings } from "./undecided-template.js";

/** Plans the route specifiers of a whole file. */
export function planSpecifiers(source: Tree, options: PlanOptions): SpecifierPlan {
  const plan: SpecifierPlan = { editor: source.edit(), findings: [], chains: [], known: new Set() };
  const root = Cursor.root(source);
  const resources = findResources(root, []);
  if (resources === undefined) return plan;
  const program = programOf(root, resources);
  const planner = new SpecifierPlanner(plan, resources, new Groups(root, resources, program, options), options);
  const managers = managersOf(program);
  for (const [index, { routeConfigs }] of resources.connectionManagers.entries()) {
    const changes = managers[index]?.routers.some(({ upstream }) => chainChangesCount(upstream) !== undefined) === true;
    const behind = behindModule(managers.slice(index, index + 1), options);
    for (const site of routeConfigs) planner.planConfig(site, changes, behind);
  }
  for (const site of resources.looseRouteConfigs) planner.planConfig(site, false, behindModule([], options));
  return plan;
}

class SpecifierPlanner {
  constructor(
    private readonly plan: SpecifierPlan,
    private readonly resources: Resources,
    private readonly groups: Groups,
    private readonly options: PlanOptions,
  ) {}

  planConfig(site: RouteConfigSite, upstreamChanges: boolean, behind: Behind): void {
    const { config } = site;
    if (!holdersOf(config).some((holder) => holder.field("route_specifiers") !== undefined)) return;
    const own = this.read(config, site);
    this.plan.findings.push(...lateHosts(config, own));
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
    const shared = [...context.config, ...own];
    this.plan.findings.push(...routesInMatcher(host, shared));
    const specified = routes.filter((one) => shared.length + one.own.length > 0);
    this.remove(host);
    for (const { route } of routes) this.remove(route);
    if (specified.length === 0 && shared.length === 0) return;
    const everything = [...shared, ...routes.flatMap((one) => one.own)];
    addTemplateSettings(everything, host, context, this.groups, this.plan);
    const first = routesOfTemplates(everything, host, context, this.groups, this.plan);
    for (const { route, own: level } of specified) {
      const copies = this.planRoute(route, host, [context.config, own, level], context);
      const more = fallbacks(route, [...shared, ...level]);
      if (copies.length + more.length > 0) this.plan.findings.push(...copiedState(route, context.behind));
      first.push(...copies);
    }
    for (const { route, own: level } of specified) first.push(...fallbacks(route, [...shared, ...level]));
    first.push(...noRoute(everything));
    if (shared.length > 0) this.writeHostSettings(host, [context.config, own], context);
    this.insertFirst(host, first);
    this.countAttempts(host, everything);
  }

  /** Writes a route's settings; its copies. */
  private planRoute(route: Cursor, host: Cursor, levels: Levels, context: ConfigContext): Json[] {
    const name = route.field("name")?.string() ?? "";
    const pin = pinOf(route);
    const chain = levels.flatMap((level) => level ?? []);
    const own = this.groups.settings(route, host, overridesOf(chain), context);
    const resolved = configuredRoute(route, name, pin);
    const settings = chainSettings(this.plan, route, own, levels, context.slots, resolved);
    const { editor } = this.plan;
    if (route.map === undefined) return [];
    const before = route.field("route") === undefined ? "match" : "route";
    editor.set(route.map, "name", routeName(name, settings), before);
    editor.set(route.map, "metadata", withSettings(ownFields(route), settings), before);
    this.checkChain(route, host, chain, context);
    const message = routeMessage(route);
    if (Object.keys(own).length > 0) message["metadata"] = withSettings(message, own);
    return routeCopies(route, message, pin, this.groups.copyContext(host, chain, context));
  }

  private checkChain(route: Cursor, host: Cursor, chain: readonly Configured[], context: ConfigContext): void {
    const isLost =
      !this.options.attemptHeader || context.upstreamChanges || changesCount([context.site.config, host, route]);
    const hasSlots = (one: Cursor): boolean => this.groups.use(one, context) !== undefined;
    this.plan.findings.push(...lostHeader(chain, isLost), ...undecidedTemplateFindings(chain));
    if (hasSlots(route)) this.plan.findings.push(...sharedSlotsFindings(chain, hasSlots));
  }

  /** The settings of requests that match none of the virtual host's routes. */
  private writeHostSettings(host: Cursor, levels: Levels, { slots }: ConfigContext): void {
    const settings = chainSettings(this.plan, host, withoutGroupSettings(ownSettings(host)), levels, slots);
    this.plan.findings.push(...undecidedTemplateFindings(levels.flatMap((level) => level ?? [])));
    if (host.map === undefined) return;
    this.plan.editor.set(host.map, "name", routeName(host.field("name")?.string(), settings), "domains");
    this.plan.editor.set(host.map, "metadata", withSettings(ownFields(host), settings), "domains");
  }

  /** So that requests that match no virtual host are given to the specifiers of the route configuration. */
  private addCatchAll(config: Cursor, context: ConfigContext): void {
    const settings = chainSettings(this.plan, config, {}, [context.config], context.slots);
    this.plan.findings.push(...undecidedTemplateFindings(context.config));
    addTemplateSettings(context.config, config, context, this.groups, this.plan);
    const routes = routesOfTemplates(context.config, config, context, this.groups, this.plan);
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
    const known = this.resources.kind === "bootstrap" ? this.groups.clusters : undefined;
    this.plan.findings.push(...specifiers.flatMap((one) => wrongRouting(one, site, known)));
    return specifiers;
  }
}
