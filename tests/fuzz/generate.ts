// Metadata that is nearly an override: legal shapes, and everything that stands where something else belongs.

import { encodeTree, encodeValue, entry, type MetadataTree, type Value } from "./metadata-tree.js";
import type { Random } from "./random.js";
import { BYTES, END_GROUP, START_GROUP, bytesField, doubleField, tag, textField, varint, varintField } from "./wire.js";

export const NAMESPACE = "envoy.my_filter";
const TYPE = "envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupsOverride";
const KNOWN_NAMES = ["g1", "g2", "g3"];

const TYPE_URLS = [
  `type.googleapis.com/${TYPE}`,
  `type.googleapis.com/${TYPE}`,
  `/${TYPE}`,
  `a/b/${TYPE}`,
  TYPE,
  `type.googleapis.com/${TYPE}s`,
  `type.googleapis.com/${TYPE.slice(1)}`,
  `type.googleapis.com/${TYPE}/`,
  "type.googleapis.com/google.protobuf.StringValue",
  "type.googleapis.com/",
  "/",
  "",
];

const WEIGHTS = [
  1,
  2,
  3,
  80,
  1.9,
  2.9,
  4294967295,
  4294967294.5,
  4294967295.5,
  4294967296,
  0,
  -0,
  0.5,
  0.999999,
  -1,
  1e300,
  5e-324,
  NaN,
  Infinity,
  -Infinity,
  2147483648,
  9007199254740993,
];

/** Any metadata of the kind that filters write, often with an override, often a broken one. */
export function generate(random: Random): Buffer {
  const tree: MetadataTree = { untyped: new Map(), typed: new Map() };
  const others = random.below(3);
  for (let i = 0; i < others; i++) tree.untyped.set(`other.${i}`, new Map([["key", anyValue(random, 3)]]));
  if (random.chance(0.8)) tree.untyped.set(namespace(random), untyped(random));
  if (random.chance(0.4)) tree.typed.set(namespace(random), typed(random));
  return encodeTree(tree);
}

/** An input of an extreme size or nesting, and the one cluster that all attempts go to; absent: the configured chain. */
export interface Extreme {
  name: string;
  bytes: Buffer;
  cluster?: string;
}

/** Few, since each costs what thousands of others do. The configured group g2 holds cluster c alone. */
export function extremes(): Extreme[] {
  const group = (name: string) => encodeValue(struct([["name", string(name)]]));
  const cluster = encodeValue(
    struct([
      ["cluster_name", string("x")],
      ["weight", { kind: "number", value: 1 }],
    ]),
  );
  const inNamespace = (list: Buffer) => entry(1, NAMESPACE, entry(1, "priority_groups", bytesField(6, list)));
  const inTyped = (message: Buffer) =>
    entry(2, NAMESPACE, Buffer.concat([textField(1, TYPE_URLS[0] ?? ""), bytesField(2, message)]));
  const ofClusters = (count: number) =>
    Buffer.concat([
      entry(1, "name", textField(3, "x")),
      entry(1, "clusters", bytesField(6, repeat(bytesField(1, cluster), count))),
    ]);
  return [
    { name: "1,000,000 groups", bytes: inNamespace(repeat(bytesField(1, group("g2")), 1_000_000)), cluster: "c" },
    { name: "1,000,000 empty elements", bytes: inNamespace(repeat(bytesField(1, Buffer.alloc(0)), 1_000_000)) },
    {
      name: "a group of 200,000 clusters",
      bytes: inNamespace(bytesField(1, bytesField(5, ofClusters(200_000)))),
      cluster: "x",
    },
    {
      name: "1,000,000 typed groups",
      bytes: inTyped(repeat(bytesField(1, textField(1, "g2")), 1_000_000)),
      cluster: "c",
    },
    { name: "1,000,000 namespaces", bytes: repeat(entry(1, "n", Buffer.alloc(0)), 1_000_000) },
    { name: "a name of 1 MiB", bytes: inNamespace(bytesField(1, group("g".repeat(2 ** 20)))) },
    { name: "a foreign value of 1 MiB", bytes: entry(1, "other", entry(1, "key", textField(3, "v".repeat(2 ** 20)))) },
    { name: "a value nested 1,000 deep", bytes: inNamespace(bytesField(1, nested(1000))) },
    { name: "a value nested 100,000 deep", bytes: inNamespace(bytesField(1, nested(100_000))) },
    { name: "foreign metadata nested 100,000 deep", bytes: entry(1, "other", entry(1, "key", nested(100_000))) },
    { name: "typed groups nested 100,000 deep", bytes: inTyped(groups(100_000)) },
    { name: "groups nested 100,000 deep", bytes: groups(100_000) },
    { name: "1,000,000 tags of groups that never end", bytes: Buffer.alloc(1_000_000, tag(5, START_GROUP)) },
  ];
}

/** Fields that a parser skips, or that it must not take for what it looks for. */
export function oddField(random: Random): Buffer {
  const number = random.pick([1, 2, 3, 5, 6, 15, 16, 536870911]);
  return random.pick<() => Buffer>([
    () => varintField(number, random.bits()),
    () => varintField(number, 2n ** 64n - 1n),
    () => doubleField(number, 1),
    () => Buffer.concat([tag(number, 5), random.bytes(4)]),
    () => bytesField(number, random.bytes(random.below(6))),
    () => Buffer.concat([tag(number, START_GROUP), varintField(1, 1), tag(number, END_GROUP)]),
    () => Buffer.concat([tag(number, START_GROUP), tag(number + 1, END_GROUP)]),
    () => tag(number, END_GROUP),
    () => tag(number, 6),
    () => Buffer.concat([tag(number, BYTES), varint(2 ** 31)]),
    () => Buffer.concat([tag(number, BYTES), Buffer.alloc(9, 0xff), Buffer.of(1)]),
    () => Buffer.concat([tag(number, 0), Buffer.alloc(11, 0xff)]),
    () => Buffer.of(0),
  ])();
}

function namespace(random: Random): string {
  return random.pick([NAMESPACE, NAMESPACE, NAMESPACE, NAMESPACE, NAMESPACE, "envoy.my_filte", `${NAMESPACE}2`, ""]);
}

function untyped(random: Random): Map<string, Value> {
  const fields = new Map<string, Value>();
  if (random.chance(0.2)) fields.set("other", anyValue(random, 2));
  const groups = Array.from({ length: random.below(5) }, () => untypedGroup(random));
  const key = random.chance(0.95) ? "priority_groups" : random.pick(["priorityGroups", "priority_group", ""]);
  fields.set(key, random.chance(0.93) ? { kind: "list", items: groups } : anyValue(random, 2));
  return fields;
}

function untypedGroup(random: Random): Value {
  if (random.chance(0.04)) return anyValue(random, 2);
  const fields: [string, Value][] = [];
  if (random.chance(0.95)) fields.push(["name", random.chance(0.95) ? string(groupName(random)) : anyValue(random, 1)]);
  if (random.chance(0.5)) {
    const clusters = Array.from({ length: random.below(4) }, () => untypedCluster(random));
    fields.push(["clusters", random.chance(0.94) ? { kind: "list", items: clusters } : anyValue(random, 2)]);
  }
  if (random.chance(0.1)) fields.push(["unknown", anyValue(random, 2)]);
  return struct(random.chance(0.5) ? fields : fields.reverse());
}

function untypedCluster(random: Random): Value {
  if (random.chance(0.02)) return anyValue(random, 2);
  const fields: [string, Value][] = [];
  const name = random.chance(0.97) ? string(clusterName(random)) : anyValue(random, 1);
  if (random.chance(0.98)) fields.push([random.chance(0.97) ? "cluster_name" : "clusterName", name]);
  const number: Value = { kind: "number", value: random.chance(0.7) ? 1 + random.below(5) : random.pick(WEIGHTS) };
  if (random.chance(0.97)) fields.push(["weight", random.chance(0.97) ? number : anyValue(random, 1)]);
  return struct(random.chance(0.5) ? fields : fields.reverse());
}

function typed(random: Random): { typeUrl: string; value: Buffer } {
  const groups = Array.from({ length: random.below(5) }, () => bytesField(1, typedGroup(random)));
  const odd = random.chance(0.1) ? [oddField(random)] : [];
  return { typeUrl: random.pick(TYPE_URLS), value: Buffer.concat([...groups, ...odd]) };
}

function typedGroup(random: Random): Buffer {
  const parts: Buffer[] = [];
  if (random.chance(0.95)) parts.push(textField(1, groupName(random)));
  if (random.chance(0.05)) parts.push(textField(1, groupName(random)));
  const clusters = random.chance(0.5) ? random.below(4) : 0;
  for (let i = 0; i < clusters; i++) parts.push(bytesField(2, typedCluster(random)));
  if (random.chance(0.05)) parts.push(oddField(random));
  return Buffer.concat(parts);
}

function typedCluster(random: Random): Buffer {
  const parts = [textField(1, clusterName(random))];
  const weight = random.chance(0.7) ? 1 + random.below(5) : random.pick([0, 1, 4294967295, 4294967296, 2n ** 64n - 1n]);
  if (random.chance(0.97)) parts.push(bytesField(2, varintField(1, weight)));
  if (random.chance(0.05)) parts.push(bytesField(2, random.chance(0.5) ? Buffer.alloc(0) : varintField(1, 7)));
  if (random.chance(0.04)) parts.push(oddField(random));
  return Buffer.concat(parts);
}

function groupName(random: Random): string {
  return random.chance(0.85)
    ? random.pick(KNOWN_NAMES)
    : random.pick(["zz", "", "G1", "g1 ", "g", "\xc3\xa9", "\xff\xfe"]);
}

function clusterName(random: Random): string {
  return random.chance(0.9)
    ? random.pick(["a", "b", "c", "d", "e", "x", "y"])
    : random.pick(["", "\xc3\xa9", "\xc3", "\xed\xa0\x80", "with\0nul"]);
}

function anyValue(random: Random, depth: number): Value {
  const scalars: Value[] = [
    { kind: "none" },
    { kind: "null" },
    { kind: "number", value: random.pick(WEIGHTS) },
    { kind: "bool", value: random.chance(0.5) },
    string(random.pick(["", "g2", "text"])),
  ];
  if (depth === 0 || random.chance(0.6)) return random.pick(scalars);
  const items = Array.from({ length: random.below(3) }, () => anyValue(random, depth - 1));
  if (random.chance(0.5)) return { kind: "list", items };
  const names = ["name", "clusters", "cluster_name", "weight", "priority_groups"];
  return struct(items.map((item) => [random.pick(names), item]));
}

function string(value: string): Value {
  return { kind: "string", value };
}

function struct(fields: [string, Value][]): Value {
  return { kind: "struct", fields: new Map(fields) };
}

function repeat(bytes: Buffer, count: number): Buffer {
  return Buffer.alloc(bytes.length * count, bytes);
}

/** A value of lists in lists, written from the inside out. */
function nested(depth: number): Buffer {
  const heads: Buffer[] = [];
  let length = 0;
  for (let i = 0; i < depth; i++) {
    for (const number of [1, 6]) {
      const head = Buffer.concat([tag(number, BYTES), varint(length)]);
      heads.push(head);
      length += head.length;
    }
  }
  return Buffer.concat(heads.reverse());
}

function groups(depth: number): Buffer {
  return Buffer.concat([Buffer.alloc(depth, tag(5, START_GROUP)), Buffer.alloc(depth, tag(5, END_GROUP))]);
}
