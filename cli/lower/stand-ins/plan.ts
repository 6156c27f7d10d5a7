// `skip_clusters_without_hosts` of priority groups, and `cool_down`, which needs it: every cluster of a group that has others
// behind it becomes a stock aggregate over itself and those. This is a round of its own: what comes after it sees clusters like
// others.

import type { Finding, Warning } from "../../findings.js";
import type { Attempts, PriorityGroup } from "../../model/attempts.js";
import type { Message } from "../../model/origin.js";
import type { CoolDown, Picking } from "../../model/picking.js";
import { routeConfigurationsOf } from "../../model/program.js";
import type { Route, VirtualHost } from "../../model/route.js";
import { cursorAt } from "../../read/place.js";
import { programOf } from "../../read/program.js";
import { findResources, type Resources } from "../../read/resources.js";
import { Cursor } from "../../yaml/cursor.js";
import { pairOf } from "../../yaml/edit.js";
import type { Json } from "../../yaml/scalar.js";
import type { Editor, Tree } from "../../yaml/tree.js";
import { needingFactor } from "../composite-form.js";
import { markEndpoints } from "../host-marks.js";
import { changeItems } from "../lists.js";
import { OVERPROVISIONING, readMember, takesFactor } from "../members.js";
import { TYPE } from "../types.js";
import { isStandIn, standIn } from "./cluster.js";
import { coolDownFindings, isSame, whyNotCoolable, writeCoolDown } from "./cool-down.js";
import { clustersFrom, passesOver } from "./lists.js";
import { obstacleIn } from "./obstacles.js";

export interface StandInPlan {
  editor: Editor;
  findings: Finding[];
  warnings: Warning[];
  /** How many stand-ins each route leads to, by its offset. */
  counts: Map<number, number>;
}

/** Plans the stand-ins of a file. Findings do not stop it. */
export function planStandIns(tree: Tree): StandInPlan {
  const plan: StandInPlan = { editor: tree.edit(), findings: [], warnings: [], counts: new Map() };
  if (![SKIP, COOL_DOWN].some((setting) => tree.mentions(setting))) return plan;
  const root = Cursor.root(tree);
  const resources = findResources(root, []);
  if (resources !== undefined) new Planner(plan, root, resources).run();
  return plan;
}

const SKIP = "skip_clusters_without_hosts";
const COOL_DOWN = "cool_down";

class Planner {
  private readonly clusters: ReadonlyMap<string, Cursor>;
  private readonly added = new Map<string, Json>();
  /** What the first route of a specifier says, by the specifier's offset. */
  private readonly specifiers = new Map<number, Picking>();
  /** Clusters whose hosts may serve attempts that are another's. */
  private readonly marked = new Set<string>();
  /** Clusters on which one healthy host shall be enough. */
  private readonly factored = new Set<string>();
  /** What clusters cool down by. */
  private readonly cooling = new Map<string, CoolDown>();

  constructor(
    private readonly plan: StandInPlan,
    private readonly root: Cursor,
    private readonly resources: Resources,
  ) {
    this.clusters = new Map(resources.clusters.map((cluster) => [cluster.field("name")?.string() ?? "", cluster]));
  }

  run(): void {
    for (const { virtualHosts } of routeConfigurationsOf(programOf(this.root, this.resources))) {
      for (const host of virtualHosts) for (const route of host.routes) this.planRoute(route, host);
    }
    // The inner messages first: both edits may be at the end of the same line.
    for (const name of this.marked) {
      const cluster = this.clusters.get(name);
      if (cluster !== undefined) markEndpoints(cluster, name, this.plan.editor);
    }
    for (const name of this.factored) this.writeFactor(name);
    for (const [name, coolDown] of this.cooling) {
      const cluster = this.clusters.get(name);
      if (cluster !== undefined) writeCoolDown(cluster, coolDown, this.plan.editor);
    }
    const list = this.resources.clusterList;
    if (this.added.size > 0 && list !== undefined) {
      const clusters = [...this.added.values()];
      const typed = clusters.map((one) => (list.typed ? { "@type": TYPE.cluster, ...(one as object) } : one));
      changeItems(list.holder, list.key, new Set(), typed, this.plan.editor);
    }
  }

  private planRoute(route: Route, host: VirtualHost): void {
    const { attempts, picking } = route;
    if (attempts === undefined) return;
    const { coolDown } = picking;
    if (attempts.groups.length === 0 || attempts.source.kind === "weighted") {
      if (coolDown !== undefined) this.reject(coolDown, COMPOSITE);
      return;
    }
    const { offset } = cursorAt(attempts.origin);
    const before = this.specifiers.get(offset);
    if (before !== undefined && !isAlike(before, picking)) {
      this.reject(route, SHARED_SPECIFIER);
      return;
    }
    this.specifiers.set(offset, picking);
    const lists = passesOver(picking) ? listsOf(attempts.groups) : [];
    this.count(route, lists);
    if (before !== undefined) return;
    if (coolDown !== undefined && !this.mayCool(coolDown, picking, attempts)) return;
    if (lists.length === 0) return;
    const because = this.obstacle(route, host, lists);
    if (because === undefined) this.write(attempts, lists, coolDown);
    else this.reject(picking.skips ?? coolDown ?? route, `${REFUSED}: ${because}`);
  }

  private reject({ origin }: Message, message: string): void {
    this.plan.findings.push(cursorAt(origin).finding(message));
  }

  /** Whether the clusters of the groups can cool down, of which each has one setting in the file. */
  private mayCool(coolDown: CoolDown, picking: Picking, { groups }: Attempts): boolean {
    const names = new Set(groups.flatMap(({ clusters }) => clusters.map(({ name }) => name.value)));
    if ([...names].some(isStandIn)) return false;
    const findings = coolDownFindings(coolDown);
    this.plan.findings.push(...findings);
    if (picking.skips?.value === false) this.reject(picking.skips, NEVER_SKIPS);
    if (names.size === 1) this.reject(coolDown, ONLY_ONE);
    for (const name of findings.length > 0 ? [] : names) {
      const cluster = this.clusters.get(name);
      const other = this.cooling.get(name);
      const because = cluster && whyNotCoolable(cluster, coolDown);
      if (because !== undefined)
        this.reject(coolDown, `expected clusters that can cool down, found one that cannot: ${name} ${because}`);
      else if (other !== undefined && !isSame(other, coolDown)) this.reject(coolDown, DIFFERENT.replace("%", name));
      this.cooling.set(name, coolDown);
    }
    return findings.length === 0;
  }

  private count(route: Route, lists: readonly List[]): void {
    const distinct = new Set(lists.map(({ clusters }) => clusters.join("\n")));
    if (distinct.size > 0) this.plan.counts.set(cursorAt(route.origin).offset, distinct.size);
  }

  private obstacle({ origin }: Route, host: VirtualHost, lists: readonly List[]): string | undefined {
    if (this.resources.clusterList === undefined) return "the clusters are not in this file";
    const own = cursorAt(origin).at("route", "retry_policy");
    const policy = own ?? cursorAt(host.origin).field("retry_policy");
    if (policy?.field("retry_priority") !== undefined)
      return "a retry_priority would count the clusters of an aggregate as priorities";
    for (const { clusters } of lists) {
      const because = obstacleIn(clusters, (name) => this.clusters.get(name));
      if (because !== undefined) return because;
    }
    return undefined;
  }

  private write({ groups }: Attempts, lists: readonly List[], coolDown: CoolDown | undefined): void {
    for (const { group, index, clusters } of lists) {
      const picked = this.clusters.get(clusters[0] ?? "");
      const entry = groups[group]?.clusters[index];
      if (picked === undefined || entry === undefined) continue;
      const cluster = standIn(picked, clusters, coolDown);
      this.added.set(cluster.name, cluster);
      const { map } = cursorAt(entry.origin);
      const pair = map && (pairOf(map, "cluster_name") ?? pairOf(map, "clusterName"));
      if (map !== undefined && pair !== undefined)
        this.plan.editor.replacePair(map, pair, "cluster_name", cluster.name);
      else if (map !== undefined) this.plan.editor.touch(map);
      for (const name of clusters) this.marked.add(name);
      this.keepOnHealthyHosts(clusters, coolDown);
    }
  }

  private writeFactor(name: string): void {
    const assignment = this.clusters.get(name)?.field("load_assignment");
    const policy = assignment?.field("policy");
    const factor = { overprovisioning_factor: OVERPROVISIONING };
    if (policy?.map !== undefined) this.plan.editor.set(policy.map, "overprovisioning_factor", OVERPROVISIONING);
    else if (assignment?.map !== undefined) this.plan.editor.set(assignment.map, "policy", factor);
  }

  /** One healthy host is enough to keep attempts on a cluster, where the file can say so. */
  private keepOnHealthyHosts(list: readonly string[], coolDown: CoolDown | undefined): void {
    const memberOf = (name: string) => {
      const cluster = this.clusters.get(name);
      const member = cluster && readMember(cluster);
      return member && coolDown ? { ...member, outlierDetection: true } : member;
    };
    for (const name of needingFactor(list, memberOf)) this.factored.add(name);
    for (const name of list.slice(0, -1)) {
      const member = memberOf(name);
      const cluster = this.clusters.get(name);
      if (member === undefined || cluster === undefined || takesFactor(member)) continue;
      const message = SPILLS.replace("%", name);
      if (!this.plan.warnings.some((one) => one.message === message)) this.plan.warnings.push(cluster.finding(message));
    }
  }
}

/** A cluster of a group, and where its attempts may go. */
interface List {
  group: number;
  index: number;
  clusters: string[];
}

/** Of every cluster that has others behind it; none where the groups have stand-ins already, or are none. */
function listsOf(groups: readonly PriorityGroup[]): List[] {
  const names = groups.flatMap(({ clusters }) => clusters.map(({ name }) => name.value));
  if (names.some((name) => name === "" || isStandIn(name))) return [];
  const lists = groups.flatMap(({ clusters }, group) =>
    clusters.map(({ name }, index) => ({ group, index, clusters: clustersFrom(groups, group, name.value) })),
  );
  return lists.filter(({ clusters }) => clusters.length > 1);
}

function isAlike(one: Picking, other: Picking): boolean {
  if (passesOver(one) !== passesOver(other)) return false;
  const [first, second] = [one.coolDown, other.coolDown];
  return first === undefined || second === undefined ? first === second : isSame(first, second);
}

const COMPOSITE = "expected cool_down on a route with priority groups, found it on one with a composite cluster";
const NEVER_SKIPS =
  "expected nothing else than true beside cool_down, which has attempts pass over clusters, found false";
const ONLY_ONE =
  "expected another cluster that attempts can go to beside cool_down, found only one in the priority groups";
const DIFFERENT =
  "expected the same cool_down on all routes that lead to the cluster %, whose hosts are ejected, found another";
const REFUSED =
  "expected priority groups whose clusters an aggregate can go through beside skip_clusters_without_hosts or cool_down, found others";
const SHARED_SPECIFIER =
  "expected the same skip_clusters_without_hosts and cool_down on all routes that share a cluster specifier plugin, found others: write the plugin inline";
const SPILLS =
  "where only some hosts of % are healthy, a part of its attempts passes it over: its hosts come by EDS, or have priorities or localities";
