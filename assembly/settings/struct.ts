import { View } from "../bytes";
import { Cursor, Wire } from "../wire/cursor";
import { Kind, Value } from "./value";

/** Deepest nesting that is read: settings need a handful of levels, and recursion must end before the stack does. */
const MAX_DEPTH = 64;

/** The value tree of a serialized `google.protobuf.Struct`, or null where the bytes are none. */
export function readStruct(bytes: View): Value | null {
  return structAt(bytes.ptr, bytes.length, 0);
}

function structAt(ptr: usize, length: i32, depth: i32): Value | null {
  if (depth > MAX_DEPTH) return null;
  const struct = new Value(Kind.STRUCT);
  struct.names = [];
  struct.items = [];
  const fields = new Cursor(ptr, ptr + <usize>length);
  while (fields.next()) {
    if (!fields.isBytes(1)) continue;
    if (!addField(struct, fields.ptr, fields.length, depth)) return null;
  }
  return fields.malformed ? null : struct;
}

function addField(struct: Value, ptr: usize, length: i32, depth: i32): bool {
  const name = new View();
  let value: Value | null = new Value(Kind.NULL);
  const entry = new Cursor(ptr, ptr + <usize>length);
  while (entry.next()) {
    if (entry.isBytes(1)) name.set(entry.ptr, entry.length);
    else if (entry.isBytes(2)) value = valueAt(entry.ptr, entry.length, depth + 1);
    if (value == null) return false;
  }
  if (entry.malformed) return false;
  struct.names.push(name.copy());
  struct.items.push(value);
  return true;
}

function valueAt(ptr: usize, length: i32, depth: i32): Value | null {
  let value: Value | null = new Value(Kind.NULL);
  const field = new Cursor(ptr, ptr + <usize>length);
  // Of a oneof that is set more than once the last one counts.
  while (value != null && field.next()) value = oneof(field, value, depth);
  return field.malformed ? null : value;
}

function oneof(field: Cursor, before: Value, depth: i32): Value | null {
  if (field.field == 1 && field.wire == Wire.VARINT) return new Value(Kind.NULL);
  if (field.field == 2 && field.wire == Wire.FIXED_64) {
    const value = new Value(Kind.NUMBER);
    value.number = reinterpret<f64>(field.number);
    return value;
  }
  if (field.isBytes(3)) {
    const value = new Value(Kind.STRING);
    const text = new View();
    text.set(field.ptr, field.length);
    value.text = text.copy();
    return value;
  }
  if (field.field == 4 && field.wire == Wire.VARINT) {
    const value = new Value(Kind.BOOL);
    value.flag = field.number != 0;
    return value;
  }
  if (field.isBytes(5)) return structAt(field.ptr, field.length, depth);
  if (field.isBytes(6)) return listAt(field.ptr, field.length, depth);
  return before;
}

function listAt(ptr: usize, length: i32, depth: i32): Value | null {
  if (depth > MAX_DEPTH) return null;
  const list = new Value(Kind.LIST);
  list.items = [];
  const elements = new Cursor(ptr, ptr + <usize>length);
  while (elements.next()) {
    if (!elements.isBytes(1)) continue;
    const element = valueAt(elements.ptr, elements.length, depth + 1);
    if (element == null) return null;
    list.items.push(element);
  }
  return elements.malformed ? null : list;
}
