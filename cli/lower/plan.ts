import { movedBy } from "../choose/moving-filters.js";
import { chooseForLoose, chooseForManager, type ManagerChoice, type ManagerFacts } from "../choose/managers.js";
import { chainChangesCount } from "../choose/attempt-count.js";
import { chainsOf, isMark, otherUpstreamFilter } from "../choose/filter-chain.js";
import { choose, decidesPerAttempt, type RouteSurroundings } from "../choose/routes.js";
import { InputError, type Finding, type Warning } from "../findings.js";
import { managersOf, routeConfigurationsOf, type ConnectionManager, type Program } from "../model/program.js";
import type { RouteConfiguration } from "../model/route.js";
import { cursorAt } from "../read/place.js";
import { programOf } from "../read/program.js";
import { findResources, type Resources } from "../read/resources.js";
import { Cursor } from "../yaml/cursor.js";
import type { Editor, Tree } from "../yaml/tree.js";
import { removeInManager, removeInRoutes } from "./client-headers.js";
import { Clusters, writesMetadata } from "./clusters.js";
import { runtimeSkips } from "./composite-uses.js";
import { Composites } from "./composites.js";
import type { CompositeContext } from "./composite-route.js";
import { behindModule, copiedState } from "./copied-state.js";
import { FileChanges } from "./file-changes.js";
import { HOLD_FILTER } from "./hold/filters.js";
import { availabilityOf } from "./module-settings.js";
import type { PlanOptions } from "./options.js";
import { enabled, ownFilters } from "./own-filters.js";
import { Preparer, type Candidate, type ChainFacts } from "./prepare.js";
import { deliver, marksStart, needsModule, setPerFilter, type PreparedRoute } from "./priority-group.js";
import type { PriorityGroupRoute } from "./priority-group.js";
import { removeNamedSpecifiers } from "./named-specifiers.js";
import type { Report } from "./report.js";
import { isCopied, writeVirtualHost } from "./route-edits.js";
import { hasSpecifiers } from "./specifiers/holders.js";
import { startMark } from "./start-mark.js";
import type { UpstreamPlace } from "./upstream-wiring.js";
import { ListenerVms } from "./shared-vms.js";
import { UpstreamUses } from "./upstream-uses.js";
import { staleFilters, wireConnectionManager, type ModuleUse } from "./wiring.js";

/** Everything that lowering one file will change, before anything is changed. */
export interface Plan {
  editor: Editor;
  findings: Finding[];
  warnings: Warning[];
  routes: PreparedRoute[];
  /** Named specifiers that no route uses: removed, but they must be valid as the used ones. */
  unusedSpecifiers: PreparedRoute[];
  /** Whether the output, or what goes with it, names the module. */
  usesModule: boolean;
  report: Report;
}

/** Plans a whole file. Findings do not stop it, so that all are found. */
export function planFile(source: Tree, options: PlanOptions, known: ReadonlySet<number> = new Set()): Plan {
  const plan: Plan = {
    editor: source.edit(),
    findings: [],
    warnings: [],
    routes: [],
    unusedSpecifiers: [],
    usesModule: false,
    report: { routes: [], managers: [], configurations: [], placeBefore: options.placeBefore },
  };
  const root = Cursor.root(source);
  const resources = findResources(root, plan.findings);
  if (resources === undefined) throw new InputError(plan.findings);
  new Planner(plan, root, resources, options, known).run();
  return plan;
}

/** The routes of a RouteConfiguration that have something to lower, and what they become. */
interface Table {
  config: RouteConfiguration;
  candidates: Candidate[];
  routes: PriorityGroupRoute[];
}

const NO_CHAIN: ChainFacts = { changesCount: undefined, writesMetadata: undefined, moves: undefined };

class Planner {
  private readonly program: Program;
  private readonly managers: readonly ConnectionManager[];
  private readonly clusters: Clusters;
  private readonly context: CompositeContext;
  private readonly preparer: Preparer;
  private readonly upstream: UpstreamUses;
  private readonly changes: FileChanges;
  private vms: ListenerVms | undefined;
  /** Offsets of the specifiers that were met where one may stand. */
  private readonly known: Set<number>;
  /** Several connection managers may take one RouteConfiguration over RDS. */
  private readonly tables = new Map<RouteConfiguration, Table>();

  constructor(
    private readonly plan: Plan,
    root: Cursor,
    resources: Resources,
    private readonly options: PlanOptions,
    known: ReadonlySet<number>,
  ) {
    this.known = new Set(known);
    const { elsewhere } = options;
    this.program = programOf(root, resources, elsewhere);
    this.managers = managersOf(this.program);
    this.clusters = new Clusters(this.program);
    const closed = !this.program.dynamicClusters;
    this.context = { composites: new Composites(resources.clusters, closed, elsewhere), skip: runtimeSkips(root) };
    this.preparer = new Preparer(this.clusters, this.context, options, plan.findings, this.known);
    this.upstream = new UpstreamUses(this.clusters, options);
    this.changes = new FileChanges(root, resources, this.context.composites, plan);
  }

  run(): void {
    this.plan.report.configurations.push(...routeConfigurationsOf(this.program));
    for (const manager of this.managers) {
      this.plan.findings.push(...staleFilters(manager, this.options));
      for (const config of manager.routeConfigurations) this.prepare(config);
    }
    const prepared = (manager: ConnectionManager) =>
      this.tablesOf(manager).flatMap(({ candidates }) => candidates.map((one) => one.prepared));
    this.vms = new ListenerVms(this.managers, prepared, this.context);
    const choices = this.managers.map((manager) => this.chooseFor(manager));
    choices.forEach((choice, index) => this.deliverTables(this.managers[index], choice));
    choices.forEach((choice, index) => this.wireManager(this.managers[index], choice));
    this.changes.addAvailability(new Set(this.managers.map((manager) => this.availability(manager))));
    for (const config of this.program.looseRouteConfigurations) this.planLoose(config);
    this.planLooseClusters();
    if (this.upstream.wire(this.plan.editor)) this.plan.usesModule = true;
    if (cursorAt(this.program.origin).source.mentions(HOLD_FILTER)) this.plan.usesModule = true;
    if (this.plan.usesModule) this.changes.addModuleCluster(this.options.module, this.clusters);
    this.changes.replaceComposites(this.known, this.plan.routes, this.context.skip);
    this.changes.write();
    this.changes.rejectUnknownPlaces(this.known);
    this.changes.warnOfTypedOverrides();
  }

  private prepare(config: RouteConfiguration): Table {
    const before = this.tables.get(config);
    if (before !== undefined) return before;
    const candidates = this.preparer.candidates(config, this.chainFacts(this.takersOf(config), config));
    const table = { config, candidates, routes: [] };
    this.plan.routes.push(...candidates.map(({ prepared }) => prepared));
    this.tables.set(config, table);
    return table;
  }

  /** What holds for one of the connection managers that take a RouteConfiguration holds for its routes. */
  private chainFacts(takers: readonly ConnectionManager[], config: RouteConfiguration): ChainFacts {
    if (takers.length === 0) return { ...NO_CHAIN, moves: chooseForLoose(config).sharedFilter };
    const upstream = takers.flatMap(({ routers }) => routers.map((router) => router.upstream));
    const other = upstream.map(otherUpstreamFilter).find((filter) => filter !== undefined);
    return {
      changesCount: upstream.map(chainChangesCount).find((reason) => reason !== undefined),
      writesMetadata: other && writesMetadata(other),
      moves: takers.map((manager) => movedBy(manager, this.options)).find((reason) => reason !== undefined),
    };
  }

  private takersOf(config: RouteConfiguration): ConnectionManager[] {
    return this.managers.filter(({ routeConfigurations }) => routeConfigurations.includes(config));
  }

  private chooseFor(manager: ConnectionManager): ManagerChoice {
    const { options, program } = this;
    const everyCluster = this.reachesEveryCluster(manager);
    const shared = manager.routeConfigurations.find(
      (config) => this.managers.filter((one) => one.routeConfigurations.includes(config)).length > 1,
    );
    const watches = { because: "the listener's module watches composite clusters", at: manager.origin };
    const facts: ManagerFacts = {
      manager,
      routes: this.tablesOf(manager).flatMap(({ candidates }) => candidates.map((one) => one.facts)),
      placeBefore: options.placeBefore,
      fromBootstrap: program.kind === "bootstrap",
      everyCluster: everyCluster ? { because: "the upstream role is in every cluster", at: manager.origin } : undefined,
      shared,
      watches: this.vms?.settings(manager, []) === undefined ? undefined : watches,
    };
    return chooseForManager(facts);
  }

  private deliverTables(manager: ConnectionManager | undefined, choice: ManagerChoice): void {
    if (manager === undefined) return;
    for (const table of this.tablesOf(manager)) if (table.routes.length === 0) this.deliver(table, choice);
  }

  /** Chooses the form of every route, and writes it. */
  private deliver(table: Table, around: RouteSurroundings): void {
    const { config, candidates } = table;
    const behind = behindModule(this.takersOf(config), this.options);
    for (const virtualHost of config.virtualHosts) {
      const routes = candidates
        .filter((candidate) => candidate.virtualHost === virtualHost)
        .map(({ route, prepared, facts }) => {
          const choice = choose(facts, around);
          this.plan.report.routes.push({ route, virtualHost, composites: prepared.composites, ...choice });
          return deliver(prepared, choice.delivery, decidesPerAttempt(facts));
        });
      table.routes.push(...routes);
      this.plan.findings.push(...routes.filter(isCopied).flatMap(({ route }) => copiedState(route, behind)));
      writeVirtualHost(virtualHost, routes, this.plan.editor);
    }
    const used = new Set(candidates.map(({ prepared }) => prepared.use.specifier.offset));
    const { editor, findings } = this.plan;
    const unused = removeNamedSpecifiers(config, used, this.context, editor, findings);
    this.plan.unusedSpecifiers.push(...unused);
    for (const { use } of unused) this.known.add(use.specifier.offset);
  }

  private wireManager(manager: ConnectionManager | undefined, choice: ManagerChoice): void {
    if (manager === undefined) return;
    const { plan, options } = this;
    const routes = this.tablesOf(manager).flatMap((table) => table.routes);
    const dynamic = manager.dynamicRoutes && options.rds;
    const deciding = routes.filter(({ delivery }) => needsModule(delivery));
    const uses = deciding.length > 0 || dynamic || choice.specified !== undefined;
    const module = uses ? this.moduleUse(manager, deciding, choice) : undefined;
    const marks = routes.some(({ delivery }) => marksStart(delivery));
    const marked = chainsOf(manager).some(({ filters }) => filters.some(isMark));
    const mark = marks || marked ? { disabled: choice.moves === undefined } : undefined;
    for (const route of routes) {
      const filter = module?.own?.get(route.name);
      const start = marksStart(route.delivery) ? startMark() : {};
      setPerFilter(route, { ...(filter === undefined ? {} : enabled(filter)), ...start }, plan.editor);
    }
    if (module !== undefined) {
      plan.usesModule = true;
      removeInManager(manager, deciding, dynamic || choice.specified !== undefined, options, plan.editor);
    }
    plan.report.managers.push({ manager, module, mark, choice });
    if (module === undefined && mark === undefined) return;
    const vm = this.vms?.nameOf(manager) ?? manager.listener;
    plan.findings.push(...wireConnectionManager(manager, { module, mark, vm }, options, plan.editor));
  }

  /** Where the module goes, for the routes that need it. */
  private moduleUse(
    manager: ConnectionManager,
    routes: readonly PriorityGroupRoute[],
    choice: ManagerChoice,
  ): ModuleUse {
    const settings = this.vms?.settings(manager, this.plan.findings);
    const everyCluster = this.reachesEveryCluster(manager);
    const perAttempt = routes.filter(({ perAttempt: reason }) => reason !== undefined);
    const place = placeFor(perAttempt, everyCluster);
    if (place === "nowhere") {
      const own = choice.sharedFilter === undefined && routes.length > 0 ? { own: ownFilters(routes) } : {};
      return { place, settings, ...own };
    }
    this.upstream.note(this.vms?.nameOf(manager), everyCluster ? undefined : perAttempt, place);
    return { place, settings };
  }

  private planLoose(config: RouteConfiguration): void {
    const table = this.prepare(config);
    this.deliver(table, chooseForLoose(config));
    this.changes.warnOfClusterCheck(config, table.routes);
    const routes = table.routes.filter(({ delivery }) => needsModule(delivery));
    if (routes.length === 0 && !hasSpecifiers(cursorAt(config.origin))) return;
    this.plan.usesModule = true;
    removeInRoutes(config, routes, this.options, this.plan.editor);
    const perAttempt = routes.filter(({ perAttempt: reason }) => reason !== undefined);
    if (perAttempt.length > 0) this.upstream.note(undefined, perAttempt, placeFor(perAttempt, false));
    this.changes.warnOfMissingChain(config, routes);
  }

  /** Clusters as CDS carries them: any route may lead to them, from any listener. */
  private planLooseClusters(): void {
    const { rds, attemptHeader } = this.options;
    if (this.program.kind !== "resources" || this.managers.length > 0) return;
    if (this.program.looseRouteConfigurations.length === 0) this.changes.addEveryAggregate();
    if (rds && !attemptHeader) this.upstream.note(undefined, undefined, "first");
  }

  private tablesOf(manager: ConnectionManager): Table[] {
    return manager.routeConfigurations.map((config) => this.prepare(config));
  }

  /** Any cluster may be reached by routes of which only the header form is known. */
  private reachesEveryCluster({ dynamicRoutes }: ConnectionManager): boolean {
    return dynamicRoutes && this.options.rds && !this.options.attemptHeader;
  }

  private availability(manager: ConnectionManager): "PROBE" | "ADMIN" | undefined {
    return availabilityOf(this.vms?.settings(manager, []));
  }
}

function placeFor(perAttempt: readonly PriorityGroupRoute[], everyCluster: boolean): UpstreamPlace {
  if (perAttempt.some((route) => route.rereads)) return "around";
  return perAttempt.length > 0 || everyCluster ? "first" : "nowhere";
}
