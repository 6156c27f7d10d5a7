import { Bytes, View } from "../bytes";
import { Cursor } from "./cursor";

/** Fields of `envoy.config.core.v3.Metadata`. */
export namespace MetadataField {
  /** Untyped: map of namespace to `google.protobuf.Struct`. */
  export const FILTER_METADATA: u32 = 1;
  /** Typed: map of namespace to `google.protobuf.Any`. */
  export const TYPED_FILTER_METADATA: u32 = 2;
}

/**
 * Finds the value of a namespace in a serialized `Metadata` message without reading the values of others.
 *
 * False where the namespace is absent or the message is malformed. Of a namespace that is there twice the last counts.
 */
export function findNamespace(metadata: View, field: u32, namespace: Bytes, out: View): bool {
  const entries = new Cursor(metadata.ptr, metadata.ptr + <usize>metadata.length);
  let found = false;
  while (entries.next()) {
    if (entries.isBytes(field) && readEntry(entries, namespace, out)) found = true;
  }
  return found && !entries.malformed;
}

// Sets `out` to the value of a map entry if its key is `namespace`.
function readEntry(entries: Cursor, namespace: Bytes, out: View): bool {
  const entry = new Cursor(entries.ptr, entries.ptr + <usize>entries.length);
  const key = new View();
  const value = new View();
  while (entry.next()) {
    if (entry.isBytes(1)) key.set(entry.ptr, entry.length);
    else if (entry.isBytes(2)) value.set(entry.ptr, entry.length);
  }
  if (entry.malformed || !key.equals(namespace)) return false;
  out.set(value.ptr, value.length);
  return true;
}
