import { Bytes, View } from "../bytes";
import { Cursor, Wire } from "./cursor";

/** Which member of a `google.protobuf.Value` is set, by field number. */
export namespace ValueKind {
  export const NONE: u32 = 0;
  export const NULL: u32 = 1;
  export const NUMBER: u32 = 2;
  export const STRING: u32 = 3;
  export const BOOL: u32 = 4;
  export const STRUCT: u32 = 5;
  export const LIST: u32 = 6;
}

/** A serialized `google.protobuf.Value`, read in place. */
@final
export class ValueView {
  kind: u32 = ValueKind.NONE;
  number: f64 = 0;
  /** The text of a string, or the serialized Struct or ListValue. */
  bytes: View = new View();

  /** Reads the value; NONE where the bytes are none. */
  read(ptr: usize, length: i32): void {
    this.kind = ValueKind.NONE;
    const field = new Cursor(ptr, ptr + <usize>length);
    while (field.next()) {
      if (!isMember(field)) continue;
      this.kind = field.field;
      if (field.wire == Wire.BYTES) this.bytes.set(field.ptr, field.length);
      else if (field.wire == Wire.FIXED_64) this.number = reinterpret<f64>(field.number);
    }
    if (field.malformed) this.kind = ValueKind.NONE;
  }

  isText(): bool {
    return this.kind == ValueKind.STRING && this.bytes.length > 0;
  }
}

function isMember(field: Cursor): bool {
  if (field.field == ValueKind.NULL || field.field == ValueKind.BOOL) return field.wire == Wire.VARINT;
  if (field.field == ValueKind.NUMBER) return field.wire == Wire.FIXED_64;
  return field.wire == Wire.BYTES && field.field >= ValueKind.STRING && field.field <= ValueKind.LIST;
}

/** Reads the field `name` of a serialized Struct into `out`; NONE where it is absent. */
export function readField(struct: View, name: Bytes, out: ValueView): void {
  out.kind = ValueKind.NONE;
  const fields = new Cursor(struct.ptr, struct.ptr + <usize>struct.length);
  const key = new View();
  while (fields.next()) {
    if (!fields.isBytes(1)) continue;
    let valuePtr: usize = 0;
    let valueLength = 0;
    key.set(0, 0);
    const entry = new Cursor(fields.ptr, fields.ptr + <usize>fields.length);
    while (entry.next()) {
      if (entry.isBytes(1)) key.set(entry.ptr, entry.length);
      else if (entry.isBytes(2)) {
        valuePtr = entry.ptr;
        valueLength = entry.length;
      }
    }
    if (!entry.malformed && key.equals(name)) out.read(valuePtr, valueLength);
  }
  if (fields.malformed) out.kind = ValueKind.NONE;
}
