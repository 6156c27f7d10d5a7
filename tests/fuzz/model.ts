// The specification of the per-request override, written from its text and from what native Envoy was measured to do,
// without a look at the module.

import type { AnyValue, MetadataTree, Value } from "./metadata-tree.js";
import { BYTES, VARINT, readFields, type WireField } from "./wire.js";

export interface Cluster {
  name: string;
  weight: number;
}

export interface Group {
  name: string;
  clusters: Cluster[];
}

/** What a request does: the cluster of each attempt, and what is counted. */
export interface Prediction {
  clusters: string[];
  overrideInvalid: number;
  groupInvalid: number;
}

/** A group of an override: undefined where it is invalid; without clusters it selects a configured group. */
type OverrideGroup = { name: string; clusters: Cluster[] | undefined } | undefined;

const TYPE_NAME = "envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupsOverride";
const MAX_WEIGHT = 4294967295;

/** `attempts` attempts of a request whose dynamic metadata is `metadata`. Specification: "Per-request groups". */
export function predict(
  metadata: MetadataTree,
  namespace: string,
  configured: Group[],
  random: bigint,
  attempts: number,
): Prediction {
  const override = readOverride(metadata, namespace);
  const prediction: Prediction = { clusters: [], overrideInvalid: override === "invalid" ? 1 : 0, groupInvalid: 0 };
  for (let index = 0; index < attempts; index++) {
    const own = atIndex(configured, index);
    const chosen = Array.isArray(override) ? resolve(atIndex(override, index)(), configured) : own;
    // A group that repeats is counted once.
    if (chosen === undefined && (!Array.isArray(override) || index < override.length)) prediction.groupInvalid += 1;
    prediction.clusters.push(weightedPick(chosen ?? own, random));
  }
  return prediction;
}

/** The groups, unread so far: only those of attempts that are made are looked at. */
type Override = (() => OverrideGroup)[] | "invalid" | "absent";

function readOverride({ typed, untyped }: MetadataTree, namespace: string): Override {
  const any = typed.get(namespace);
  if (any !== undefined) return readTyped(any);
  const fields = untyped.get(namespace);
  if (fields === undefined) return "absent";
  const list = fields.get("priority_groups");
  if (list?.kind !== "list" || list.items.length === 0) return "invalid";
  return list.items.map((item) => () => readUntypedGroup(item));
}

function atIndex<T>(list: T[], index: number): T {
  const item = list[Math.min(index, list.length - 1)];
  if (item === undefined) throw new Error("an empty list has no group");
  return item;
}

function resolve(group: OverrideGroup, configured: Group[]): Group | undefined {
  if (group?.clusters !== undefined) return { name: group.name, clusters: group.clusters };
  return configured.find(({ name }) => name === group?.name);
}

function weightedPick(group: Group, random: bigint): string {
  const total = group.clusters.reduce((sum, { weight }) => sum + BigInt(weight), 0n);
  let rest = random % total;
  for (const { name, weight } of group.clusters) {
    if (rest < BigInt(weight)) return name;
    rest -= BigInt(weight);
  }
  throw new Error("a random value past the last interval");
}

function readUntypedGroup(value: Value): OverrideGroup {
  if (value.kind !== "struct") return undefined;
  const name = text(value.fields.get("name"));
  const clusters = value.fields.get("clusters");
  if (name === undefined) return undefined;
  if (clusters === undefined) return { name, clusters: undefined };
  if (clusters.kind !== "list") return undefined;
  if (clusters.items.length === 0) return { name, clusters: undefined };
  const read = clusters.items.map(readUntypedCluster);
  return read.includes(undefined) ? undefined : { name, clusters: read as Cluster[] };
}

function readUntypedCluster(value: Value): Cluster | undefined {
  if (value.kind !== "struct") return undefined;
  const name = text(value.fields.get("cluster_name"));
  const weight = value.fields.get("weight");
  if (name === undefined || weight?.kind !== "number") return undefined;
  if (!(weight.value >= 1 && weight.value <= MAX_WEIGHT)) return undefined;
  return { name, weight: Math.trunc(weight.value) };
}

function text(value: Value | undefined): string | undefined {
  return value?.kind === "string" && value.value !== "" ? value.value : undefined;
}

function readTyped(any: AnyValue): Override {
  const slash = any.typeUrl.lastIndexOf("/");
  if (slash < 0 || any.typeUrl.slice(slash + 1) !== TYPE_NAME) return "invalid";
  const groups = messages(any.value, 1)?.map(readTypedGroup);
  if (groups === undefined || groups.length === 0 || groups.includes("malformed")) return "invalid";
  return groups.map((group) => () => (group === "malformed" ? undefined : group));
}

// A message that does not parse anywhere is not used anywhere.
function readTypedGroup(bytes: Buffer): OverrideGroup | "malformed" {
  const name = utf8Text(bytes, 1);
  const clusters = messages(bytes, 2)?.map(readTypedCluster);
  if (name === undefined || clusters === undefined || clusters.includes("malformed")) return "malformed";
  if (name === "" || clusters.includes(undefined)) return undefined;
  return { name, clusters: clusters.length === 0 ? undefined : (clusters as Cluster[]) };
}

function readTypedCluster(bytes: Buffer): Cluster | undefined | "malformed" {
  const name = utf8Text(bytes, 1);
  // A google.protobuf.UInt32Value, merged where it comes twice.
  const wrappers = messages(bytes, 2)?.map((wrapper) => readFields(wrapper));
  if (name === undefined || wrappers === undefined || wrappers.includes(undefined)) return "malformed";
  const values = (wrappers as WireField[][]).flat().filter((field) => field.number === 1 && field.wire === VARINT);
  const weight = Number(BigInt.asUintN(32, values[values.length - 1]?.varint ?? 0n));
  return name === "" || weight === 0 ? undefined : { name, weight };
}

function messages(bytes: Buffer, number: number): Buffer[] | undefined {
  const fields = readFields(bytes)?.filter((field) => field.number === number && field.wire === BYTES);
  return fields?.map((field) => field.bytes);
}

/** The last value of a string field; undefined where any is no UTF-8, which is a parse failure. */
function utf8Text(bytes: Buffer, number: number): string | undefined {
  const values = messages(bytes, number);
  if (values === undefined || !values.every(isUtf8)) return undefined;
  return values[values.length - 1]?.toString("latin1") ?? "";
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
