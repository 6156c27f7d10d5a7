import { Bytes, View } from "../bytes";
import { Cursor, Wire } from "./cursor";
import { readPair } from "./pair";

/** Which member of a `google.protobuf.Value` is set, by field number. */
export namespace ValueKind {
  /** A value without kind, which is not the same as none. */
  export const UNSET: u32 = 0;
  export const NULL: u32 = 1;
  export const NUMBER: u32 = 2;
  export const STRING: u32 = 3;
  export const BOOL: u32 = 4;
  export const STRUCT: u32 = 5;
  export const LIST: u32 = 6;
  /** There is no value. */
  export const ABSENT: u32 = 7;
}

const fields = new Cursor();
const value = new View();
const members = new Cursor();
const key = new View();

/** A serialized `google.protobuf.Value`, read in place. */
@final
export class ValueView {
  kind: u32 = ValueKind.ABSENT;
  number: f64 = 0;
  flag: bool = false;
  /** The text of a string, or the serialized Struct or ListValue. */
  bytes: View = new View();

  /** Reads the value; UNSET where the bytes are none. */
  read(ptr: usize, length: i32): void {
    this.kind = ValueKind.UNSET;
    members.reset(ptr, length);
    while (members.next()) {
      if (!isMember(members)) continue;
      this.kind = members.field;
      if (members.wire == Wire.BYTES) this.bytes.set(members.ptr, members.length);
      else if (members.wire == Wire.FIXED_64) this.number = reinterpret<f64>(members.number);
      else this.flag = members.number != 0;
    }
    if (members.malformed) this.kind = ValueKind.UNSET;
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

/** Reads the field `name` of a serialized Struct into `out`; ABSENT where there is none. */
export function readField(struct: View, name: Bytes, out: ValueView): void {
  readFields(struct, name, out, name, out);
}

/** Reads two fields of a serialized Struct at once, as `readField` does one. */
export function readFields(struct: View, name: Bytes, out: ValueView, otherName: Bytes, other: ValueView): void {
  out.kind = ValueKind.ABSENT;
  other.kind = ValueKind.ABSENT;
  fields.reset(struct.ptr, struct.length);
  while (fields.next()) {
    if (!fields.isBytes(1) || !readPair(fields.ptr, fields.length, key, value)) continue;
    if (key.equals(name)) out.read(value.ptr, value.length);
    else if (key.equals(otherName)) other.read(value.ptr, value.length);
  }
  if (!fields.malformed) return;
  out.kind = ValueKind.ABSENT;
  other.kind = ValueKind.ABSENT;
}
