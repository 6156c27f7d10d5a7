// The priority groups and composite clusters of the routes that specifiers are given, and that they supply.

import type { Program } from "../../model/program.js";
import { CompositeNames } from "../../read/composite.js";
import type { Resources } from "../../read/resources.js";
import { attemptsOf, policyOf } from "../../read/retry-policy.js";
import { readUse } from "../../read/route.js";
import type { Cursor } from "../../yaml/cursor.js";
import { withAnswers, withoutGroupSettings } from "../answers.js";
import { Clusters } from "../clusters.js";
import type { CompositeContext } from "../composite-route.js";
import { runtimeSkips } from "../composite-uses.js";
import { Composites } from "../composites.js";
import type { PlanOptions } from "../options.js";
import { allowedClusters, hasOverride, ownSettings, selectsByHeader } from "../override.js";
import { prepareRoute, specifierUse, type SpecifierUse } from "../priority-group.js";
import { isMessage, type RouteSettings } from "../settings.js";
import { METADATA_NAMESPACE } from "../types.js";
import type { Configured, Message, Override, Template } from "./configured.js";
import { overridesOf, type CopyContext } from "./copies.js";
import { MAX_SLOTS, type ConfigContext } from "./planned.js";
import { changesCount } from "./refusals.js";

export class Groups {
  readonly clusters: Clusters;
  private readonly names: CompositeNames;
  private readonly composites: CompositeContext;

  constructor(
    root: Cursor,
    resources: Resources,
    program: Program,
    private readonly options: PlanOptions,
  ) {
    this.clusters = new Clusters(program);
    this.names = new CompositeNames(resources.clusters);
    const closed = !program.dynamicClusters;
    this.composites = { composites: new Composites(resources.clusters, closed), skip: runtimeSkips(root) };
  }

  /** Where a route's priority groups or its composite cluster stand; undefined where it has none. */
  use(route: Cursor, { plugins }: ConfigContext): SpecifierUse | undefined {
    const action = route.field("route");
    const attempts = action && readUse(action, [], { plugins, composites: this.names });
    return attempts && specifierUse(attempts);
  }

  /**
   * The settings that a route and its copies have for their own groups. Where requests may override these, there is a
   * slot for every attempt that a retry policy of a specifier allows.
   */
  settings(route: Cursor, host: Cursor, overrides: readonly Override[], context: ConfigContext): Message {
    const use = this.use(route, context);
    if (use === undefined) return withoutGroupSettings(ownSettings(route));
    const own = route.at("metadata", "filter_metadata", METADATA_NAMESPACE)?.json();
    const settings = withAnswers(isMessage(own) ? own : {}, route, host);
    const attempts = Math.max(0, ...overrides.map(({ retries }) => (retries ?? -1) + 1));
    if (!hasOverride(use.specifier) || attempts === 0) return settings;
    return { ...settings, slots: Math.min(Math.max(attempts, Number(settings["slots"] ?? 1)), MAX_SLOTS) };
  }

  /** Those of a template's route, which the module must know before the proxy has resolved it. */
  templateSettings(
    { route }: Template,
    use: SpecifierUse,
    host: Cursor,
    { site, upstreamChanges }: ConfigContext,
  ): RouteSettings {
    const levels = [site.config, host, route];
    const oneSlot = !this.options.attemptHeader || upstreamChanges || changesCount(levels);
    const byHeader = selectsByHeader(route, use.specifier, []);
    const around = {
      form: byHeader !== undefined ? "HEADERS" : oneSlot ? "ONE_SLOT" : "SLOT_PER_ATTEMPT",
      pin: false,
      rereads: false,
      attempts: Math.max(attemptsIn(route, host), this.clusters.attempts),
      allowed: allowedClusters(route, use.specifier, this.clusters.all, []),
    } as const;
    return prepareRoute(route, host, use, around, this.composites, []).settings;
  }

  copyContext(host: Cursor, chain: readonly Configured[], { slots }: ConfigContext): CopyContext {
    return { host, overrides: overridesOf(chain), slots, everyCluster: this.clusters.all };
  }
}

/** How many attempts the retry policies around a template's route allow. */
function attemptsIn(route: Cursor, host: Cursor): number {
  return attemptsOf(policyOf(route.field("route")) ?? policyOf(host));
}
