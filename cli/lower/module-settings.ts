import type { Finding } from "../findings.js";
import type { Json } from "../yaml/scalar.js";
import { compositeNames, skipsClusters, type CompositeContext } from "./composite-route.js";
import type { PreparedRoute } from "./priority-group.js";
import { isMessage } from "./settings.js";
import { METADATA_NAMESPACE } from "./types.js";

const INTERVAL = "availability_interval_ms";

/**
 * The module's configuration for these routes of a listener, in JSON form: the composite clusters whose clusters it has
 * to watch. Undefined where there is nothing to watch.
 */
export function moduleSettings(
  routes: readonly PreparedRoute[],
  context: CompositeContext,
  findings: Finding[],
): Json | undefined {
  const watching = routes.filter((route) => skipsClusters(route.settings, context));
  if (watching.length === 0) return undefined;
  const names = [...new Set(watching.flatMap((route) => compositeNames(route.settings)))];
  const intervals = watching.map(({ settings }) => settings[INTERVAL]).filter((value) => typeof value === "number");
  return {
    composite_clusters: context.composites.settings(names),
    ...modeOf(watching, findings),
    ...(intervals.length === 0 ? {} : { [INTERVAL]: Math.min(...intervals) }),
  };
}

/** How the module learns which clusters have a host; undefined where it does not need to. */
export function availabilityOf(settings: Json | undefined): "PROBE" | "ADMIN" | undefined {
  if (!isMessage(settings)) return undefined;
  return settings["availability"] === "ADMIN" ? "ADMIN" : "PROBE";
}

function modeOf(routes: readonly PreparedRoute[], findings: Finding[]): { [key: string]: Json } {
  const modes = new Set(routes.map(({ settings }) => settings["availability"] ?? "PROBE"));
  const [mode] = modes;
  for (const { route } of modes.size > 1 ? routes : []) {
    const own = route.at("metadata", "filter_metadata", METADATA_NAMESPACE, "availability");
    if (own !== undefined)
      findings.push(own.finding("expected the same availability on all routes of a listener, found several"));
  }
  return mode === undefined || mode === "PROBE" ? {} : { availability: mode };
}
