// Endpoints that name their cluster in their metadata: where a route leads to an aggregate, only the host that was chosen says which
// of the aggregate's clusters serves the attempt.

import type { Cursor } from "../yaml/cursor.js";
import type { Editor } from "../yaml/tree.js";
import type { Json } from "../yaml/scalar.js";
import { readMember } from "./members.js";
import { METADATA_NAMESPACE } from "./types.js";

/** The field of an endpoint's metadata that names its cluster; the module reads it, too. */
export const HOST_CLUSTER = "cluster";

/** Why the endpoints of a cluster cannot name it, as the end of a sentence; undefined where they can. */
export function whyNotMarkable(cluster: Cursor): string | undefined {
  const { hosts } = readMember(cluster);
  if (hosts === "STATIC" || hosts === "DNS") return undefined;
  return "has a provider, and its endpoints are not in this file, so that they cannot name it";
}

/** Has every endpoint of a cluster name it. */
export function markEndpoints(cluster: Cursor, name: string, editor: Editor): void {
  const endpoints = cluster.field("load_assignment")?.list("endpoints") ?? [];
  for (const endpoint of endpoints.flatMap((locality) => locality.list("lb_endpoints"))) {
    const path = ["metadata", "filter_metadata", METADATA_NAMESPACE, HOST_CLUSTER];
    if (endpoint.at(...path)?.json() !== hostMark(name)) setAt(endpoint, path, hostMark(name), editor);
  }
}

function setAt(message: Cursor, [key = "", ...rest]: string[], value: Json, editor: Editor): void {
  const inner = message.field(key);
  if (rest.length > 0 && inner?.map !== undefined) setAt(inner, rest, value, editor);
  else if (message.map !== undefined) {
    const written = rest.reduceRight<Json>((below, name) => ({ [name]: below }), value);
    editor.set(message.map, key, written);
  }
}

/** A cluster's name as the value of a header; different for different names. */
export function hostMark(name: string): string {
  return name.replace(/[^!-$&-~]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
