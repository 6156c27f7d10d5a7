import { create, fromBinary, toBinary, type JsonObject } from "@bufbuild/protobuf";
import { AnySchema, type Any } from "@bufbuild/protobuf/wkt";
import { MetadataSchema, type Metadata } from "../proto/envoy/config/core/v3/base_pb.js";

/** A typed value: the type URL and the serialized message. */
export interface TypedValue {
  typeUrl: string;
  value: Uint8Array;
}

/** Metadata as plain objects, under Envoy's own field names (or protobuf-es ones). */
export interface MetadataObject {
  filter_metadata?: Readonly<Record<string, JsonObject>>;
  typed_filter_metadata?: Readonly<Record<string, TypedValue>>;
}

/** Plain objects, or a serialized envoy.config.core.v3.Metadata. */
export type MetadataInput = MetadataObject | Uint8Array;

/**
 * Serializes metadata as Envoy hands it to a module.
 *
 * @throws TypeError for a value that a protobuf Struct cannot hold (undefined, bigint, function)
 */
export function encodeMetadata(metadata: MetadataInput): Uint8Array {
  if (metadata instanceof Uint8Array) return metadata;
  for (const [namespace, fields] of Object.entries(metadata.filter_metadata ?? {})) assertStruct(fields, namespace);
  return toBinary(
    MetadataSchema,
    create(MetadataSchema, {
      filterMetadata: { ...metadata.filter_metadata },
      typedFilterMetadata: typedValues(metadata.typed_filter_metadata ?? {}),
    }),
  );
}

/** @throws Error for bytes that are not a Metadata message */
export function decodeMetadata(bytes: Uint8Array): Metadata {
  return fromBinary(MetadataSchema, bytes);
}

/** Metadata that holds only the settings of one namespace. */
export function namespaceMetadata(namespace: string, fields: JsonObject): Uint8Array {
  return encodeMetadata({ filter_metadata: { [namespace]: fields } });
}

function typedValues(values: Readonly<Record<string, TypedValue>>): Record<string, Any> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, create(AnySchema, value)]));
}

function assertStruct(value: unknown, path: string): void {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean") return;
  if (typeof value !== "object") throw new TypeError(`metadata ${path}: a Struct cannot hold a ${typeof value}`);
  for (const [key, child] of Object.entries(value)) assertStruct(child, `${path}.${key}`);
}
