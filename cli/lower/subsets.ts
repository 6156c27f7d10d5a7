import type { Cursor } from "../yaml/cursor.js";
import { canonicalJson, isMessage } from "./settings.js";
import type { Json } from "../yaml/scalar.js";

const NAMESPACE = "envoy.lb";

/** Whether the subset of a cluster that a route asks for (`metadata_match`) has one of the endpoints in the file. */
export function hasSubset(cluster: Cursor | undefined, match: Cursor | undefined): boolean {
  const subsets = cluster?.field("lb_subset_config");
  if (cluster === undefined || subsets === undefined) return false;
  const asked = valuesOf(match);
  const keys = Object.keys(asked).sort().join("\n");
  const selectors = subsets
    .list("subset_selectors")
    .map((selector) => selector.list("keys").map((key) => key.string()));
  if (keys === "" || !selectors.some((selector) => [...selector].sort().join("\n") === keys)) return false;
  const hosts = cluster
    .field("load_assignment")
    ?.list("endpoints")
    .flatMap((locality) => locality.list("lb_endpoints"));
  return (hosts ?? []).some((host) => {
    const own = valuesOf(host.field("metadata"));
    return Object.entries(asked).every(
      ([key, value]) => key in own && canonicalJson(own[key] ?? null) === canonicalJson(value),
    );
  });
}

function valuesOf(metadata: Cursor | undefined): { [key: string]: Json } {
  const values = metadata?.at("filter_metadata", NAMESPACE)?.copy();
  return isMessage(values) ? values : {};
}
