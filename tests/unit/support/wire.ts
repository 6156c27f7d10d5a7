// Writers of protobuf wire format for tests, independent of the readers under test.

import { View } from "../../../assembly/bytes";

export function view(bytes: Uint8Array): View {
  const result = new View();
  result.set(bytes.dataStart, bytes.length);
  return result;
}

export function field(number: u32, payload: Uint8Array): Uint8Array {
  return join([varint((number << 3) | 2), varint(payload.length), payload]);
}

export function varint(value: u64): Uint8Array {
  const bytes: u8[] = [];
  while (value >= 0x80) {
    bytes.push((<u8>(value & 0x7f)) | 0x80);
    value >>= 7;
  }
  bytes.push(<u8>value);
  const result = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) result[i] = bytes[i];
  return result;
}

export function join(parts: Uint8Array[]): Uint8Array {
  let length = 0;
  for (let i = 0; i < parts.length; i++) length += parts[i].length;
  const result = new Uint8Array(length);
  let offset = 0;
  for (let i = 0; i < parts.length; i++) {
    result.set(parts[i], offset);
    offset += parts[i].length;
  }
  return result;
}

export function text(value: string): Uint8Array {
  return Uint8Array.wrap(String.UTF8.encode(value));
}

export function entry(key: string, value: Uint8Array): Uint8Array {
  return field(1, join([field(1, text(key)), field(2, value)]));
}

export function stringValue(value: string): Uint8Array {
  return field(3, text(value));
}

/** A `google.protobuf.Value` with a number. */
export function numberValue(value: f64): Uint8Array {
  const payload = new Uint8Array(8);
  store<f64>(payload.dataStart, value);
  return join([varint((2 << 3) | 1), payload]);
}

/** A `google.protobuf.Value` with a bool. */
export function boolValue(value: bool): Uint8Array {
  return join([varint(4 << 3), varint(value ? 1 : 0)]);
}

/** A `google.protobuf.Value` with a struct whose fields are written by `entry`. */
export function structValue(fields: Uint8Array[]): Uint8Array {
  return field(5, join(fields));
}

/** A `google.protobuf.Value` with a list. */
export function listValue(elements: Uint8Array[]): Uint8Array {
  const items = new Array<Uint8Array>();
  for (let i = 0; i < elements.length; i++) items.push(field(1, elements[i]));
  return field(6, join(items));
}
