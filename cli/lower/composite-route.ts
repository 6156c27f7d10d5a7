import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Json } from "../yaml/scalar.js";
import type { Composites } from "./composites.js";
import { aggregateName, refreshing } from "./aggregates.js";
import { avoidsTried } from "./picks.js";
import { groupsOf, isMessage, type RouteSettings } from "./settings.js";
import type { Slot } from "./slot-tree.js";
import { NO_HOST_CLUSTER } from "./types.js";

/** The composite clusters of a file, and whether its runtime lets them skip clusters without a host. */
export interface CompositeContext {
  composites: Composites;
  skip: boolean;
}

/** The clusters that a request's own groups may name, where it may have some. */
export type Allowed = readonly string[];

const SKIP = "skip_clusters_without_hosts";
const REFRESH = "refresh_cluster_on_retry";

/** The name of the composite cluster that is a route's own. */
export function compositeCluster(route: Cursor, { composites }: CompositeContext): Cursor | undefined {
  const cluster = route.at("route", "cluster");
  return composites.has(cluster?.string() ?? "") ? cluster : undefined;
}

/** The names that a pick of a route may give: those of its groups, and those that an override may name. */
export function pickedNames(settings: RouteSettings, { composites }: CompositeContext, allowed: Allowed): string[] {
  const names = groupsOf(settings).flatMap((group) => group.clusters.map((cluster) => cluster.cluster_name));
  if (!overrides(settings)) return names;
  // In header form any name may come.
  return [...names, ...(settings["slot_form"] === "HEADERS" ? composites.names : allowed)];
}

/** Whether a request's metadata may override the groups. */
export function overrides(settings: RouteSettings): boolean {
  const specifier = settings["priority_group"];
  const namespace = isMessage(specifier) ? specifier["override_metadata_namespace"] : undefined;
  return namespace !== undefined && namespace !== "";
}

/**
 * The settings of a route with what the module must know about the composite clusters it may meet; the same settings
 * where there are none. `refreshes` is what the route's retry policy says natively, `aggregated` are those with aggregates.
 */
export function withComposites(
  settings: RouteSettings,
  context: CompositeContext,
  allowed: Allowed,
  refreshes: boolean,
  aggregated: ReadonlySet<string> = new Set(),
): RouteSettings {
  const { composites } = context;
  const picked = pickedNames(settings, context, allowed);
  const reached = composites.reach(picked);
  if (reached.length === 0) return settings;
  const groups = overrides(settings) ? Number(settings["slots"]) : groupsOf(settings).length;
  const stays = !refreshes && settings["cluster"] === undefined;
  const lengths = picked.map((name) => (composites.has(name) ? composites.lengthOf(name) + 1 : 1));
  return {
    ...settings,
    composite_clusters: composites.settings(reached, aggregated),
    ...(context.skip ? {} : { [SKIP]: false }),
    ...(stays ? { [REFRESH]: false } : {}),
    slots: Math.max(stays ? 1 : groups, ...lengths),
  };
}

/** Whether an attempt may have to pass over a cluster, so that the module must know which ones have a host. */
export function skipsClusters(settings: RouteSettings, { composites }: CompositeContext): boolean {
  return settings[SKIP] !== false && composites.skips(compositeNames(settings));
}

/** The composite clusters in a route's settings. */
export function compositeNames(settings: RouteSettings): string[] {
  const messages = settings["composite_clusters"];
  const names = Array.isArray(messages) ? messages.filter(isMessage).map(({ name }) => name) : [];
  return names.filter((name) => typeof name === "string");
}

/** The composite clusters whose attempts have an aggregate as their default. */
function aggregatedNames(settings: RouteSettings): Set<string> {
  const messages = settings["composite_clusters"];
  const aggregated = Array.isArray(messages) ? messages.filter(isMessage).filter((one) => one["aggregates"]) : [];
  return new Set(aggregated.flatMap(({ name }) => (typeof name === "string" ? [name] : [])));
}

/** The slots of a route: for every attempt its static default and whatever else may be written. */
export function slotsOf(settings: RouteSettings, context: CompositeContext, allowed: Allowed): Slot[] {
  const choices = new Choices(settings, context);
  const slots = staticSlots(settings, choices);
  if (settings["slot_form"] === "HEADERS") {
    return slots.map(({ defaultCluster }) => ({ defaultCluster, otherClusters: [], open: false }));
  }
  if (!overrides(settings)) return slots;
  const named = allowed.flatMap((name) => choices.everywhere(name));
  const every = [...new Set([...slots.flatMap((slot) => [slot.defaultCluster, ...slot.otherClusters]), ...named])];
  return slots.map(({ defaultCluster }) => ({ defaultCluster, otherClusters: every, open: true }));
}

function staticSlots(settings: RouteSettings, choices: Choices): Slot[] {
  const groups = groupsOf(settings).map((group) => group.clusters.map((cluster) => cluster.cluster_name));
  const more = overrides(settings) || avoidsTried(settings) || compositeNames(settings).length > 0;
  const count = more && groups.length > 0 ? Number(settings["slots"]) : groups.length;
  return Array.from({ length: count }, (_, index) => {
    const turn = settings[REFRESH] === false ? 0 : Math.min(index, groups.length - 1);
    return slotOf((groups[turn] ?? []).flatMap((name) => choices.at(name, index + 1)));
  });
}

function slotOf(clusters: string[]): Slot {
  const [defaultCluster = "", ...otherClusters] = [...new Set(clusters)];
  return { defaultCluster, otherClusters, open: false };
}

/** What a picked name may become, the default first. */
class Choices {
  private readonly composites: Composites;
  private readonly skip: boolean;
  private readonly chooses: boolean;
  private readonly aggregated: ReadonlySet<string>;

  constructor(settings: RouteSettings, context: CompositeContext) {
    this.composites = context.composites;
    this.skip = settings[SKIP] !== false;
    this.chooses = skipsClusters(settings, context);
    this.aggregated = aggregatedNames(settings);
  }

  /** At an attempt: of a composite that skips clusters also that none of them has a host. */
  at(name: string, attempt: number): string[] {
    const { composites, skip } = this;
    if (!composites.has(name)) return [name];
    const candidates = composites.candidates(name, attempt, skip);
    if (!this.chooses && candidates.length > 0) return candidates;
    return [...this.aggregate(name, attempt), ...candidates, NO_HOST_CLUSTER];
  }

  /** At any attempt. */
  everywhere(name: string): string[] {
    const { composites } = this;
    if (!composites.has(name)) return [name];
    const attempts = Array.from({ length: composites.lengthOf(name) }, (_, index) => index + 1);
    const aggregates = attempts.flatMap((attempt) => this.aggregate(name, attempt));
    return [...aggregates, ...composites.candidates(name, 1, true), NO_HOST_CLUSTER];
  }

  private aggregate(composite: string, attempt: number): string[] {
    const { composites, skip, aggregated } = this;
    if (!aggregated.has(composite) || composites.candidates(composite, attempt, skip).length < 2) return [];
    return [aggregateName({ composite, attempt, skip })];
  }
}

/**
 * The retry policy that makes Envoy ask for the cluster of every attempt: the route's own or its virtual host's, with
 * refresh_cluster_on_retry. A route without one gets one without conditions: a request may bring some, and is then retried once.
 */
export function refreshingPolicy(route: Cursor, host: Cursor): { refreshes: boolean; policy: Json } {
  const policy = route.at("route", "retry_policy") ?? host.field("retry_policy");
  if (policy === undefined) return { refreshes: false, policy: { [REFRESH]: true } };
  const message = policy.copy();
  const refreshes = policy.field(REFRESH)?.bool() === true;
  return { refreshes, policy: isMessage(message) ? refreshing(message) : message };
}

/** What a route with composite clusters may not have. */
export function compositeRouteFindings(
  route: Cursor,
  host: Cursor,
  settings: RouteSettings,
  { composites }: CompositeContext,
): Finding[] {
  const findings: Finding[] = [];
  for (const level of [route.field("route"), host]) {
    const hedging = level?.at("hedge_policy", "hedge_on_per_try_timeout");
    if (hedging?.bool() === true) findings.push(hedging.finding(HEDGING));
    if (level === route.field("route") && level?.field("hedge_policy") !== undefined) break;
  }
  for (const level of [route.field("route"), host]) {
    const typed = level?.field("retry_policy_typed_config");
    if (typed !== undefined) findings.push(typed.finding(TYPED_POLICY));
  }
  const names = groupsOf(settings).flatMap((group) => group.clusters.map((cluster) => cluster.cluster_name));
  const plain = names.filter((name) => !composites.has(name));
  return [...findings, ...plain.map((name) => composites.retryPolicyFinding(name)).filter((one) => one !== undefined)];
}

/** Why a route cannot have its composite clusters, where neither form of them would do. */
export function refusal(because: string): string {
  return (
    "expected composite clusters of which the proxy can tell beforehand whether they have a host, found one of which it " +
    `cannot: ${because}. Write availability: AGGREGATE into filter_metadata.attempt_router of the route's metadata to ` +
    "skip what has no healthy host at all, where the clusters of the composite have hosts of their own"
  );
}

const HEDGING =
  "expected no hedge_on_per_try_timeout on a route with a composite cluster, whose hedged retries would all stay on " +
  "the cluster of the first attempt, found it set";
const TYPED_POLICY =
  "expected a retry_policy on a route with a composite cluster, which has to get refresh_cluster_on_retry, found retry_policy_typed_config";
