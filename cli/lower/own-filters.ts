// A filter per settings, which only the routes with these settings have: nothing has to be asked for a request, and a
// route without settings pays nothing. Everything else is served by one filter that asks each request for its route.

import type { Cursor } from "../yaml/cursor.js";
import type { Editor } from "../yaml/edit.js";
import type { Json } from "../yaml/scalar.js";
import { routesOf, type ConnectionManagerSite } from "./find.js";
import type { PlanOptions } from "./options.js";
import type { PriorityGroupRoute } from "./priority-group.js";
import { hasSpecifiers } from "./specifiers/plan.js";
import { DOWNSTREAM_FILTER, TYPE } from "./types.js";
import { hasEarlierFilters, hasModule } from "./wiring.js";

/** The filter of the routes that share these settings. */
export interface OwnFilter {
  name: string;
  /** Digest of the settings. */
  id: string;
  /** ModuleSettings, in JSON form. */
  settings: Json;
}

/** Each has a virtual machine per worker. */
const MAX_FILTERS = 16;
const PER_FILTER = "typed_per_filter_config";

/**
 * The filters of a connection manager's routes by the names of the routes; undefined where the filter chain could meet a
 * request on another route than the one it was made for, or a route that is not known here.
 */
export function ownFilters(
  { manager, routeConfigs, dynamicRoutes }: ConnectionManagerSite,
  routes: readonly PriorityGroupRoute[],
  options: PlanOptions,
): Map<string, OwnFilter> | undefined {
  if (routes.length === 0 || dynamicRoutes || hasEarlierFilters(manager, options) || hasModule(manager))
    return undefined;
  if (manager.list("upgrade_configs").some((upgrade) => upgrade.list("filters").length > 0)) return undefined;
  if (routeConfigs.some(({ config }) => isOpen(config) || !isInside(config, manager))) return undefined;
  if (options.placeBefore !== undefined || !routes.every(isFixed)) return undefined;
  const byId = new Map(routes.map((route) => [digestOf(route), route]));
  if (byId.size > MAX_FILTERS) return undefined;
  const filters = [...byId].map(([id, { name, settings }]) => ({
    name: byId.size === 1 ? DOWNSTREAM_FILTER : `${DOWNSTREAM_FILTER}_${id}`,
    id,
    settings: { route: settings, route_name: name },
  }));
  return new Map(
    routes.flatMap((route) => filters.filter(({ id }) => id === digestOf(route)).map((f) => [route.name, f])),
  );
}

/** Switches a route's filter on. */
export function enableFilter({ route }: PriorityGroupRoute, { name }: OwnFilter, editor: Editor): void {
  const enabled = { "@type": TYPE.filterConfig, config: {}, disabled: false };
  const perFilter = route.field(PER_FILTER)?.map;
  if (perFilter !== undefined) editor.set(perFilter, name, enabled);
  else if (route.map !== undefined) editor.set(route.map, PER_FILTER, { [name]: enabled }, "route");
}

// Whether all that decides the route's requests is known when they begin.
function isFixed({ form, pin, rereads, settings }: PriorityGroupRoute): boolean {
  return form === "SLOT_PER_ATTEMPT" && !pin && !rereads && !("composite_clusters" in settings);
}

function digestOf({ name }: PriorityGroupRoute): string {
  return name.slice(-16);
}

// Routes that stand elsewhere come by RDS, and an update of theirs must not need one of the listener.
function isInside(config: Cursor, manager: Cursor): boolean {
  const [start, , end] = manager.map?.range ?? [0, 0, 0];
  return start <= config.offset && config.offset < end;
}

// Virtual hosts may come later, specifiers may change the route, or the user has a say in where the module runs.
function isOpen(config: Cursor): boolean {
  if (config.field("vhds") !== undefined || hasSpecifiers(config)) return true;
  const hosts = config.list("virtual_hosts");
  return [config, ...hosts, ...hosts.flatMap(routesOf)].some(
    (level) => level.field(PER_FILTER)?.field(DOWNSTREAM_FILTER) !== undefined,
  );
}
