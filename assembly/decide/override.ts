// The per-request override of a chain, read in place from the request's dynamic metadata.
// Specification: priority groups, "Per-request groups" and the last paragraph of "Per-request fallback chain".

import { Bytes, View, encode } from "../bytes";
import { Cursor, Wire } from "../wire/cursor";
import { MetadataField, findNamespace } from "../wire/metadata";
import { readPair } from "../wire/pair";
import { isUtf8 } from "../wire/utf8";
import { ValueKind, ValueView, readField, readFields } from "../wire/value-view";
import { Choice } from "./choice";

const TYPE_NAME = encode("envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupsOverride");
const PRIORITY_GROUPS = encode("priority_groups");
const NAME = encode("name");
const CLUSTERS = encode("clusters");
const CLUSTER_NAME = encode("cluster_name");
const WEIGHT = encode("weight");
const SLASH: u8 = 0x2f;

const value = new ValueView();
const second = new ValueView();
const bytes = new View();
const part = new View();
const text = new View();
// One cursor for each depth of nesting: no reader goes back to an outer one before it has left the inner ones.
const outer = new Cursor();
const middle = new Cursor();
const inner = new Cursor();
const innermost = new Cursor();

/** No cluster has this name: what a slot leads to that names a cluster outside its list. */
export const UNKNOWN_CLUSTER = encode("attempt_router_unknown_cluster");
/** Bytes of the longest name of a cluster; a longer one is that of no cluster, and is not copied into slots. */
export const MAX_NAME = 1024;

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

  /** The group at `index` (0 to `length` - 1), valid or not. */
  groupAt(index: i32, out: OverrideGroup): void {
    outer.reset(this.list.ptr, this.list.length);
    for (let i = 0; outer.next(); ) {
      if (outer.isBytes(1) && i++ == index) return out.read(outer.ptr, outer.length, this.typed);
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
    outer.reset(list.ptr, list.length);
    let count = 0;
    while (outer.next()) count += <i32>outer.isBytes(1);
    if (outer.malformed) count = 0;
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

  private typed: bool = false;
  /** Holds the clusters: the group message of a typed group, the ListValue of an untyped one. */
  private holder: View = new View();
  clusters: Choice = new Choice();

  /** The group brings its own clusters; else its name selects a configured group. */
  get hasClusters(): bool {
    return this.clusters.names.length > 0;
  }

  read(ptr: usize, length: i32, typed: bool): void {
    this.typed = typed;
    this.problem = "";
    this.clusters.clear();
    if (typed) this.readTyped(ptr, length);
    else this.readUntyped(ptr, length);
    if (this.problem.length == 0) this.readClusters();
  }

  private readTyped(ptr: usize, length: i32): void {
    this.name.set(0, 0);
    this.holder.set(ptr, length);
    middle.reset(ptr, length);
    while (middle.next()) {
      if (middle.isBytes(1)) this.name.set(middle.ptr, middle.length);
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
    readFields(bytes, NAME, value, CLUSTERS, second);
    if (!value.isText()) this.problem = "the group has no name";
    this.name.set(value.bytes.ptr, value.bytes.length);
    this.holder.set(0, 0);
    if (second.kind == ValueKind.LIST) this.holder.set(second.bytes.ptr, second.bytes.length);
    else if (second.kind != ValueKind.ABSENT) this.problem = "clusters is no list";
  }

  private readClusters(): void {
    const clusters = clusterReader;
    clusters.reset(this.holder, this.typed);
    while (clusters.next()) {
      if (clusters.name.length == 0) this.problem = "a cluster has no cluster_name";
      else if (clusters.weight == 0) this.problem = "the weight of a cluster is no number from 1 to 4294967295";
      this.clusters.add(clusters.name.ptr, clusters.name.length, clusters.weight);
    }
    if (outer.malformed) this.problem = "clusters cannot be read";
  }
}

/** Steps through the clusters of an overriding group. An invalid one has an empty name, or weight 0. */
@final
class ClusterReader {
  name: View = new View();
  weight: u64 = 0;

  private typed: bool = false;

  reset(holder: View, typed: bool): void {
    this.typed = typed;
    outer.reset(holder.ptr, holder.length);
  }

  next(): bool {
    const field: u32 = this.typed ? 2 : 1;
    while (outer.next()) {
      if (!outer.isBytes(field)) continue;
      this.name.set(0, 0);
      this.weight = 0;
      if (this.typed) this.readTyped(outer.ptr, outer.length);
      else this.readUntyped(outer.ptr, outer.length);
      return true;
    }
    return false;
  }

  private readTyped(ptr: usize, length: i32): void {
    middle.reset(ptr, length);
    while (middle.next()) {
      if (middle.isBytes(1)) this.name.set(middle.ptr, middle.length);
      else if (middle.isBytes(2)) this.readWrapper(middle.ptr, middle.length);
    }
  }

  // A google.protobuf.UInt32Value; a field that comes twice is merged.
  private readWrapper(ptr: usize, length: i32): void {
    inner.reset(ptr, length);
    while (inner.next()) {
      if (inner.field == 1 && inner.wire == Wire.VARINT) this.weight = <u32>inner.number;
    }
  }

  private readUntyped(ptr: usize, length: i32): void {
    value.read(ptr, length);
    if (value.kind != ValueKind.STRUCT) return;
    part.set(value.bytes.ptr, value.bytes.length);
    readFields(part, CLUSTER_NAME, value, WEIGHT, second);
    if (value.isText()) this.name.set(value.bytes.ptr, value.bytes.length);
    // The comparison is false for NaN; a fraction is cut off.
    const inRange = second.kind == ValueKind.NUMBER && second.number >= 1 && second.number <= <f64>u32.MAX_VALUE;
    if (inRange) this.weight = <u64>second.number;
  }
}

const clusterReader = new ClusterReader();

// Sets `out` to the message inside a serialized google.protobuf.Any of the override's type.
function unpackAny(any: View, out: View): bool {
  if (!readPair(any.ptr, any.length, text, out)) return false;
  let slash = text.length - 1;
  while (slash >= 0 && text.at(slash) != SLASH) slash--;
  if (slash < 0) return false;
  text.set(text.ptr + <usize>(slash + 1), text.length - slash - 1);
  return text.equals(TYPE_NAME);
}

// Whether the bytes parse as a PriorityGroupsOverride. A message that does not parse anywhere is not used anywhere.
function isOverrideMessage(message: View): bool {
  outer.reset(message.ptr, message.length);
  while (outer.next()) {
    if (outer.isBytes(1) && !isGroupMessage()) return false;
  }
  return !outer.malformed;
}

function isGroupMessage(): bool {
  middle.reset(outer.ptr, outer.length);
  while (middle.next()) {
    if (middle.isBytes(1) && !isText(middle)) return false;
    if (middle.isBytes(2) && !isClusterMessage()) return false;
  }
  return !middle.malformed;
}

function isClusterMessage(): bool {
  inner.reset(middle.ptr, middle.length);
  while (inner.next()) {
    if (inner.isBytes(1) && !isText(inner)) return false;
    if (inner.isBytes(2) && !isWellFormed(inner)) return false;
  }
  return !inner.malformed;
}

function isText(field: Cursor): bool {
  text.set(field.ptr, field.length);
  return isUtf8(text);
}

function isWellFormed(message: Cursor): bool {
  innermost.reset(message.ptr, message.length);
  while (innermost.next()) {}
  return !innermost.malformed;
}
