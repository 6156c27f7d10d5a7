// A filter per settings, which only the routes with these settings have: nothing has to be asked for a request, and a
// route without settings pays nothing. Everything else is served by one filter that asks each request for its route.

import type { Json } from "../yaml/scalar.js";
import type { PriorityGroupRoute } from "./priority-group.js";
import { DIGITS } from "./settings.js";
import { DOWNSTREAM_FILTER, TYPE } from "./types.js";

/** The filter of the routes that share these settings. */
export interface OwnFilter {
  name: string;
  /** Digest of the settings. */
  id: string;
  /** ModuleSettings, in JSON form. */
  settings: Json;
}

/** The filters of routes by the names of the routes. */
export function ownFilters(routes: readonly PriorityGroupRoute[]): Map<string, OwnFilter> {
  const byId = new Map(routes.map((route) => [digestOf(route), route]));
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

function digestOf({ name }: PriorityGroupRoute): string {
  return name.slice(-DIGITS);
}
