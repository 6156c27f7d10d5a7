import { clearsRoute, movedBy } from "../choose/moving-filters.js";
import { isFilter, isMark, isOurs, isRouter, placeOf } from "../choose/filter-chain.js";
import type { Finding } from "../findings.js";
import type { Filter, FilterChain } from "../model/filters.js";
import type { ConnectionManager } from "../model/program.js";
import { cursorAt } from "../read/place.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Editor } from "../yaml/tree.js";
import type { Json } from "../yaml/scalar.js";
import type { PlanOptions } from "./options.js";
import type { OwnFilter } from "./own-filters.js";
import { startedFilter } from "./start-mark.js";
import { DOWNSTREAM_FILTER, RESOLVE_FILTER, STARTED_FILTER, TYPE } from "./types.js";
import { wireRouter, type UpstreamPlace } from "./upstream-wiring.js";
import { downstreamFilter, ownFilter, RESOLVE } from "./wasm-filter.js";

/** What the filter chains of a connection manager need. */
export interface ChainUse {
  module: ModuleUse | undefined;
  /** The filter that marks that the router has begun. */
  mark: { disabled: boolean } | undefined;
  /** Name of the module's virtual machine. */
  vm: string;
}

/** How a connection manager uses the module. */
export interface ModuleUse {
  place: UpstreamPlace;
  /** ModuleSettings, in JSON form. */
  settings: Json | undefined;
  /** The filters that stand in the place of the one for all routes, by the names of the routes. */
  own?: ReadonlyMap<string, OwnFilter>;
}

interface Wiring {
  vmId: string;
  use: ChainUse;
  options: PlanOptions;
  editor: Editor;
}

/** Adds filters to every filter chain of a connection manager: its own and those of its upgrades. Returns what prevents that. */
export function wireConnectionManager(
  manager: ConnectionManager,
  use: ChainUse,
  options: PlanOptions,
  editor: Editor,
): Finding[] {
  const wiring = { vmId: `attempt_router/${use.vm}`, use, options, editor };
  const upgrades = manager.upgrades.flatMap(({ chain }) => chain ?? []);
  const findings = [
    ...misplaced(manager.chain, options),
    ...(manager.chain === undefined
      ? [cursorAt(manager.origin).findingBelow(["http_filters"], NO_ROUTER.replace("%", "no filters"))]
      : wireChain(manager.chain, wiring)),
    ...upgrades.flatMap((chain) => wireChain(chain, wiring)),
  ];
  const { module } = use;
  if (module === undefined || module.place === "nowhere") return findings;
  for (const router of manager.routers) wireRouter(router, wiring.vmId, module.place, options, editor);
  return findings;
}

/**
 * Filters of the module for some routes only, from an earlier lowering, in a filter chain to which other filters were
 * added since: a request that these move to such a route would do without.
 */
export function staleFilters(manager: ConnectionManager, options: PlanOptions): Finding[] {
  if (movedBy(manager, options) === undefined) return [];
  const filters = manager.chain?.filters ?? [];
  const stale = filters.filter(({ name, type, disabled }) => type === TYPE.wasm && disabled && isOurs(name));
  return stale.map((filter) => cursorAt(filter.origin).finding(STALE));
}

const NO_ROUTER = `expected a filter of type ${TYPE.router}, before which the module goes, found %`;
const STALE =
  "expected no filter before the module's own for some routes, found one that was added after the file was lowered: lower the native file";

function misplaced(chain: FilterChain | undefined, { placeBefore }: PlanOptions): Finding[] {
  if (chain === undefined || placeBefore === undefined) return [];
  const names = chain.filters.map(nameOf);
  if (names.includes(placeBefore)) return [];
  const message = `expected a filter named ${placeBefore}, before which the module goes, found ${names.join(", ")}`;
  return [cursorAt(chain.origin).finding(message)];
}

function nameOf(filter: Filter): string {
  return cursorAt(filter.origin).field("name")?.string() ?? "a filter without name";
}

function wireChain(chain: FilterChain, wiring: Wiring): Finding[] {
  const list = cursorAt(chain.origin);
  if (!chain.filters.some(isRouter) || list.seq === undefined) {
    return [list.finding(NO_ROUTER.replace("%", chain.filters.map(nameOf).join(", ")))];
  }
  const { module, mark } = wiring.use;
  if (module !== undefined) wireModule(chain, list, module, wiring);
  if (mark !== undefined) wireMark(chain, list, mark.disabled, wiring.editor);
  return [
    ...otherFiltersNamed(chain, DOWNSTREAM_FILTER, TYPE.wasm),
    ...otherFiltersNamed(chain, RESOLVE_FILTER, TYPE.headerMutation),
    ...otherFiltersNamed(chain, STARTED_FILTER, TYPE.setFilterState),
  ];
}

/** A filter of an earlier lowering is put anew where it no longer serves: other filters were added after or before it. */
function wireMark({ filters }: FilterChain, { seq }: Cursor, disabled: boolean, editor: Editor): void {
  if (seq === undefined) return;
  const router = filters.findIndex(isRouter);
  const old = filters.flatMap((filter, index) => (isMark(filter) ? [index] : []));
  const serves = (index: number) => index === router - 1 && (disabled || filters[index]?.disabled !== true);
  if (old.length > 0 && old.every(serves)) return;
  if (old.length > 0) editor.removeItems(seq, new Set(old));
  editor.insertItem(seq, router, startedFilter(disabled));
}

function wireModule(chain: FilterChain, { seq }: Cursor, { settings, own }: ModuleUse, wiring: Wiring): void {
  const { vmId, options, editor } = wiring;
  if (seq === undefined || chain.filters.some((filter) => isFilter(filter, DOWNSTREAM_FILTER, TYPE.wasm))) return;
  // Other filters may have cleared the route cache, and the module, which cannot resolve the route, would see none.
  const index = placeOf(chain.filters, options);
  if (clearsRoute(chain, options)) editor.insertItem(seq, index, RESOLVE);
  const owns = own === undefined ? undefined : [...new Set(own.values())];
  const added = owns?.map((one) => ownFilter(one, vmId, options)) ?? [downstreamFilter(vmId, options, settings)];
  for (const filter of added) editor.insertItem(seq, index, filter);
}

/** A route's own settings for a filter go by its name, so a name of the module's may have no other owner. */
function otherFiltersNamed({ filters }: FilterChain, name: string, type: string): Finding[] {
  const others = filters.filter((filter) => filter.name === name && filter.type !== type);
  const message = `expected another name, found ${name}, which is the name of a filter that goes with the module`;
  return others.map((filter) => cursorAt(filter.origin).findingBelow(["name"], message));
}
