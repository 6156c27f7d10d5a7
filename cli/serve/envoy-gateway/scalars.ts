// Single values of protobuf in their JSON form: 64-bit integers are texts, bytes are base64.

import { ScalarType } from "@bufbuild/protobuf";
import { WireType, type BinaryReader, type BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Json } from "../../yaml/scalar.js";

interface Scalar {
  wire: WireType;
  read(reader: BinaryReader): Json;
  write(writer: BinaryWriter, value: Json): unknown;
}

const { Varint, Bit32, Bit64, LengthDelimited } = WireType;

const SCALARS: Record<ScalarType, Scalar> = {
  [ScalarType.DOUBLE]: { wire: Bit64, read: (r) => float(r.double()), write: (w, v) => w.double(Number(v)) },
  [ScalarType.FLOAT]: { wire: Bit32, read: (r) => float(r.float()), write: (w, v) => w.float(Number(v)) },
  [ScalarType.INT64]: { wire: Varint, read: (r) => String(r.int64()), write: (w, v) => w.int64(text(v)) },
  [ScalarType.UINT64]: { wire: Varint, read: (r) => String(r.uint64()), write: (w, v) => w.uint64(text(v)) },
  [ScalarType.SINT64]: { wire: Varint, read: (r) => String(r.sint64()), write: (w, v) => w.sint64(text(v)) },
  [ScalarType.FIXED64]: { wire: Bit64, read: (r) => String(r.fixed64()), write: (w, v) => w.fixed64(text(v)) },
  [ScalarType.SFIXED64]: { wire: Bit64, read: (r) => String(r.sfixed64()), write: (w, v) => w.sfixed64(text(v)) },
  [ScalarType.INT32]: { wire: Varint, read: (r) => r.int32(), write: (w, v) => w.int32(Number(v)) },
  [ScalarType.UINT32]: { wire: Varint, read: (r) => r.uint32(), write: (w, v) => w.uint32(Number(v)) },
  [ScalarType.SINT32]: { wire: Varint, read: (r) => r.sint32(), write: (w, v) => w.sint32(Number(v)) },
  [ScalarType.FIXED32]: { wire: Bit32, read: (r) => r.fixed32(), write: (w, v) => w.fixed32(Number(v)) },
  [ScalarType.SFIXED32]: { wire: Bit32, read: (r) => r.sfixed32(), write: (w, v) => w.sfixed32(Number(v)) },
  [ScalarType.BOOL]: { wire: Varint, read: (r) => r.bool(), write: (w, v) => w.bool(v === true || v === "true") },
  [ScalarType.STRING]: { wire: LengthDelimited, read: (r) => r.string(), write: (w, v) => w.string(text(v)) },
  [ScalarType.BYTES]: {
    wire: LengthDelimited,
    read: (r) => Buffer.from(r.bytes()).toString("base64"),
    write: (w, v) => w.bytes(Buffer.from(text(v), "base64")),
  },
};

export function readScalar(type: ScalarType, reader: BinaryReader): Json {
  return SCALARS[type].read(reader);
}

/** @throws Error where the value does not fit. */
export function writeScalar(type: ScalarType, value: Json, writer: BinaryWriter): void {
  SCALARS[type].write(writer, value);
}

export function wireTypeOf(type: ScalarType): WireType {
  return SCALARS[type].wire;
}

function float(value: number): Json {
  return Number.isFinite(value) ? value : String(value);
}

/** @throws Error where it is no single value. */
export function text(value: Json): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new Error(`expected a single value, found ${JSON.stringify(value)}`);
}
