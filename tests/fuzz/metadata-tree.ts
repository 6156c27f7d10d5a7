// `envoy.config.core.v3.Metadata` as plain objects, read and written as Envoy does: it hands a module the message that it
// parsed, written anew. Keys and texts are latin1, so that bytes which are no UTF-8 survive.

import { bytesField, doubleField, readFields, textField, varintField, type WireField, BYTES } from "./wire.js";

/** A google.protobuf.Value; `none` has no kind at all. */
export type Value =
  | { kind: "none" | "null" }
  | { kind: "number"; value: number }
  | { kind: "string"; value: string }
  | { kind: "bool"; value: boolean }
  | { kind: "struct"; fields: Map<string, Value> }
  | { kind: "list"; items: Value[] };

export interface AnyValue {
  typeUrl: string;
  value: Buffer;
}

export interface MetadataTree {
  untyped: Map<string, Map<string, Value>>;
  typed: Map<string, AnyValue>;
}

/** Nesting of messages that Envoy's parser follows. */
const MAX_DEPTH = 100;

class Malformed extends Error {}

/** The tree of a serialized message, or undefined where the bytes do not parse. */
export function decodeTree(bytes: Buffer): MetadataTree | undefined {
  const tree: MetadataTree = { untyped: new Map(), typed: new Map() };
  try {
    for (const field of fieldsOf(bytes)) {
      if (field.wire !== BYTES) continue;
      if (field.number === 1) addEntry(tree.untyped, field.bytes, (value) => readStruct(value, 2));
      if (field.number === 2) addEntry(tree.typed, field.bytes, readAny);
    }
    return tree;
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

/** The bytes that Envoy writes for a tree. */
export function encodeTree(tree: MetadataTree): Buffer {
  const untyped = [...tree.untyped].map(([key, fields]) => entry(1, key, encodeStruct(fields)));
  const typed = [...tree.typed].map(([key, any]) => entry(2, key, encodeAny(any)));
  return Buffer.concat([...untyped, ...typed]);
}

export function encodeAny(any: AnyValue): Buffer {
  return Buffer.concat([textField(1, any.typeUrl), bytesField(2, any.value)]);
}

export function encodeStruct(fields: ReadonlyMap<string, Value>): Buffer {
  return Buffer.concat([...fields].map(([key, value]) => entry(1, key, encodeValue(value))));
}

export function encodeValue(value: Value): Buffer {
  switch (value.kind) {
    case "none":
      return Buffer.alloc(0);
    case "null":
      return varintField(1, 0);
    case "number":
      return doubleField(2, value.value);
    case "string":
      return textField(3, value.value);
    case "bool":
      return varintField(4, value.value ? 1 : 0);
    case "struct":
      return bytesField(5, encodeStruct(value.fields));
    case "list":
      return bytesField(6, Buffer.concat(value.items.map((item) => bytesField(1, encodeValue(item)))));
  }
}

export function entry(number: number, key: string, value: Uint8Array): Buffer {
  return bytesField(number, Buffer.concat([textField(1, key), bytesField(2, value)]));
}

function fieldsOf(bytes: Buffer): WireField[] {
  const fields = readFields(bytes);
  if (fields === undefined) throw new Malformed();
  return fields;
}

/** The payloads of one message field, concatenated: that is how protobuf merges a field which comes twice. */
function merged(fields: WireField[], number: number): Buffer {
  const parts = fields.filter((field) => field.number === number && field.wire === BYTES);
  return Buffer.concat(parts.map((field) => field.bytes));
}

function lastText(fields: WireField[], number: number): string {
  return fields.findLast((field) => field.number === number && field.wire === BYTES)?.bytes.toString("latin1") ?? "";
}

function addEntry<T>(map: Map<string, T>, bytes: Buffer, read: (value: Buffer) => T): void {
  const fields = fieldsOf(bytes);
  map.set(lastText(fields, 1), read(merged(fields, 2)));
}

function readAny(bytes: Buffer): AnyValue {
  const fields = fieldsOf(bytes);
  const value = fields.findLast((field) => field.number === 2 && field.wire === BYTES)?.bytes;
  return { typeUrl: lastText(fields, 1), value: value ?? Buffer.alloc(0) };
}

function readStruct(bytes: Buffer, depth: number): Map<string, Value> {
  if (depth > MAX_DEPTH) throw new Malformed();
  const fields = new Map<string, Value>();
  for (const field of fieldsOf(bytes)) {
    if (field.number === 1 && field.wire === BYTES) {
      addEntry(fields, field.bytes, (value) => readValue(value, depth + 2));
    }
  }
  return fields;
}

function readValue(bytes: Buffer, depth: number): Value {
  if (depth > MAX_DEPTH) throw new Malformed();
  let value: Value = { kind: "none" };
  let message: Buffer = Buffer.alloc(0);
  for (const field of fieldsOf(bytes)) {
    const expected = KIND_WIRES[field.number];
    if (expected === undefined || expected !== field.wire) continue;
    // A message that comes again is merged, unless another kind came in between.
    const again = (kind: Value["kind"]) => (value.kind === kind ? Buffer.concat([message, field.bytes]) : field.bytes);
    if (field.number === 5) {
      message = again("struct");
      value = { kind: "struct", fields: readStruct(message, depth + 1) };
    } else if (field.number === 6) {
      message = again("list");
      value = { kind: "list", items: readList(message, depth + 1) };
    } else value = readScalar(field);
  }
  return value;
}

const KIND_WIRES: Record<number, number> = { 1: 0, 2: 1, 3: 2, 4: 0, 5: 2, 6: 2 };

function readScalar({ number, varint, bytes }: WireField): Value {
  if (number === 1) return { kind: "null" };
  if (number === 2) return { kind: "number", value: bytes.readDoubleLE() };
  if (number === 3) return { kind: "string", value: bytes.toString("latin1") };
  return { kind: "bool", value: varint !== 0n };
}

function readList(bytes: Buffer, depth: number): Value[] {
  const items = fieldsOf(bytes).filter((field) => field.number === 1 && field.wire === BYTES);
  return items.map((field) => readValue(field.bytes, depth + 1));
}
