import { Bytes, View } from "../bytes";
import { Cursor } from "./cursor";
import { readPair } from "./pair";

const entries = new Cursor();
const key = new View();
const value = new View();

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
  entries.reset(metadata.ptr, metadata.length);
  let found = false;
  while (entries.next()) {
    if (entries.isBytes(field) && readEntry(namespace, out)) found = true;
  }
  return found && !entries.malformed;
}

// Sets `out` to the value of the map entry at `entries` if its key is `namespace`.
function readEntry(namespace: Bytes, out: View): bool {
  if (!readPair(entries.ptr, entries.length, key, value) || !key.equals(namespace)) return false;
  out.set(value.ptr, value.length);
  return true;
}
