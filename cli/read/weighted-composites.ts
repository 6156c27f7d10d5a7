import type { Attempts, HashPolicy } from "../model/attempts.js";
import type { Json, JsonMessage } from "../model/origin.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import type { CompositeNames } from "./composite.js";
import { jsonAt } from "./fields.js";
import { originOf } from "./place.js";
import { randomOf, readWeighted } from "./priority-group.js";

const CLUSTERS = "clusters";
/** The fields of `weighted_clusters`, and of its entries, that a priority group has, too. */
const RANDOM = ["header_name", "use_hash_policy"];
const OF_ENTRY = ["name", "weight"];

/**
 * Weighted clusters of which some are composite ones: a request keeps its entry, and attempts count inside of it, so they are
 * a priority group that every attempt stays in. Undefined where no entry is a composite cluster.
 */
export function weightedAttempts(
  weighted: Cursor,
  policies: readonly HashPolicy[],
  composites: CompositeNames,
): Attempts | undefined {
  const names = weighted.list(CLUSTERS).map(nameOf);
  if (!names.some((name) => composites.has(name))) return undefined;
  const clusters = weighted.list(CLUSTERS).map((entry) => readWeighted(entry, "name"));
  return {
    source: { kind: "weighted", others: othersOf(weighted).map(jsonAt) },
    groups: [{ name: undefined, clusters, origin: originOf(weighted) }],
    random: randomOf(weighted, policies),
    override: undefined,
    composites: composites.reach(names),
    get json(): JsonMessage {
      return weightedAsGroup(weighted);
    },
    origin: originOf(weighted),
  };
}

/** The priority-group specifier with the same picks. */
export function weightedAsGroup(weighted: Cursor): { [key: string]: Json } {
  const entries = weighted.list(CLUSTERS);
  const clusters = keptEntries(weighted).flatMap((index) => {
    const entry = entries[index];
    return entry === undefined ? [] : [{ cluster_name: nameOf(entry), weight: weightOf(entry) }];
  });
  const random = RANDOM.map((name) => [name, weighted.field(name)?.json() ?? null] as const);
  const given = Object.fromEntries(random.filter(([, value]) => value !== null));
  return { priority_groups: [{ name: "weighted_clusters", clusters }], ...given };
}

/** The entries that are ever picked, by their index: a group may not have others. */
export function keptEntries(weighted: Cursor): number[] {
  return weighted.list(CLUSTERS).flatMap((entry, index) => (Number(weightOf(entry)) === 0 ? [] : [index]));
}

/** What the list says that no priority group can. */
export function othersOf(weighted: Cursor): Cursor[] {
  const others = (message: Cursor, known: readonly string[]) =>
    message.entries().filter(({ key, value }) => value.node !== undefined && !known.includes(snakeCase(key)));
  const found = [
    ...others(weighted, [CLUSTERS, ...RANDOM]),
    ...weighted.list(CLUSTERS).flatMap((entry) => others(entry, OF_ENTRY)),
  ];
  return found.map(({ value }) => value);
}

function nameOf(entry: Cursor): string {
  return entry.field("name")?.string() ?? "";
}

function weightOf(entry: Cursor): Json {
  return entry.field("weight")?.json() ?? 0;
}
