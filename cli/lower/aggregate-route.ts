// A route to composite clusters that needs nothing of the module for them: in every slot the name of a composite cluster leads
// to the aggregate of that attempt.

import type { Cursor } from "../yaml/cursor.js";
import type { Json } from "../yaml/scalar.js";
import { aggregateName, type Aggregate } from "./aggregates.js";
import { chooseForm, skipsByHealth, type ChosenForm, type Lists } from "./composite-form.js";
import type { Member } from "./members.js";
import { overrides, pickedNames, type Allowed, type CompositeContext } from "./composite-route.js";
import { groupsOf, isMessage, type ClusterWeight, type RouteSettings } from "./settings.js";
import type { Slot } from "./slot-tree.js";
import { hasSubset } from "./subsets.js";

const SKIP = "skip_clusters_without_hosts";
const REFRESH = "refresh_cluster_on_retry";

/** The composite clusters of a route, and how they are delivered. */
export interface CompositeDelivery extends ChosenForm {
  /** The composite clusters that its picks may name. */
  names: readonly string[];
  settings: RouteSettings;
  slots: Slot[];
  /** Probed: the defaults of its slots. */
  aggregates: Aggregate[];
}

/** What a route brings that decides how its composite clusters are delivered. */
export interface AggregateContext extends CompositeContext {
  route: Cursor;
  allowed: Allowed;
  /** The upstream role rewrites slots while an attempt starts. */
  usesUpstreamRole: boolean;
  /** The virtual host's retry policy, which counts for the route, has a retry_priority. */
  retryPriority: boolean;
  /** Whether the route's retry policy asks for the cluster of every attempt natively. */
  refreshes: boolean;
}

/** How the composite clusters that a route may meet are delivered; undefined where it can meet none. */
export function deliverComposites(settings: RouteSettings, context: AggregateContext): CompositeDelivery | undefined {
  const { composites, route } = context;
  const picked = [...new Set(pickedNames(settings, context, context.allowed))].filter((name) => composites.has(name));
  if (picked.length === 0) return undefined;
  const skip = context.skip && settings[SKIP] !== false;
  const chosen = chooseForm(listsOf(picked, context, skip), (name) => composites.member(name), {
    asked: settings["availability"],
    obstacle: obstacleOf(settings, picked, context),
    hasSubset: (name) => hasSubset(composites.clusterNamed(name), route.at("route", "metadata_match")),
  });
  if (chosen.form !== "AGGREGATE") {
    const aggregates = chosen.form === "PROBE" && skip ? defaultsOf(picked, context) : [];
    return { ...chosen, names: picked, settings, slots: [], aggregates };
  }
  const names = picked.map((name) => ({ name, length: composites.lengthOf(name) }));
  const stays = !context.refreshes && settings["cluster"] === undefined;
  const groups = overrides(settings) ? Number(settings["slots"]) : groupsOf(settings).length;
  const count = Math.max(stays ? 1 : groups, ...names.map(({ length }) => length + 1));
  const aggregates = names.flatMap(({ name, length }) =>
    Array.from({ length: length + 1 }, (_, index) => aggregateOf(name, index + 1, skip, context)),
  );
  const lowered: RouteSettings = {
    ...asGroup(settings),
    ...(stays ? { [REFRESH]: false } : {}),
    slots: count,
  };
  const slots = slotsOf(lowered, aggregates, context);
  if (lowered["slot_form"] !== "ONE_SLOT") return { ...chosen, names: picked, settings: lowered, slots, aggregates };
  return { ...chosen, names: picked, ...spelledOut(lowered, slots), aggregates };
}

/** Every list of clusters that an attempt may have to go through. */
function listsOf(picked: readonly string[], { composites }: CompositeContext, skip: boolean): Lists {
  return picked.flatMap((name) =>
    Array.from({ length: composites.lengthOf(name) }, (_, index) => composites.candidates(name, index + 1, skip)),
  );
}

/** What an attempt (1, 2, …) of a composite cluster may use. */
export function aggregateOf(
  composite: string,
  attempt: number,
  skip: boolean,
  { composites }: CompositeContext,
): Aggregate {
  const clusters = composites.candidates(composite, attempt, skip);
  const byHealth = skipsByHealth(clusters, (name) => composites.member(name));
  const [first, ...more] = clusters.map((name) => composites.member(name)?.hosts);
  const direct = more.length === 0 && (first === "PER_REQUEST" || first === "UNKNOWN");
  return { composite, attempt, skip, clusters, byHealth, direct };
}

/** For composite clusters that are probed: what decides while nothing is known of their clusters, or the module is missing. */
function defaultsOf(picked: readonly string[], context: AggregateContext): Aggregate[] {
  const { composites } = context;
  if (routeObstacle(picked, context) !== undefined) return [];
  return picked.flatMap((composite) => {
    const all = Array.from({ length: composites.lengthOf(composite) }, (_, index) =>
      aggregateOf(composite, index + 1, true, context),
    );
    const members = all.flatMap(({ clusters }) => clusters.map((name) => composites.member(name)));
    return members.every(mayStandIn) ? all.filter(({ clusters }) => clusters.length > 1) : [];
  });
}

function mayStandIn(member: Member | undefined): boolean {
  return member === undefined || !(member.hosts === "PER_REQUEST" || member.hosts === "UNKNOWN" || member.provider);
}

/** Why the picks of a route cannot lead to aggregates instead of clusters. */
function obstacleOf(settings: RouteSettings, picked: readonly string[], context: AggregateContext): string | undefined {
  if (settings["slot_form"] === "HEADERS") return "cluster_selection: HEADER names the clusters themselves";
  if (settings["slot_form"] === "ONE_SLOT" && overrides(settings))
    return "x-envoy-attempt-count does not tell the attempts of a route with an override apart";
  return routeObstacle(picked, context);
}

/** Why no attempt of a route may go to an aggregate. */
function routeObstacle(picked: readonly string[], context: AggregateContext): string | undefined {
  const { composites, route, usesUpstreamRole } = context;
  const filtered = picked.find((name) => composites.member(name)?.filters === true);
  if (usesUpstreamRole && filtered !== undefined)
    return `${filtered} has upstream filters of its own, among which the module would have to stand`;
  const priority = context.retryPriority || route.at("route", "retry_policy", "retry_priority") !== undefined;
  return priority ? "a retry_priority would count the clusters of an aggregate as priorities" : undefined;
}

/** For every attempt its static default and whatever else may be written. */
function slotsOf(settings: RouteSettings, aggregates: readonly Aggregate[], context: AggregateContext): Slot[] {
  const groups = groupsOf(settings).map((group) => group.clusters.map((cluster) => cluster.cluster_name));
  const last = settings[REFRESH] === false ? 0 : groups.length - 1;
  const open = overrides(settings);
  const every = open ? [...groups.flat(), ...context.allowed] : [];
  return Array.from({ length: Number(settings["slots"]) }, (_, index) => {
    const [defaultCluster = "", ...others] = [...new Set([...(groups[Math.min(index, last)] ?? []), ...every])];
    const instead = insteadAt(index + 1, aggregates);
    return { defaultCluster, otherClusters: open ? [defaultCluster, ...others] : others, open, instead };
  });
}

/** By composite cluster, what stands in its place at an attempt: past the end of its list, always the same. */
function insteadAt(attempt: number, aggregates: readonly Aggregate[]): Record<string, string> {
  const reached = aggregates.filter((aggregate) => aggregate.attempt <= attempt);
  return Object.fromEntries(reached.map((aggregate) => [aggregate.composite, standIn(aggregate)]));
}

/** A cluster that makes its hosts for a request cannot stand in an aggregate, and need not where it is alone. */
export function standIn(aggregate: Aggregate): string {
  return aggregate.direct ? (aggregate.clusters[0] ?? "") : aggregateName(aggregate);
}

/** One slot serves all attempts, so it must name the aggregates themselves: each attempt gets a group of its own. */
function spelledOut(settings: RouteSettings, slots: readonly Slot[]): { settings: RouteSettings; slots: Slot[] } {
  const specifier = settings["priority_group"];
  const groups = groupsOf(settings);
  const last = settings[REFRESH] === false ? 0 : groups.length - 1;
  const priority_groups = slots.map(({ instead }, index) => {
    const { name, clusters } = groups[Math.min(index, last)] ?? { name: "", clusters: [] };
    return { name: `${name}@${index + 1}`, clusters: clusters.map((one) => renamed(one, instead)) };
  });
  const rest = without(settings, [REFRESH]);
  const lowered = { ...rest, priority_group: { ...(isMessage(specifier) ? specifier : {}), priority_groups } };
  const renamedSlots = priority_groups.map(({ clusters }) => {
    const [defaultCluster = "", ...otherClusters] = [...new Set(clusters.map(({ cluster_name }) => cluster_name))];
    return { defaultCluster, otherClusters, open: false };
  });
  return { settings: lowered, slots: renamedSlots };
}

function renamed(cluster: ClusterWeight, instead: Slot["instead"]): { cluster_name: string; weight: number | string } {
  const { cluster_name, weight } = cluster;
  return { cluster_name: instead?.[cluster_name] ?? cluster_name, weight };
}

/** The route's own cluster as the only one of a group. */
function asGroup(settings: RouteSettings): RouteSettings {
  const { cluster, ...rest } = settings;
  if (typeof cluster !== "string") return settings;
  const clusters = [{ cluster_name: cluster, weight: 1 }];
  return { ...rest, priority_group: { priority_groups: [{ name: cluster, clusters }] } };
}

function without(settings: RouteSettings, names: readonly string[]): { [key: string]: Json } {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)));
}
