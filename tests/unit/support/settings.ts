// Route settings as a proxy hands them over: a serialized Metadata message.

import { Bytes } from "../../../assembly/bytes";
import { FakeHost } from "../../../assembly/host/fake";
import { entry, join, listValue, numberValue, stringValue, structValue } from "./wire";

/** A group of clusters with weights, as a settings value. */
export function groupOf(name: string, clusters: string[], weights: u32[]): Uint8Array {
  const items = new Array<Uint8Array>();
  for (let i = 0; i < clusters.length; i++) {
    items.push(
      structValue([entry("cluster_name", stringValue(clusters[i])), entry("weight", numberValue(weights[i]))]),
    );
  }
  return structValue([entry("name", stringValue(name)), entry("clusters", listValue(items))]);
}

/** A composite cluster, as a settings value. */
export function composite(name: string, clusters: string[]): Uint8Array {
  const items = new Array<Uint8Array>();
  for (let i = 0; i < clusters.length; i++) items.push(structValue([entry("name", stringValue(clusters[i]))]));
  return structValue([entry("name", stringValue(name)), entry("clusters", listValue(items))]);
}

/** The settings of a chain that is picked by header `x-pick`; `more` are further fields of the settings. */
export function chain(groups: Uint8Array[], more: Uint8Array[] = []): Uint8Array {
  const specifier = structValue([
    entry("header_name", stringValue("x-pick")),
    entry("priority_groups", listValue(groups)),
  ]);
  return join([entry("priority_group", specifier), entry("slots", numberValue(groups.length)), join(more)]);
}

/** A host whose request is on route `name` with these settings. */
export function hostOnRoute(name: string, settings: Uint8Array): FakeHost {
  const host = new FakeHost();
  host.set("xds.route_name", name);
  host.properties.set("xds.route_metadata", bytes(entry("attempt_router", settings)));
  return host;
}

export function bytes(array: Uint8Array): Bytes {
  const result = new StaticArray<u8>(array.length);
  memory.copy(changetype<usize>(result), array.dataStart, array.length);
  return result;
}
