// Dynamic metadata that filters of the file write for every request, whatever it is.

import { isMessage, messageOf } from "../model/json.js";
import type { ConnectionManager, JsonMessage } from "../model/index.js";

const SET_METADATA = "type.googleapis.com/envoy.extensions.filters.http.set_metadata.v3.Config";

const OVERRIDE_TYPE =
  "type.googleapis.com/envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupsOverride";

/** What the set_metadata filters of a connection manager write, by namespace. */
export function writtenMetadata(manager: ConnectionManager | undefined): Record<string, JsonMessage> {
  const written: Record<string, JsonMessage> = {};
  for (const filter of manager?.chain?.filters ?? []) {
    if (filter.disabled || filter.type !== SET_METADATA) continue;
    const config = messageOf(filter.config?.value);
    const entries = Array.isArray(config["metadata"]) ? config["metadata"].map(messageOf) : [config];
    for (const entry of entries) add(written, entry);
  }
  return written;
}

function add(written: Record<string, JsonMessage>, entry: JsonMessage): void {
  const namespace = entry["metadata_namespace"] ?? entry["metadataNamespace"];
  const typed = entry["typed_value"] ?? entry["typedValue"];
  const value = typed === undefined ? messageOf(entry["value"]) : typedValue(messageOf(typed));
  if (typeof namespace !== "string") return;
  const overwrites = (entry["allow_overwrite"] ?? entry["allowOverwrite"]) === true;
  if (!(namespace in written)) written[namespace] = value;
  else if (overwrites) written[namespace] = merged(written[namespace] ?? {}, value);
}

/** As Envoy merges structs: lists are appended, everything else is replaced. */
function merged(before: JsonMessage, value: JsonMessage): JsonMessage {
  const result = { ...before };
  for (const [key, added] of Object.entries(value)) {
    const old = result[key];
    if (Array.isArray(old) && Array.isArray(added)) result[key] = [...old, ...added];
    else if (isMessage(old) && isMessage(added)) result[key] = merged(old, added);
    else result[key] = added;
  }
  return result;
}

/** The model leaves the types of inner messages out: fields tell an override from everything else. */
function typedValue(value: JsonMessage): JsonMessage {
  const isOverride = Object.keys(value).every((key) => ["@type", "priority_groups", "priorityGroups"].includes(key));
  return { ...value, "@type": isOverride ? OVERRIDE_TYPE : "type.googleapis.com/google.protobuf.Any" };
}
