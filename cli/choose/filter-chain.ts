// Which filters stand where in a filter chain, and which of them an earlier lowering wrote.

import type { Filter, FilterChain } from "../model/filters.js";
import type { ConnectionManager } from "../model/program.js";
import { isHoldFilter } from "../lower/hold/filters.js";
import {
  DOWNSTREAM_FILTER,
  PROVIDER_FILTERS,
  RESOLVE_FILTER,
  STARTED_FILTER,
  TYPE,
  UPSTREAM_CODEC,
  UPSTREAM_FILTER,
} from "../lower/types.js";

/** Name of the HTTP filter before which the module goes; undefined: right before the router. */
export interface Placing {
  placeBefore: string | undefined;
}

/** The filter chains of a connection manager: its own and those of its upgrades. */
export function chainsOf({ chain, upgrades }: ConnectionManager): FilterChain[] {
  return [chain, ...upgrades.map((upgrade) => upgrade.chain)].filter((one) => one !== undefined);
}

/** The filters that others wrote before the place of the module. */
export function earlierFilters({ filters }: FilterChain, options: Placing): Filter[] {
  return filters
    .slice(0, Math.max(placeOf(filters, options), 0))
    .filter(({ name }) => !isOurs(name) && !isHoldFilter(name));
}

/** Where the module goes: a filter chain of an upgrade need not have the filter that was asked for. */
export function placeOf(filters: readonly Filter[], { placeBefore }: Placing): number {
  const asked = filters.findIndex(({ name }) => name === placeBefore);
  if (placeBefore !== undefined && asked >= 0) return asked;
  const router = filters.findIndex(isRouter);
  // The filters that hold answers and mark that the router begins stay the last.
  let index = router;
  while (isMark(filters[index - 1]) || isHoldFilter(filters[index - 1]?.name)) index -= 1;
  return index;
}

export function isRouter({ type }: Filter): boolean {
  return type === TYPE.router;
}

// The codec is the last filter of its chain, whatever its name.
export function isUpstreamCodec({ name, type }: Filter): boolean {
  return type === TYPE.upstreamCodec || name === UPSTREAM_CODEC;
}

/** A filter of an upstream filter chain besides the codec, the module and those of a provider: it may write metadata. */
export function otherUpstreamFilter(chain: FilterChain | undefined): Filter | undefined {
  return chain?.filters.find(
    (filter) => !OWN_UPSTREAM.has(filter.name) && !isHoldFilter(filter.name) && !isUpstreamCodec(filter),
  );
}

const OWN_UPSTREAM = new Set<string>([UPSTREAM_FILTER, ...Object.values(PROVIDER_FILTERS)]);

/** Found by name and type: a filter that `lower` wrote before, or that a user placed by hand. */
export function isFilter(filter: Filter | undefined, name: string, type: string): boolean {
  return filter?.name === name && filter.type === type;
}

export function isMark(filter: Filter | undefined): boolean {
  return isFilter(filter, STARTED_FILTER, TYPE.setFilterState);
}

/** A filter that an earlier lowering wrote. */
export function isOurs(name: string): boolean {
  return name === RESOLVE_FILTER || name === STARTED_FILTER || MODULE_FILTER.test(name);
}

/** The module's filter for all routes, or for those with the settings of this digest. */
const MODULE_FILTER = new RegExp(`^${DOWNSTREAM_FILTER}(_[0-9a-f]{32})?$`);
