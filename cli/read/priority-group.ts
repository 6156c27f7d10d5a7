import type { Attempts, AttemptsSource, HashPolicy, PriorityGroup, RandomSource } from "../model/attempts.js";
import type { WeightedCluster } from "../model/attempts.js";
import type { JsonMessage } from "../model/origin.js";
import { TYPE } from "../lower/types.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import { isTrue, jsonAt, messageAt, numberIn, snakeJson, text, valueOf } from "./fields.js";
import { originOf } from "./place.js";
import type { CompositeNames } from "./composite.js";

/** The priority-group specifier that a plugin (`extension: {name, typed_config}`) holds, if it is one. */
export function pluginSpecifier(plugin: Cursor | undefined): Cursor | undefined {
  const config = plugin?.at("extension", "typed_config");
  return config?.type() === TYPE.priorityGroup ? config : undefined;
}

/** A priority-group specifier as the attempts of a route whose action has these hash policies. */
export function readAttempts(
  specifier: Cursor,
  source: AttemptsSource,
  policies: readonly HashPolicy[],
  composites: CompositeNames,
): Attempts {
  const groups = specifier.list("priority_groups").map(readGroup);
  const override = text(specifier, "override_metadata_namespace");
  const named = groups.flatMap(({ clusters }) => clusters.map(({ name }) => name.value));
  const isOpen = override !== undefined && override.value !== "";
  return {
    source,
    groups,
    random: randomOf(specifier, policies),
    override: isOpen ? override : undefined,
    composites: composites.reach([...named, ...(isOpen ? composites.names : [])]),
    get json(): JsonMessage {
      return messageAt(specifier);
    },
    origin: originOf(specifier),
  };
}

/** The attempts of a route whose own cluster is a composite one. */
export function compositeAttempts(cluster: Cursor, composites: CompositeNames): Attempts {
  const name = cluster.string() ?? "";
  return {
    source: { kind: "composite", cluster: valueOf(cluster, name) },
    groups: [],
    random: { kind: "internal" },
    override: undefined,
    composites: composites.reach([name]),
    json: {},
    origin: originOf(cluster),
  };
}

/** An entry of a group, or of `weighted_clusters` (where the field of the name is another). */
export function readWeighted(item: Cursor, field: string): WeightedCluster {
  const name = text(item, field) ?? valueOf(item, "");
  return { name, weight: weightOf(item), origin: originOf(item) };
}

export function readHashPolicies(action: Cursor): HashPolicy[] {
  return action.list("hash_policy").map((policy) => ({
    kind: snakeCase(policy.entries().find(({ key }) => snakeCase(key) !== "terminal")?.key ?? ""),
    terminal: isTrue(policy, "terminal"),
    json: snakeJson(policy),
    origin: originOf(policy),
  }));
}

function readGroup(group: Cursor): PriorityGroup {
  return {
    name: text(group, "name"),
    clusters: group.list("clusters").map((item) => readWeighted(item, "cluster_name")),
    origin: originOf(group),
  };
}

function weightOf(item: Cursor): number {
  const weight = numberIn(item.field("weight"));
  return weight !== undefined && Number.isSafeInteger(weight) && weight > 0 ? weight : 0;
}

export function randomOf(specifier: Cursor, policies: readonly HashPolicy[]): RandomSource {
  const header = text(specifier, "header_name");
  if (header !== undefined && header.value !== "") return { kind: "header", name: header };
  const hash = specifier.field("use_hash_policy");
  if (hash?.bool() !== true) return { kind: "internal" };
  return { kind: "hash", at: { value: true, origin: jsonAt(hash).origin }, policies };
}
