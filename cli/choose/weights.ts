// Weights without the module. Envoy has one random value for every request: `runtime_fraction` of a route's match compares
// it, and the native specifier picks by it. So a weighted chain is as many routes as there are different rows of picks, one
// after the other, each for its share of the requests, and each a chain of single clusters. Other routes and mirror policies
// compare the same value, so every single value has to lead to the picks that it leads to natively: the same sizes of the
// shares would not do.

import { compositeNames, overrides } from "../lower/composite-route.js";
import { avoidsTried } from "../lower/picks.js";
import { groupsOf, isMessage, type PriorityGroup, type RouteSettings } from "../lower/settings.js";
import type { Json } from "../model/origin.js";
import type { Slot } from "../lower/slot-tree.js";

/** Part of the requests of a route, and what every attempt may take for them. */
export interface Share {
  slots: readonly Slot[];
  /** The route's `runtime_fraction`: requests that were not in an earlier share, but are below this; absent for the rest. */
  below?: { numerator: number; denominator: string };
}

/** Past that many, one route and the module are less to match and to read. */
const MAX_SHARES = 10;
/** By the sum of weights that compares the random value as the fraction does: by its remainder. */
const DENOMINATORS = new Map([
  [100, "HUNDRED"],
  [10_000, "TEN_THOUSAND"],
  [1_000_000, "MILLION"],
]);

/** The shares of priority groups with these slots, or why their picks hang on more than Envoy's random value, or are no such fractions. */
export function sharesOf(
  settings: RouteSettings,
  slots: readonly Partial<Slot>[] = groupsOf(settings).map(() => ({})),
): Share[] | string {
  const groups = attemptGroups(settings, slots.length);
  const weighted = groups.filter(({ clusters }) => clusters.length > 1);
  const [total = 0, ...others] = [...new Set(weighted.map(totalOf))];
  const denominator = DENOMINATORS.get(total);
  if (others.length > 0) return "the weights of its groups have different sums";
  if (denominator === undefined) return `the sum of its weights is none of ${[...DENOMINATORS.keys()].join(", ")}`;
  const other = otherThanRandom(settings);
  if (other !== undefined) return other;
  const ends = [...new Set([...weighted.flatMap(endsOf), total])].sort((a, b) => a - b);
  const shares = merged(ends.map((end) => ({ end, picks: groups.map((group) => pick(group, end - 1)) })));
  if (shares.length > MAX_SHARES) return `it would become ${shares.length} routes, more than ${MAX_SHARES}`;
  return shares.map(({ end, picks }) => ({
    slots: picks.map((defaultCluster, index) => ({ ...slots[index], defaultCluster, otherClusters: [], open: false })),
    ...(end === total ? {} : { below: { numerator: end, denominator } }),
  }));
}

/** The group of each attempt that has a slot. */
function attemptGroups(settings: RouteSettings, count: number): PriorityGroup[] {
  const groups = groupsOf(settings);
  const last = settings["refresh_cluster_on_retry"] === false ? 0 : groups.length - 1;
  return Array.from({ length: count }, (_, index) => groups[Math.min(index, last)]).filter((one) => one !== undefined);
}

/** A share as a field of a route's match. */
export function fractionOf({ below }: Share): { [key: string]: Json } {
  return below === undefined ? {} : { runtime_fraction: { default_value: below } };
}

interface Row {
  /** One past the last value, of `random % total`, that has these picks. */
  end: number;
  picks: string[];
}

/** What picks hang on besides Envoy's random value. */
function otherThanRandom(settings: RouteSettings): string | undefined {
  const specifier = settings["priority_group"];
  if (!isMessage(specifier)) return "it has no priority groups";
  if (avoidsTried(settings)) return "attempts avoid clusters that the request has used";
  if ("header_name" in specifier) return "its random value comes from a header";
  if ("use_hash_policy" in specifier) return "its random value may come from hash policies";
  if (overrides(settings)) return "requests may override its groups";
  return compositeNames(settings).length > 0 ? "the module chooses among the clusters of a composite" : undefined;
}

/** 0, which is no denominator, where some weight is none. */
function totalOf({ clusters }: PriorityGroup): number {
  const weights = clusters.map(({ weight }) => Number(weight));
  return weights.every((weight) => Number.isSafeInteger(weight) && weight > 0) ? sum(weights) : 0;
}

/** Where the half-open interval of each cluster ends. */
function endsOf({ clusters }: PriorityGroup): number[] {
  return clusters.map((_, index) => sum(clusters.slice(0, index + 1).map(({ weight }) => Number(weight))));
}

function pick({ clusters }: PriorityGroup, value: number): string {
  if (clusters.length === 1) return clusters[0]?.cluster_name ?? "";
  let end = 0;
  return clusters.find(({ weight }) => (end += Number(weight)) > value)?.cluster_name ?? "";
}

/** Rows next to each other with the same picks are one. */
function merged(rows: Row[]): Row[] {
  return rows.filter(({ picks }, index) => picks.join("\n") !== rows[index + 1]?.picks.join("\n"));
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
