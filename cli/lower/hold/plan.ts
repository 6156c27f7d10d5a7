// `hold_response` of routes and virtual hosts: which filters it needs, and where they are switched on. This is a round of its
// own: it changes nothing about how a route's cluster is chosen.

import type { Finding } from "../../findings.js";
import { Cursor } from "../../yaml/cursor.js";
import { pairOf } from "../../yaml/edit.js";
import type { Editor, Tree } from "../../yaml/tree.js";
import type { Json } from "../../yaml/scalar.js";
import {
  clusterFilters,
  findResources,
  routesOf,
  type ConnectionManagerSite,
  type Resources,
} from "../../read/resources.js";
import type { PlanOptions } from "../options.js";
import { METADATA_NAMESPACE, PER_FILTER } from "../types.js";
import { routersOf } from "../../read/listener.js";
import { HOLD_FILTER, switched, wireDownstream, wireRouter, wireUpstream, type Place } from "./filters.js";
import { holdModule } from "./module.js";
import { holdDigest, holdSettings, type HoldSettings } from "./settings.js";

/** What holding answers changes in a file. */
export interface HoldPlan {
  editor: Editor;
  findings: Finding[];
  /** Each setting of the file with what the module will read. */
  settings: { setting: Cursor; settings: HoldSettings }[];
  /** Whether some route or virtual host has the setting. */
  isUsed: boolean;
  /** Names of the upstream filters of each connection manager that has some, by its offset. */
  upstream: Map<number, string[]>;
}

/** Plans the filters that hold answers. Findings do not stop it. */
export function planHold(source: Tree, options: PlanOptions): HoldPlan {
  const plan: HoldPlan = { editor: source.edit(), findings: [], settings: [], isUsed: false, upstream: new Map() };
  const resources = findResources(Cursor.root(source), []);
  if (resources === undefined || !source.mentions(SETTING)) return plan;
  new HoldPlanner(plan, resources, options).run();
  return plan;
}

/** As it may be spelt; a file without it has none. */
const SETTING = "hold_response";
const NO_MANAGER =
  "expected hold_response in a file that has the connection manager of its routes, since it needs filters there, found none: " +
  "lower the Listener and this RouteConfiguration as one file (resources: [...]), and serve each resource from the output";

class HoldPlanner {
  /** Settings by the name of their filter, of the whole file. */
  private readonly kinds = new Map<string, HoldSettings>();

  constructor(
    private readonly plan: HoldPlan,
    private readonly resources: Resources,
    private readonly options: PlanOptions,
  ) {}

  run(): void {
    for (const site of this.resources.connectionManagers) this.planManager(site);
    for (const { config } of this.resources.looseRouteConfigs) this.rejectLoose(config);
    if (this.kinds.size === 0) return;
    for (const cluster of this.resources.clusters) {
      const filters = clusterFilters(cluster);
      if (filters !== undefined) wireUpstream(filters, this.kinds, this.place(HOLD_FILTER), this.plan.editor);
    }
  }

  private planManager({ manager, listener, listenerName, routeConfigs }: ConnectionManagerSite): void {
    const kinds = new Map<string, HoldSettings>();
    const before = this.plan.settings.length;
    for (const { config } of routeConfigs) {
      for (const host of config.list("virtual_hosts")) this.planHost(host, kinds);
    }
    if (kinds.size === 0) return;
    this.plan.upstream.set(manager.offset, [...kinds.keys()]);
    const limit = bufferLimit(listener);
    const { settings, findings } = this.plan;
    for (const one of settings.slice(before)) findings.push(...limitFindings(one, limit));
    for (const [name, settings] of kinds) this.kinds.set(name, settings);
    const place = this.place(`${HOLD_FILTER}/${listenerName}`);
    const chains = [manager, ...manager.list("upgrade_configs")].map((holder) =>
      holder.field(holder === manager ? "http_filters" : "filters"),
    );
    for (const chain of chains) if (chain !== undefined) wireDownstream(chain, place, this.plan.editor);
    for (const router of routersOf(manager)) wireRouter(router, kinds, place, this.plan.editor);
  }

  private place(vmId: string): Place {
    return { vmId, options: this.options, module: holdModule(this.options.module, this.options.files) };
  }

  private planHost(host: Cursor, kinds: Map<string, HoldSettings>): void {
    const ofHost = this.nameOf(host, kinds);
    if (ofHost !== undefined) this.switchOn(host, { [HOLD_FILTER]: true, [ofHost]: true }, "routes");
    for (const route of routesOf(host)) {
      const name = this.nameOf(route, kinds);
      if (name === undefined || name === ofHost) continue;
      const others = ofHost === undefined ? {} : { [ofHost]: false };
      this.switchOn(route, { [HOLD_FILTER]: true, ...others, [name]: true }, "route");
    }
  }

  /** The filter of the setting that a route or virtual host has. */
  private nameOf(level: Cursor, kinds: Map<string, HoldSettings>): string | undefined {
    const setting = settingOf(level);
    if (setting === undefined) return undefined;
    const known = this.plan.settings.find((one) => one.setting.offset === setting.offset);
    const settings = known?.settings ?? holdSettings(setting, this.plan.findings);
    if (known === undefined) this.plan.settings.push({ setting, settings });
    this.plan.isUsed = true;
    const name = `${HOLD_FILTER}_${holdDigest(settings)}`;
    kinds.set(name, settings);
    return name;
  }

  private switchOn(level: Cursor, filters: Record<string, boolean>, before: string): void {
    if (level.map === undefined) return;
    const own = level.field(PER_FILTER)?.map;
    const added = Object.entries(filters).filter(([name]) => own === undefined || pairOf(own, name) === undefined);
    if (added.length === 0) return;
    const entries: [string, Json][] = added.map(([name, on]) => [name, switched(on)]);
    if (own === undefined) this.plan.editor.set(level.map, PER_FILTER, Object.fromEntries(entries), before);
    else for (const [name, value] of entries) this.plan.editor.set(own, name, value);
  }

  private rejectLoose(config: Cursor): void {
    const hosts = config.list("virtual_hosts");
    for (const level of [...hosts, ...hosts.flatMap(routesOf)]) {
      const setting = settingOf(level);
      if (setting !== undefined) this.plan.findings.push(setting.finding(NO_MANAGER));
    }
  }
}

function settingOf(level: Cursor): Cursor | undefined {
  return level.at("metadata", "filter_metadata", METADATA_NAMESPACE, SETTING);
}

/** What the module holds where nothing is said. */
const DEFAULT_MAX_BYTES = 16384;

/** The bytes that a listener holds for a connection, where it says so. */
function bufferLimit(listener: Cursor): number | undefined {
  const limit = Number(listener.field(BUFFER_LIMIT)?.json());
  return Number.isFinite(limit) ? limit : undefined;
}

/** At the listener's limit Envoy stops to read, and an answer that is held further would wait for ever. */
function limitFindings({ setting, settings }: HoldPlan["settings"][number], limit: number | undefined): Finding[] {
  const maxBytes = Number(settings["max_bytes"] ?? DEFAULT_MAX_BYTES);
  if (limit === undefined || !(maxBytes >= limit)) return [];
  const expected = `expected less than the listener's ${BUFFER_LIMIT}, ${limit}, found ${maxBytes}`;
  return [setting.findingBelow(["max_bytes"], expected)];
}

const BUFFER_LIMIT = "per_connection_buffer_limit_bytes";
