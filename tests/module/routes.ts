import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { namespaceMetadata, type RequestSpec, type SimulatedRequest } from "../../cli/host/index.js";

export const MODULE_PATH = new URL("../../build/attempt-router.wasm", import.meta.url).pathname;
export const MODULE = readFileSync(MODULE_PATH);

export interface TestCluster {
  cluster_name: string;
  weight: number | string;
}
export interface TestGroup {
  name: string;
  clusters: TestCluster[];
}

/** The part of a request that stands for its route: a name that carries the hash of the settings, and the settings. */
export function routeWith(settings: JsonObject): Pick<RequestSpec, "routeName" | "routeMetadata"> {
  const id = createHash("sha256").update(JSON.stringify(settings)).digest("hex").slice(0, 32);
  return { routeName: `r@ar-${id}`, routeMetadata: namespaceMetadata("attempt_router", settings) };
}

/** A group named `g` of clusters c0, c1, … with these weights. */
export function groupOf(...weights: (number | string)[]): TestGroup {
  return { name: "g", clusters: weights.map((weight, i) => ({ cluster_name: `c${i}`, weight })) };
}

/** Settings of a route with these groups, and a slot for each. */
export function settingsOf(groups: TestGroup[], specifier: JsonObject = {}, rest: JsonObject = {}): JsonObject {
  const priority_groups = groups.map(({ name, clusters }) => ({ name, clusters: clusters.map((one) => ({ ...one })) }));
  return { priority_group: { priority_groups, ...specifier }, slots: groups.length, ...rest };
}

/** The cluster that the route's matcher gives to an attempt: its slot, else the first cluster of its group. */
export function clusterOf(request: SimulatedRequest, groups: TestGroup[], attempt: number): string {
  const index = Math.min(attempt, groups.length);
  return request.slots[String(index)] ?? groups[index - 1]?.clusters[0]?.cluster_name ?? "";
}

/** The specification's pick: half-open intervals in list order. */
export function expectedPick(group: TestGroup, random: bigint): string {
  const total = group.clusters.reduce((sum, { weight }) => sum + BigInt(weight), 0n);
  let rest = BigInt.asUintN(64, random) % total;
  for (const { cluster_name, weight } of group.clusters) {
    if (rest < BigInt(weight)) return cluster_name;
    rest -= BigInt(weight);
  }
  throw new Error("a random value past the last interval");
}
