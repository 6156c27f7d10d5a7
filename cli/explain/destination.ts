// Where the attempts of a route go, as a function of the random value.

import { picksOtherwise } from "../lower/picks.js";
import { clustersFrom, passesOver } from "../lower/stand-ins/lists.js";
import { messageOf } from "../model/json.js";
import type { Json, JsonMessage, PriorityGroup, Route, RouteAction, WeightedCluster } from "../model/index.js";
import type { Picks } from "./attempts.js";
import { planOf, type ModulePicks, type OverrideUse, type RoutePlan } from "./module-picks.js";
import { randomSpace, sampledSpace, type RandomSpace } from "./random-space.js";
import { headerValue, type ExplainedRequest } from "./request.js";
import { weightedPicks } from "./weighted.js";

/** Whether and why an override counted for an attempt. */
export interface OverrideNote {
  readonly used: boolean;
  readonly because: string;
}

export interface Destination {
  /** The picks of a request with this random value. */
  readonly picks: (random: bigint) => Picks;
  readonly space: RandomSpace;
  /** The picks where the request itself decides them; undefined where they hang on the internal random value. */
  readonly decided: Picks | undefined;
  readonly group: (attempt: number) => string | null;
  readonly override: (attempt: number) => OverrideNote | undefined;
  /** The clusters behind a pick, one of which takes its attempt where the pick has no host. */
  readonly behind: (attempt: number, picked: string) => readonly string[];
  /** Where the cluster cannot be known. */
  readonly undecided: string | undefined;
}

/** How a forwarding route finds the clusters of `count` attempts; `settings` are its own with those of its virtual host. */
export function destinationOf(
  route: Route,
  action: RouteAction,
  request: ExplainedRequest,
  count: number,
  module: ModulePicks,
  settings: JsonMessage,
): Destination {
  const { destination } = action;
  if (route.attempts !== undefined && route.attempts.groups.length > 0) {
    return groupDestination(route, request, count, module, settings);
  }
  switch (destination.kind) {
    case "cluster":
      return fixed(destination.cluster.value);
    case "cluster_header":
      return fixed(headerValue(request, destination.header.value) ?? "");
    case "weighted_clusters":
      return weightedDestination(destination.clusters, action, request);
    case "attempts":
      return fixed(compositeName(route));
    case "specifier":
      return { ...fixed(""), undecided: `the cluster specifier ${destination.type} cannot be run here` };
    default:
      return { ...fixed(""), undecided: "the route names no cluster" };
  }
}

function compositeName({ attempts }: Route): string {
  return attempts?.source.kind === "composite" ? attempts.source.cluster.value : "";
}

const ONE: RandomSpace = { points: [{ random: 0n, probability: 1 }], sampled: false };

/** One cluster for every attempt. */
function fixed(cluster: string): Destination {
  const picks: Picks = { cluster: () => cluster };
  return {
    picks: () => picks,
    space: ONE,
    decided: picks,
    group: () => null,
    override: () => undefined,
    behind: () => [],
    undecided: undefined,
  };
}

function weightedDestination(
  clusters: readonly WeightedCluster[],
  action: RouteAction,
  request: ExplainedRequest,
): Destination {
  const weighted = messageOf(messageOf(action.json)["weighted_clusters"]);
  const header = weighted["header_name"];
  const value = typeof header === "string" && header !== "" ? headerValue(request, header) : undefined;
  const given = value !== undefined && /^\d+$/.test(value) ? BigInt(value) : undefined;
  return {
    ...fixed(""),
    picks: (random) => weightedPicks(clusters, random),
    space: randomSpace(subsets(clusters.map(({ weight }) => weight))),
    decided: given === undefined ? single(clusters) : weightedPicks(clusters, given),
  };
}

function single(clusters: readonly WeightedCluster[]): Picks | undefined {
  return clusters.length === 1 ? weightedPicks(clusters, 0n) : undefined;
}

/** A retry picks among fewer clusters with the same value: the borders of all those lists count. */
function subsets(weights: readonly number[]): number[][] {
  if (weights.length > 6) return [[...weights]];
  const lists = weights.reduce<number[][]>((all, weight) => [...all, ...all.map((list) => [...list, weight])], [[]]);
  return lists.filter((list) => list.length > 0);
}

function groupDestination(
  route: Route,
  request: ExplainedRequest,
  count: number,
  module: ModulePicks,
  settings: JsonMessage,
): Destination {
  const { attempts } = route;
  if (attempts === undefined) throw new Error("a route with groups has attempts");
  const plan = planOf(attempts, settings, count);
  const entries = attempts.override === undefined ? [] : overrideEntries(request, attempts.override.value);
  const overriding = overrideReader(plan, request, attempts.override?.value, entries, module);
  const lists = [...attempts.groups.map(weightsOf), ...entries.map(entryWeights)].filter(({ length }) => length > 1);
  const space = lists.length > 0 && picksOtherwise(settings) ? sampledSpace() : randomSpace(lists);
  const picks = (random: bigint | undefined): Picks => module.picks(plan, request, random);
  const decided = (): Picks | undefined => (module.isDecided(plan, request) ? picks(undefined) : undefined);
  return {
    picks,
    space,
    decided: space.points.length === 1 ? picks(0n) : decided(),
    group: (attempt) => groupName(attempts.groups, entries, overriding(attempt), attempt),
    override: (attempt) => overriding(attempt)?.note,
    behind: (attempt, picked) => behind(route, overriding(attempt)?.use, attempt, picked),
    undecided: undefined,
  };
}

/** After a step the pick may be one of another group than that of the attempt's number. */
function behind(
  { attempts, picking }: Route,
  use: OverrideUse["use"] | undefined,
  attempt: number,
  picked: string,
): string[] {
  if (attempts === undefined || !passesOver(picking) || use?.kind === "own") return [];
  const { groups } = attempts;
  const usual = use?.kind === "named" ? use.index : Math.min(attempt, groups.length) - 1;
  const holds = ({ clusters }: PriorityGroup) => clusters.some(({ name }) => name.value === picked);
  const index = groups[usual] !== undefined && holds(groups[usual]) ? usual : groups.findIndex(holds);
  return index < 0 ? [] : clustersFrom(groups, index, picked).slice(1);
}

function weightsOf(group: PriorityGroup): number[] {
  return group.clusters.map(({ weight }) => weight);
}

/** The list that an override holds: as a message of its type, or as a struct. */
function overrideEntries(request: ExplainedRequest, namespace: string): Json[] {
  const value = request.metadata[namespace];
  const list = value?.["priority_groups"] ?? (value?.["@type"] === undefined ? undefined : value["priorityGroups"]);
  return Array.isArray(list) ? list : [];
}

/** Weights that may be picked from; which ones are valid is the module's to say. */
function entryWeights(entry: Json): number[] {
  const clusters = messageOf(entry)["clusters"];
  const list = Array.isArray(clusters) ? clusters.map((one) => Number(messageOf(one)["weight"])) : [];
  return list.every((weight) => weight >= 1 && weight < 2 ** 32) ? list.map(Math.trunc) : [];
}

interface ReadOverride {
  use: OverrideUse["use"];
  entry: number;
  note: OverrideNote;
}

/** Asks the module about the entry of each attempt, once. */
function overrideReader(
  plan: RoutePlan,
  request: ExplainedRequest,
  namespace: string | undefined,
  entries: readonly Json[],
  module: ModulePicks,
): (attempt: number) => ReadOverride | undefined {
  const given = namespace === undefined ? undefined : request.metadata[namespace];
  if (namespace === undefined) return () => undefined;
  const whole = given === undefined ? undefined : module.override(plan, request, undefined);
  const known = new Map<number, ReadOverride>();
  return (attempt) => {
    const entry = Math.min(attempt, entries.length) - 1;
    const before = known.get(entry);
    if (before !== undefined) return before;
    const read = readEntry(entry);
    known.set(entry, read);
    return read;
  };

  function readEntry(entry: number): ReadOverride {
    const none = { kind: "none" } as const;
    if (given === undefined) {
      const because = `no filter wrote metadata ${namespace ?? ""}: the configured groups count`;
      return { use: none, entry, note: { used: false, because } };
    }
    if (entry < 0)
      return { use: none, entry, note: { used: false, because: `refused: ${whole?.cause ?? "no list of groups"}` } };
    const value = { ...given, priority_groups: [entries[entry] ?? null] };
    delete (value as JsonMessage)["priorityGroups"];
    const { use, cause } = module.override(plan, request, { namespace: namespace ?? "", value });
    return { use, entry, note: entryNote(use, entry, cause) };
  }
}

function entryNote(use: OverrideUse["use"], entry: number, cause: string | undefined): OverrideNote {
  const place = `priority_groups[${entry}] of the override`;
  if (use.kind === "own") return { used: true, because: `${place} brings its own clusters` };
  if (use.kind === "named") return { used: true, because: `${place} names a configured group` };
  const why = (cause ?? "it names no configured group").replace("priority_groups[0]", `priority_groups[${entry}]`);
  return { used: false, because: `refused: ${why}` };
}

function groupName(
  groups: readonly PriorityGroup[],
  entries: readonly Json[],
  overriding: ReadOverride | undefined,
  attempt: number,
): string {
  const named = (index: number): string => groups[index]?.name?.value ?? "";
  if (overriding?.use.kind === "named") return named(overriding.use.index);
  if (overriding?.use.kind === "own") {
    const name = messageOf(entries[overriding.entry])["name"];
    return typeof name === "string" ? name : "";
  }
  return named(Math.min(attempt, groups.length) - 1);
}
