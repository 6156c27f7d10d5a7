// A filter per settings, which only the routes with these settings have: nothing has to be asked for a request, and a
// route without settings pays nothing. Everything else is served by one filter that asks each request for its route.

import type { Cursor } from "../yaml/cursor.js";
import type { Json } from "../yaml/scalar.js";
import { routesOf, type ConnectionManagerSite } from "../read/resources.js";
import type { PlanOptions } from "./options.js";
import type { PriorityGroupRoute } from "./priority-group.js";
import { usesSpecifiers } from "./specifiers/plan.js";
import { DOWNSTREAM_FILTER, PER_FILTER, TYPE } from "./types.js";
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

/**
 * The filters of a connection manager's routes by the names of the routes; undefined where the filter chain could meet a
 * request on another route than the one it was made for, or a route that is not known here.
 */
export function ownFilters(
  { manager, routeConfigs, dynamicRoutes }: ConnectionManagerSite,
  routes: readonly PriorityGroupRoute[],
  options: PlanOptions,
): Map<string, OwnFilter> | undefined {
  if (routes.length === 0 || dynamicRoutes || !keepsRoutes(manager, options) || hasModule(manager)) return undefined;
  if (manager.list("upgrade_configs").some((upgrade) => upgrade.list("filters").length > 0)) return undefined;
  if (routeConfigs.some(({ config }) => isOpen(config) || !isInside(config, manager))) return undefined;
  if (!routes.every(isFixed)) return undefined;
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

/** What switches a filter on for a route, in the route's own configuration of filters. */
export function enabled({ name }: OwnFilter): { [key: string]: Json } {
  return { [name]: { "@type": TYPE.filterConfig, config: {}, disabled: false } };
}

/** Whether no filter can move a request to another route than the one that it met the filter chain on. */
export function keepsRoutes(manager: Cursor, options: PlanOptions): boolean {
  return options.placeBefore === undefined && !hasEarlierFilters(manager, options);
}

// Whether all that decides the route's requests is known when they begin.
function isFixed({ form, pin, rereads, settings }: PriorityGroupRoute): boolean {
  return form === "SLOT_PER_ATTEMPT" && !pin && !rereads && !("composite_clusters" in settings);
}

function digestOf({ name }: PriorityGroupRoute): string {
  return name.slice(-16);
}

/** Whether routes come with their connection manager. Others come by RDS, and an update of theirs must not need both. */
export function isInside(config: Cursor, manager: Cursor): boolean {
  const [start, , end] = manager.map?.range ?? [0, 0, 0];
  return start <= config.offset && config.offset < end;
}

// Virtual hosts may come later, specifiers may change the route, or the user has a say in where the module runs.
function isOpen(config: Cursor): boolean {
  if (config.field("vhds") !== undefined || usesSpecifiers(config)) return true;
  const hosts = config.list("virtual_hosts");
  return [config, ...hosts, ...hosts.flatMap(routesOf)].some(
    (level) => level.field(PER_FILTER)?.field(DOWNSTREAM_FILTER) !== undefined,
  );
}
