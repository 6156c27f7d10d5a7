// The per-request override of a chain, read in place from the request's dynamic metadata.
// Specification: priority groups, "Per-request groups" and the last paragraph of "Per-request fallback chain".

import { Bytes, View, encode } from "../bytes";
import { Cursor, Wire } from "../wire/cursor";
import { MetadataField, findNamespace } from "../wire/metadata";
import { isUtf8 } from "../wire/utf8";
import { ValueKind, ValueView, readField } from "../wire/value-view";
import { groupIndex } from "./attempt";

const TYPE_NAME = encode("envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupsOverride");
const PRIORITY_GROUPS = encode("priority_groups");
const NAME = encode("name");
const CLUSTERS = encode("clusters");
const CLUSTER_NAME = encode("cluster_name");
const WEIGHT = encode("weight");
const SLASH: u8 = 0x2f;

const value = new ValueView();
const bytes = new View();
const part = new View();

/** The list of overriding groups that a request carries, if it carries one. Refers to the metadata it was read from. */
@final
export class Override {
  /** Number of groups; 0 where there is no override. */
  length: i32 = 0;
  /** Why a value that is there is no override; "" where there is none, or where it is one. */
  problem: string = "";

  private typed: bool = false;
  private list: View = new View();

  /**
   * Reads the override in `namespace` of a serialized `Metadata` message. Typed metadata decides by its presence alone:
   * where it is there, untyped metadata is not looked at.
   */
  read(metadata: View, namespace: Bytes): void {
    this.length = 0;
    this.problem = "";
    this.typed = findNamespace(metadata, MetadataField.TYPED_FILTER_METADATA, namespace, bytes);
    if (this.typed) this.readTyped();
    else if (findNamespace(metadata, MetadataField.FILTER_METADATA, namespace, bytes)) this.readUntyped();
  }

  /** The group of an attempt (1, 2, …), valid or not. There must be one. */
  groupOf(attempt: u32, out: OverrideGroup): void {
    const index = groupIndex(attempt, this.length);
    const list = this.list;
    const elements = new Cursor(list.ptr, list.ptr + <usize>list.length);
    for (let i = 0; i <= index && elements.next(); ) {
      if (!elements.isBytes(1)) continue;
      if (i++ == index) out.read(elements.ptr, elements.length, this.typed);
    }
  }

  private readTyped(): void {
    if (!unpackAny(bytes, part)) this.problem = "the typed value is no PriorityGroupsOverride";
    else if (!isOverrideMessage(part)) this.problem = "the typed value cannot be parsed";
    else this.take(part);
  }

  private readUntyped(): void {
    readField(bytes, PRIORITY_GROUPS, value);
    if (value.kind != ValueKind.LIST) this.problem = "priority_groups is no list";
    else this.take(value.bytes);
  }

  // Both a ListValue and a PriorityGroupsOverride hold their elements in field 1.
  private take(list: View): void {
    const elements = new Cursor(list.ptr, list.ptr + <usize>list.length);
    let count = 0;
    while (elements.next()) count += <i32>elements.isBytes(1);
    if (elements.malformed) count = 0;
    if (count == 0) this.problem = "priority_groups is empty";
    this.length = count;
    this.list.set(list.ptr, list.length);
  }
}

/** One overriding group. */
@final
export class OverrideGroup {
  /** Why the group cannot be used; "" where it can. */
  problem: string = "";
  name: View = new View();
  /** The group brings its own clusters; else its name selects a configured group. */
  hasClusters: bool = false;

  private typed: bool = false;
  /** Holds the clusters: the group message of a typed group, the ListValue of an untyped one. */
  private holder: View = new View();
  private total: u64 = 0;

  read(ptr: usize, length: i32, typed: bool): void {
    this.typed = typed;
    this.problem = "";
    this.hasClusters = false;
    if (typed) this.readTyped(ptr, length);
    else this.readUntyped(ptr, length);
    if (this.problem.length == 0) this.addWeights();
  }

  /** The cluster that the random value falls on; the group is valid and has clusters. */
  pick(random: u64, out: View): void {
    let rest = random % this.total;
    const clusters = this.clusters();
    while (clusters.next()) {
      if (rest < clusters.weight) break;
      rest -= clusters.weight;
    }
    out.set(clusters.name.ptr, clusters.name.length);
  }

  private readTyped(ptr: usize, length: i32): void {
    this.name.set(0, 0);
    this.holder.set(ptr, length);
    const field = new Cursor(ptr, ptr + <usize>length);
    while (field.next()) {
      if (field.isBytes(1)) this.name.set(field.ptr, field.length);
      else if (field.isBytes(2)) this.hasClusters = true;
    }
    if (this.name.length == 0) this.problem = "the group has no name";
  }

  private readUntyped(ptr: usize, length: i32): void {
    value.read(ptr, length);
    if (value.kind != ValueKind.STRUCT) {
      this.problem = "the group is no object";
      return;
    }
    bytes.set(value.bytes.ptr, value.bytes.length);
    readField(bytes, NAME, value);
    if (!value.isText()) this.problem = "the group has no name";
    this.name.set(value.bytes.ptr, value.bytes.length);
    readField(bytes, CLUSTERS, value);
    if (value.kind == ValueKind.NONE) return;
    if (value.kind != ValueKind.LIST) this.problem = "clusters is no list";
    this.holder.set(value.bytes.ptr, value.bytes.length);
    this.hasClusters = value.bytes.length > 0;
  }

  private addWeights(): void {
    this.total = 0;
    if (!this.hasClusters) return;
    const clusters = this.clusters();
    while (clusters.next()) {
      if (clusters.name.length == 0) this.problem = "a cluster has no cluster_name";
      else if (clusters.weight == 0) this.problem = "the weight of a cluster is no number from 1 to 4294967295";
      this.total += clusters.weight;
    }
  }

  private clusters(): ClusterReader {
    return new ClusterReader(this.holder, this.typed);
  }
}

/** Steps through the clusters of an overriding group. An invalid one has an empty name, or weight 0. */
@final
class ClusterReader {
  name: View = new View();
  weight: u64 = 0;

  private elements: Cursor;
  private field: u32;

  constructor(
    holder: View,
    private typed: bool,
  ) {
    this.elements = new Cursor(holder.ptr, holder.ptr + <usize>holder.length);
    this.field = typed ? 2 : 1;
  }

  next(): bool {
    const elements = this.elements;
    while (elements.next()) {
      if (!elements.isBytes(this.field)) continue;
      this.name.set(0, 0);
      this.weight = 0;
      if (this.typed) this.readTyped(elements.ptr, elements.length);
      else this.readUntyped(elements.ptr, elements.length);
      return true;
    }
    return false;
  }

  private readTyped(ptr: usize, length: i32): void {
    const field = new Cursor(ptr, ptr + <usize>length);
    while (field.next()) {
      if (field.isBytes(1)) this.name.set(field.ptr, field.length);
      else if (field.isBytes(2)) this.readWrapper(field.ptr, field.length);
    }
  }

  // A google.protobuf.UInt32Value; a field that comes twice is merged.
  private readWrapper(ptr: usize, length: i32): void {
    const field = new Cursor(ptr, ptr + <usize>length);
    while (field.next()) {
      if (field.field == 1 && field.wire == Wire.VARINT) this.weight = <u32>field.number;
    }
  }

  private readUntyped(ptr: usize, length: i32): void {
    value.read(ptr, length);
    if (value.kind != ValueKind.STRUCT) return;
    part.set(value.bytes.ptr, value.bytes.length);
    readField(part, CLUSTER_NAME, value);
    if (value.isText()) this.name.set(value.bytes.ptr, value.bytes.length);
    readField(part, WEIGHT, value);
    // The comparison is false for NaN; a fraction is cut off.
    const inRange = value.kind == ValueKind.NUMBER && value.number >= 1 && value.number <= <f64>u32.MAX_VALUE;
    if (inRange) this.weight = <u64>value.number;
  }
}

// Sets `out` to the message inside a serialized google.protobuf.Any of the override's type.
function unpackAny(any: View, out: View): bool {
  const type = new View();
  out.set(0, 0);
  const field = new Cursor(any.ptr, any.ptr + <usize>any.length);
  while (field.next()) {
    if (field.isBytes(1)) type.set(field.ptr, field.length);
    else if (field.isBytes(2)) out.set(field.ptr, field.length);
  }
  if (field.malformed) return false;
  let slash = type.length - 1;
  while (slash >= 0 && type.at(slash) != SLASH) slash--;
  if (slash < 0) return false;
  type.set(type.ptr + <usize>(slash + 1), type.length - slash - 1);
  return type.equals(TYPE_NAME);
}

// Whether the bytes parse as a PriorityGroupsOverride. A message that does not parse anywhere is not used anywhere.
function isOverrideMessage(message: View): bool {
  const groups = new Cursor(message.ptr, message.ptr + <usize>message.length);
  while (groups.next()) {
    if (groups.isBytes(1) && !isNamed(groups, true)) return false;
  }
  return !groups.malformed;
}

// A group (name and clusters) and a cluster (name and weight) both have their name in field 1 and messages in field 2.
function isNamed(message: Cursor, isGroup: bool): bool {
  const text = new View();
  const field = new Cursor(message.ptr, message.ptr + <usize>message.length);
  while (field.next()) {
    text.set(field.ptr, field.length);
    if (field.isBytes(1) && !isUtf8(text)) return false;
    if (field.isBytes(2) && !(isGroup ? isNamed(field, false) : isWellFormed(field))) return false;
  }
  return !field.malformed;
}

function isWellFormed(message: Cursor): bool {
  const field = new Cursor(message.ptr, message.ptr + <usize>message.length);
  while (field.next()) {}
  return !field.malformed;
}
