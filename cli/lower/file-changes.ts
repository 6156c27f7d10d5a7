import type { Finding, Warning } from "../findings.js";
import type { RouteConfiguration } from "../model/route.js";
import { cursorAt } from "../read/place.js";
import { everySpecifier, everyTypedOverride, type Resources } from "../read/resources.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Editor } from "../yaml/tree.js";
import type { Json } from "../yaml/scalar.js";
import { adminCluster } from "./admin.js";
import type { Clusters } from "./clusters.js";
import { aggregateClusters, keepOnHealthyHosts, losingComposites } from "./composite-clusters.js";
import { byHeader, otherUses, unreadLayers } from "./composite-uses.js";
import type { CompositeDelivery } from "./aggregate-route.js";
import { lowerMirrors } from "./mirrors.js";
import { everyAggregate } from "./composites-apart.js";
import { isMessage } from "./settings.js";
import type { Composites } from "./composites.js";
import { changeItems } from "./lists.js";
import type { ModuleSource } from "./options.js";
import type { PreparedRoute, PriorityGroupRoute } from "./priority-group.js";
import { addProbe, guardCluster, PROBE_EXTENSION, probeCluster, probeListener } from "./probe.js";
import { NO_HOST_CLUSTER, TYPE } from "./types.js";
import { moduleCluster } from "./wasm-filter.js";

const TYPED_OVERRIDE =
  "Envoy before 1.40 does not know PriorityGroupsOverride and refuses the file: write the override as an untyped value";

/** Where what is found goes. */
interface Output {
  editor: Editor;
  findings: Finding[];
  warnings: Warning[];
}

/** What a lowered file has, and no longer has, beside its routes and filters: clusters and listeners. */
export class FileChanges {
  /** Clusters that the output has in addition. */
  private readonly added: Json[] = [];
  /** Resources other than clusters that a list has in addition. */
  private readonly addedResources: Json[] = [];

  private hasAggregates = false;

  constructor(
    private readonly root: Cursor,
    private readonly resources: Resources,
    private readonly composites: Composites,
    private readonly output: Output,
  ) {}

  /** Whatever the module asks to learn which clusters have a host. */
  addAvailability(modes: ReadonlySet<string | undefined>): void {
    if (modes.has("ADMIN")) this.added.push(adminCluster(this.root, this.output.findings));
    if (!modes.has("PROBE")) return;
    const { guarded } = this.composites;
    if (this.resources.kind === "bootstrap") addProbe(this.root, guarded, this.output.editor);
    else {
      this.addedResources.push({ "@type": TYPE.listener, ...(probeListener(guarded) as object) });
      this.output.warnings.push(this.root.finding(NO_BOOTSTRAP));
    }
    this.added.push(probeCluster(), ...guarded.map(guardCluster));
  }

  addModuleCluster(module: ModuleSource, clusters: Clusters): void {
    const cluster = moduleCluster(module);
    if (cluster === undefined || module.kind !== "remote" || clusters.has(module.cluster)) return;
    if (this.resources.clusterList !== undefined) this.added.push(cluster);
    else if (this.resources.connectionManagers.length > 0) {
      this.output.warnings.push(this.root.finding(`${NO_MODULE_CLUSTER} ${module.cluster}`));
    }
  }

  /** Nothing names the composite clusters any more, and Envoy before 1.37 does not know their type. */
  replaceComposites(known: Set<number>, routes: readonly PreparedRoute[], skip: boolean): void {
    if (this.composites.isEmpty) return;
    const { composites } = this;
    const mirrored = lowerMirrors(this.resources, { composites, skip }, known, this.output);
    const deliveries = [...routes.flatMap((route) => route.composites ?? []), { aggregates: mirrored }];
    this.composites.check(losingComposites(routes, this.composites), this.output.findings);
    this.output.findings.push(
      ...otherUses(this.root, this.composites, known),
      ...byHeader(this.resources, this.composites),
    );
    if (this.composites.indexes.size > 0) this.addAggregates(deliveries, false);
    this.output.warnings.push(...unreadLayers(this.root));
    for (const site of this.resources.connectionManagers) {
      if (site.dynamicRoutes) this.output.warnings.push(site.manager.finding(DYNAMIC_ROUTES));
    }
  }

  /** Clusters as CDS carries them, for routes that are lowered apart. */
  addEveryAggregate(): void {
    if (this.composites.isEmpty || this.resources.clusterList === undefined) return;
    this.addAggregates([{ aggregates: everyAggregate(this.composites, this.output.findings) }], true);
  }

  /** Writes the lists of clusters and resources. */
  write(): void {
    const list = this.resources.clusterList;
    const { indexes } = this.composites;
    if (list === undefined) {
      this.output.findings.push(...[...indexes].flatMap((index) => this.loneComposite(index)));
      return;
    }
    this.rejectReserved();
    const removed = new Set([...indexes].map((index) => list.indexes[index] ?? -1));
    if (removed.size + this.added.length === 0) return;
    const clusters = this.added.map((cluster) =>
      list.typed ? { "@type": TYPE.cluster, ...(cluster as object) } : cluster,
    );
    changeItems(list.holder, list.key, removed, [...this.addedResources, ...clusters], this.output.editor);
  }

  private addAggregates(deliveries: readonly Pick<CompositeDelivery, "aggregates">[], elsewhere: boolean): void {
    const own = new Set(this.resources.clusters.map((cluster) => cluster.field("name")?.string() ?? ""));
    if (!this.hasAggregates) this.added.push(noHostCluster());
    this.hasAggregates = true;
    this.added.push(...aggregateClusters(deliveries, this.composites, elsewhere));
    keepOnHealthyHosts(deliveries, this.composites, own, this.output.editor);
  }

  warnOfClusterCheck({ validateClusters, origin }: RouteConfiguration, routes: readonly PriorityGroupRoute[]): void {
    if (routes.length === 0 || validateClusters?.value !== true) return;
    const unchecked = "validate_clusters cannot be kept for priority groups: the clusters are not in this file";
    this.output.warnings.push(cursorAt(origin).findingBelow(["validate_clusters"], unchecked));
  }

  /** @param routes Those that need the module. */
  warnOfMissingChain({ origin }: RouteConfiguration, routes: readonly PriorityGroupRoute[]): void {
    const upstream = routes.some(({ delivery }) => delivery.kind === "oneSlot") ? " --no-attempt-header" : "";
    const message =
      "a RouteConfiguration has no filter chain: lower the bootstrap or Listener whose connection manager takes these " +
      `routes with --rds${upstream}, which puts the module in front of its router`;
    this.output.warnings.push(cursorAt(origin).finding(message));
  }

  /** @param known Offsets of the specifiers that were met where one may stand. */
  rejectUnknownPlaces(known: ReadonlySet<number>): void {
    for (const { offset, path, misspelt } of everySpecifier(this.root)) {
      if (known.has(offset)) continue;
      const expected =
        misspelt === undefined
          ? "a priority-group specifier only where a route can be lowered, and as its own @type, found one here"
          : `the @type ${TYPE.priorityGroup}, found ${misspelt}`;
      this.output.findings.push(this.root.source.finding(offset, path, `expected ${expected}`));
    }
  }

  /** The output keeps them, and every version must read it. */
  warnOfTypedOverrides(): void {
    for (const { offset, path } of everyTypedOverride(this.root)) {
      this.output.warnings.push(this.root.source.finding(offset, path, TYPED_OVERRIDE));
    }
  }

  /** Envoy refuses two clusters of one name. */
  private rejectReserved(): void {
    const names = new Set(this.added.map((cluster) => (isMessage(cluster) ? cluster["name"] : undefined)));
    for (const cluster of this.resources.clusters) {
      const name = cluster.field("name");
      const text = name?.string();
      if (name === undefined || text === undefined || !names.has(text)) continue;
      this.output.findings.push(name.finding(`"${text}" is reserved: give this cluster another name`));
    }
  }

  private loneComposite(index: number): Finding[] {
    const message = "expected a composite cluster together with its routes (resources: [...]), found it alone";
    const cluster = this.resources.clusters[index];
    return cluster === undefined ? [] : [cluster.finding(message)];
  }
}

const NO_BOOTSTRAP = `composite clusters need bootstrap_extensions with ${PROBE_EXTENSION}: the bootstrap is not in this file`;
const DYNAMIC_ROUTES =
  "routes that come from RDS or SRDS are not in this file: those that name a composite cluster will not find it";
const NO_MODULE_CLUSTER =
  "the module is fetched through a cluster that is not in this file: give the bootstrap or CDS a cluster named";

function noHostCluster(): Json {
  const load_assignment = { cluster_name: NO_HOST_CLUSTER };
  return { name: NO_HOST_CLUSTER, type: "STATIC", connect_timeout: "1s", load_assignment };
}
