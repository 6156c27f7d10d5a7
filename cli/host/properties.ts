import type { JsonValue } from "@bufbuild/protobuf";
import { fromByteString, toBytes, toText } from "./bytes.js";
import { decodeMetadata } from "./metadata.js";
import { encodeBytePairs } from "./pairs.js";
import { HeaderMap } from "./header-map.js";

/** A scalar attribute: text, bytes, integer (bigint, 8 bytes LE), double (number, 8 bytes LE) or bool (1 byte). */
export type Scalar = string | Uint8Array | bigint | number | boolean;

/** A property value that has parts. `serialize` gives undefined where Envoy answers SerializationFailure. */
export interface PropertyNode {
  child(part: string): PropertyValue | undefined;
  serialize(): Uint8Array | undefined;
}

export type PropertyValue = Scalar | PropertyNode;

export function isNode(value: PropertyValue): value is PropertyNode {
  return typeof value === "object" && !(value instanceof Uint8Array);
}

/** Envoy's bytes of a value; undefined = SerializationFailure. */
export function serializeProperty(value: PropertyValue): Uint8Array | undefined {
  return isNode(value) ? value.serialize() : encodeScalar(value);
}

function encodeScalar(value: Scalar): Uint8Array {
  if (typeof value === "string" || value instanceof Uint8Array) return toBytes(value);
  if (typeof value === "boolean") return Uint8Array.of(value ? 1 : 0);
  const out = new DataView(new ArrayBuffer(8));
  if (typeof value === "bigint") out.setBigUint64(0, BigInt.asUintN(64, value), true);
  else out.setFloat64(0, value, true);
  return new Uint8Array(out.buffer);
}

/** A group of attributes such as `xds` or `upstream`: has parts, but cannot itself be serialized. */
export function namespaceNode(child: (part: string) => PropertyValue | undefined): PropertyNode {
  return { child, serialize: () => undefined };
}

/** A map: its serialized form is a list of pairs. */
export function mapNode(entries: Readonly<Record<string, PropertyValue>>): PropertyNode {
  return {
    child: (part) => (Object.hasOwn(entries, part) ? entries[part] : undefined),
    serialize: () => serializeEntries(Object.entries(entries)),
  };
}

/** `request.headers` and the like: the lines of one name are joined with a comma. */
export function headersNode(headers: HeaderMap): PropertyNode {
  const joined = (name: string) => {
    const values = headers.getAll(name);
    return values.length === 0 ? undefined : fromByteString(values.join(","));
  };
  return {
    child: joined,
    serialize: () =>
      serializeEntries([...new Set(headers.pairs().map(([name]) => name))].map((name) => [name, joined(name) ?? ""])),
  };
}

/** A serialized envoy.config.core.v3.Metadata that can also be walked by field names. */
export function metadataNode(bytes: Uint8Array): PropertyNode {
  return {
    child: (part) => {
      const message = decodeMetadata(bytes);
      if (part === "filter_metadata") {
        return mapNode(Object.fromEntries(Object.entries(message.filterMetadata).map(([k, v]) => [k, jsonNode(v)])));
      }
      if (part !== "typed_filter_metadata") return undefined;
      return mapNode(Object.fromEntries(Object.entries(message.typedFilterMetadata).map(([k, v]) => [k, v.value])));
    },
    serialize: () => bytes,
  };
}

function jsonNode(value: JsonValue): PropertyValue {
  if (value === null) return namespaceNode(() => undefined);
  if (Array.isArray(value)) return listNode(value.map(jsonNode));
  if (typeof value !== "object") return value;
  return mapNode(Object.fromEntries(Object.entries(value).map(([key, child]) => [key, jsonNode(child)])));
}

function listNode(items: PropertyValue[]): PropertyNode {
  return {
    child: (part) => (/^\d+$/.test(part) ? items[Number(part)] : undefined),
    serialize: () => {
      const encoded = items.map(serializeProperty);
      if (encoded.some((item) => item === undefined)) return undefined;
      return encodeBytePairs(encoded.map((item) => [item ?? new Uint8Array(0), new Uint8Array(0)]));
    },
  };
}

function serializeEntries(entries: [string, PropertyValue][]): Uint8Array | undefined {
  const pairs: [Uint8Array, Uint8Array][] = [];
  for (const [key, value] of entries) {
    const encoded = serializeProperty(value);
    if (encoded === undefined) return undefined;
    pairs.push([toBytes(key), encoded]);
  }
  return encodeBytePairs(pairs);
}

/** Path parts, split on NUL; a trailing NUL adds no part. */
export function splitPath(path: Uint8Array): string[] {
  const parts = toText(path).split("\0");
  if (parts.at(-1) === "") parts.pop();
  return parts;
}
