// Protobuf bytes ↔ plain objects in protobuf's JSON form, with the field names of the proto files.
//
// Whatever was not changed in between goes back as the bytes that came: messages of types that are not known here, fields
// that are newer than the descriptors, and maps in the order that they had.

import {
  fromBinary,
  fromJson,
  ScalarType,
  toBinary,
  toJson,
  type DescField,
  type DescMessage,
} from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { ConfigObject } from "../../lowerer.js";
import type { Json } from "../../yaml/scalar.js";
import { findMessage } from "./messages.js";
import { readScalar, text, wireTypeOf, writeScalar } from "./scalars.js";

/** Holds, as base64, the fields of a message that its descriptor does not have. */
export const UNKNOWN_FIELDS = "attempt_router_unknown_fields";

const ANY = "google.protobuf.Any";
const WELL_KNOWN = "google.protobuf.";
const MAX_DEPTH = 100;

interface Origin {
  type: string;
  bytes: Uint8Array;
}

/** One exchange: remembers of each object that it made which bytes it came from. */
export class Codec {
  private readonly origins = new WeakMap<object, Origin>();

  /** @throws Error where the bytes are no such message, or too deep. */
  decode(desc: DescMessage, bytes: Uint8Array, depth = 0): Json {
    if (depth > MAX_DEPTH) throw new Error(`expected at most ${MAX_DEPTH} messages in each other, found more`);
    const value = this.decoded(desc, bytes, depth);
    if (typeof value === "object" && value !== null) this.origins.set(value, { type: desc.typeName, bytes });
    return value;
  }

  /** @throws Error where the value has a field that the message does not have, or a value that does not fit. */
  encode(desc: DescMessage, value: Json): Uint8Array {
    const origin = typeof value === "object" && value !== null ? this.origins.get(value) : undefined;
    if (origin?.type === desc.typeName) return origin.bytes;
    if (desc.typeName === ANY) return this.encodeAny(objectOf(value, desc.typeName));
    if (isWellKnown(desc)) return toBinary(desc, fromJson(desc, value));
    return this.encodeFields(desc, objectOf(value, desc.typeName));
  }

  private decoded(desc: DescMessage, bytes: Uint8Array, depth: number): Json {
    if (desc.typeName === ANY) return this.decodeAny(desc, bytes, depth);
    if (isWellKnown(desc)) return toJson(desc, fromBinary(desc, bytes));
    return this.decodeFields(desc, bytes, depth);
  }

  private decodeFields(desc: DescMessage, bytes: Uint8Array, depth: number): ConfigObject {
    const value: ConfigObject = {};
    const unknown: Uint8Array[] = [];
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const start = reader.pos;
      const [number, wireType] = reader.tag();
      const field = fieldsOf(desc).byNumber.get(number);
      if (field === undefined) {
        reader.skip(wireType, number);
        unknown.push(bytes.subarray(start, reader.pos));
      } else this.readField(value, field, reader, wireType, depth + 1);
    }
    if (unknown.length > 0) value[UNKNOWN_FIELDS] = Buffer.concat(unknown).toString("base64");
    return value;
  }

  private readField(to: ConfigObject, field: DescField, reader: BinaryReader, wireType: WireType, depth: number): void {
    if (field.fieldKind === "map") {
      const map = (to[field.name] ??= {}) as ConfigObject;
      const [key, value] = this.readEntry(field, reader.bytes(), depth);
      map[key] = value;
    } else if (field.fieldKind === "list") {
      const list = (to[field.name] ??= []) as Json[];
      if (wireType !== WireType.LengthDelimited || !isPackable(field)) list.push(this.readValue(field, reader, depth));
      else
        for (const end = reader.uint32() + reader.pos; reader.pos < end; )
          list.push(this.readValue(field, reader, depth));
    } else to[field.name] = this.readValue(field, reader, depth);
  }

  private readEntry(field: DescField & { fieldKind: "map" }, bytes: Uint8Array, depth: number): [string, Json] {
    const reader = new BinaryReader(bytes);
    let key: Json = field.mapKey === ScalarType.STRING ? "" : 0;
    let value: Json | undefined;
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag();
      if (number === 1) key = readScalar(field.mapKey, reader);
      else if (number === 2) value = this.readValue(field, reader, depth);
      else reader.skip(wireType, number);
    }
    return [text(key), value ?? this.absent(field)];
  }

  private absent(field: ValueField): Json {
    if (field.message !== undefined) return this.decode(field.message, new Uint8Array());
    if (field.enum !== undefined) return field.enum.values[0]?.name ?? 0;
    return field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES ? "" : 0;
  }

  private readValue(field: ValueField, reader: BinaryReader, depth: number): Json {
    if (field.message !== undefined) return this.decode(field.message, reader.bytes(), depth);
    if (field.enum === undefined) return readScalar(field.scalar as ScalarType, reader);
    const number = reader.int32();
    return field.enum.value[number]?.name ?? number;
  }

  private decodeAny(desc: DescMessage, bytes: Uint8Array, depth: number): Json {
    const { type_url = "", value = "" } = this.decodeFields(desc, bytes, depth) as {
      type_url?: string;
      value?: string;
    };
    const held = findMessage(typeName(type_url));
    // An Any without a type holds nothing, and nothing is written of its like.
    if (held === undefined) return { "@type": type_url, value };
    const message = this.decode(held, Buffer.from(value, "base64"), depth);
    return isWellKnown(held)
      ? { "@type": type_url, value: message }
      : { "@type": type_url, ...(message as ConfigObject) };
  }

  private encodeAny({ "@type": type, ...fields }: ConfigObject): Uint8Array {
    const url = text(type ?? "");
    const held = findMessage(typeName(url));
    const value =
      held === undefined ? Buffer.from(text(fields["value"] ?? ""), "base64") : this.encodeHeld(held, fields);
    const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(url);
    if (value.length > 0) writer.tag(2, WireType.LengthDelimited).bytes(value);
    return writer.finish();
  }

  private encodeHeld(desc: DescMessage, fields: ConfigObject): Uint8Array {
    return this.encode(desc, isWellKnown(desc) ? (fields["value"] ?? {}) : fields);
  }

  private encodeFields(desc: DescMessage, value: ConfigObject): Uint8Array {
    const writer = new BinaryWriter();
    const { byName, inOrder } = fieldsOf(desc);
    const given = new Map<DescField, Json>();
    for (const [key, item] of Object.entries(value)) {
      if (item === null || key === UNKNOWN_FIELDS) continue;
      const field = byName.get(key);
      if (field === undefined) throw new Error(`no field ${key} in ${desc.typeName}`);
      given.set(field, item);
    }
    for (const field of inOrder) {
      const item = given.get(field);
      if (item !== undefined) this.writeField(writer, field, item);
    }
    const unknown = value[UNKNOWN_FIELDS];
    if (typeof unknown === "string") writer.raw(Buffer.from(unknown, "base64"));
    return writer.finish();
  }

  private writeField(writer: BinaryWriter, field: DescField, value: Json): void {
    if (field.fieldKind === "map") {
      for (const [key, item] of Object.entries(objectOf(value, field.name)).sort(byKey)) {
        writer.tag(field.number, WireType.LengthDelimited).fork();
        writer.tag(1, wireTypeOf(field.mapKey));
        writeScalar(field.mapKey, key, writer);
        this.writeValue(writer, field, item, 2);
        writer.join();
      }
    } else if (field.fieldKind === "list") {
      if (!Array.isArray(value)) throw new Error(`expected a list at ${field.name}, found ${typeof value}`);
      for (const item of value) this.writeValue(writer, field, item, field.number);
    } else this.writeValue(writer, field, value, field.number);
  }

  private writeValue(writer: BinaryWriter, field: ValueField, value: Json, number: number): void {
    if (field.message !== undefined) {
      writer.tag(number, WireType.LengthDelimited).bytes(this.encode(field.message, value));
    } else if (field.enum !== undefined) {
      const known = field.enum.values.find(({ name }) => name === value)?.number ?? value;
      if (typeof known !== "number")
        throw new Error(`expected a value of ${field.enum.typeName}, found ${JSON.stringify(value)}`);
      writer.tag(number, WireType.Varint).int32(known);
    } else {
      const scalar = field.scalar as ScalarType;
      writer.tag(number, wireTypeOf(scalar));
      writeScalar(scalar, value, writer);
    }
  }
}

/** What holds one value at a time: a field, an item of a list, an entry of a map. */
type ValueField = Pick<DescField, "message" | "enum" | "scalar">;

interface Fields {
  byNumber: Map<number, DescField>;
  byName: Map<string, DescField>;
  inOrder: DescField[];
}

const known = new WeakMap<DescMessage, Fields>();

function fieldsOf(desc: DescMessage): Fields {
  const found = known.get(desc);
  if (found !== undefined) return found;
  const names = desc.fields.flatMap((field) => [field.jsonName, field.name].map((name) => [name, field] as const));
  const fields = {
    byNumber: new Map(desc.fields.map((field) => [field.number, field])),
    byName: new Map(names),
    inOrder: [...desc.fields].sort((a, b) => a.number - b.number),
  };
  known.set(desc, fields);
  return fields;
}

/** Those that JSON writes in a way of its own. */
function isWellKnown({ typeName }: DescMessage): boolean {
  return typeName.startsWith(WELL_KNOWN) && typeName !== ANY;
}

function isPackable({ listKind, scalar }: DescField & { fieldKind: "list" }): boolean {
  return listKind === "enum" || (listKind === "scalar" && wireTypeOf(scalar) !== WireType.LengthDelimited);
}

function typeName(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1);
}

function objectOf(value: Json, name: string): ConfigObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new Error(`expected an object at ${name}, found ${JSON.stringify(value)}`);
}

function byKey([a]: [string, Json], [b]: [string, Json]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
