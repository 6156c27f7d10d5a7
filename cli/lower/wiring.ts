import type { YAMLSeq } from "yaml";
import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Editor } from "../yaml/edit.js";
import type { Json } from "../yaml/scalar.js";
import { clusterFilters, type ConnectionManagerSite } from "../read/resources.js";
import { isHoldFilter } from "./hold/filters.js";
import type { ModuleSource, PlanOptions } from "./options.js";
import type { OwnFilter } from "./own-filters.js";
import { startedFilter } from "./start-mark.js";
import {
  DOWNSTREAM_FILTER,
  METADATA_NAMESPACE,
  RESOLVE_FILTER,
  STARTED_FILTER,
  TYPE,
  UPSTREAM_FILTER,
} from "./types.js";

/** What the filter chains of a connection manager need. */
export interface ChainUse {
  module: ModuleUse | undefined;
  /** The filter that marks that the router has begun. */
  mark: { disabled: boolean } | undefined;
}

/** How a connection manager uses the module. */
export interface ModuleUse {
  place: UpstreamPlace;
  /** ModuleSettings, in JSON form. */
  settings: Json | undefined;
  /** The filters that stand in the place of the one for all routes, by the names of the routes. */
  own?: ReadonlyMap<string, OwnFilter>;
}

/**
 * Where the upstream role goes in an upstream filter chain: first, or around the filters between which metadata may be
 * written. First, because a filter that waits must not let the router retry before the slot was written; and again last,
 * before the codec, to see what those filters wrote.
 */
export type UpstreamPlace = "nowhere" | "first" | "around";

/** Adds filters to every filter chain of a connection manager: its own and those of its upgrades. */
export function wireConnectionManager(
  site: ConnectionManagerSite,
  use: ChainUse,
  options: PlanOptions,
  editor: Editor,
  findings: Finding[],
): void {
  const { manager, listenerName } = site;
  const vmId = `attempt_router/${listenerName}`;
  const chains = [manager.field("http_filters"), ...upgradeChains(manager).filter(hasItems)];
  rejectPlace(chains[0], options, findings);
  for (const chain of chains) {
    if (chain === undefined)
      findings.push(manager.findingBelow(["http_filters"], NO_ROUTER.replace("%", "no filters")));
    else wireChain(chain, vmId, use, options, editor, findings);
  }
}

function rejectPlace(chain: Cursor | undefined, { placeBefore }: PlanOptions, findings: Finding[]): void {
  if (chain === undefined || placeBefore === undefined) return;
  const names = chain.items().map((filter) => filter.field("name")?.string() ?? "a filter without name");
  if (names.includes(placeBefore)) return;
  findings.push(
    chain.finding(`expected a filter named ${placeBefore}, before which the module goes, found ${names.join(", ")}`),
  );
}

/** Puts the upstream role into a cluster's own filters, which replace the router's. */
export function wireCluster(
  cluster: Cursor,
  vmId: string,
  place: UpstreamPlace,
  options: PlanOptions,
  editor: Editor,
): void {
  const filters = clusterFilters(cluster);
  if (filters !== undefined) wireUpstreamChain(filters, vmId, place, options, editor);
}

/** Whether an upstream filter chain holds filters besides the codec and the module. */
export function hasOtherUpstreamFilters(chain: Cursor | undefined): boolean {
  return (chain?.items() ?? []).some(
    (filter) => filter.field("name")?.string() !== UPSTREAM_FILTER && !isHold(filter) && !isUpstreamCodec(filter),
  );
}

/** The Router filters of a connection manager, its upgrades included. */
export function routersOf(manager: Cursor): Cursor[] {
  return filtersOf(manager)
    .filter(isRouter)
    .map((filter) => filter.field("typed_config") as Cursor);
}

/** Whether a request meets other filters before the module, in one of the chains of a connection manager. */
export function hasEarlierFilters(manager: Cursor, options: PlanOptions): boolean {
  const chains = [manager.field("http_filters"), ...upgradeChains(manager)].filter((chain) => chain !== undefined);
  return chains.some((chain) => earlierFilters(chain, options).length > 0);
}

/** The filter chains that upgrades have instead of the connection manager's. */
function upgradeChains(manager: Cursor): (Cursor | undefined)[] {
  return manager.list("upgrade_configs").map((upgrade) => upgrade.field("filters"));
}

/** The filters of all chains of a connection manager. */
function filtersOf(manager: Cursor): Cursor[] {
  return [manager.field("http_filters"), ...upgradeChains(manager)].flatMap((chain) => chain?.items() ?? []);
}

/** The cluster that fetches the module from its URL. */
export function moduleCluster(source: ModuleSource): Json | undefined {
  if (source.kind !== "remote" || !source.addCluster) return undefined;
  const url = new URL(source.uri);
  const secure = url.protocol === "https:";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  const address = { socket_address: { address: url.hostname, port_value: port } };
  const tls = { "@type": TYPE.upstreamTls, sni: url.hostname };
  return {
    name: source.cluster,
    type: "STRICT_DNS",
    connect_timeout: "5s",
    load_assignment: { cluster_name: source.cluster, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
    ...(secure ? { transport_socket: { name: "envoy.transport_sockets.tls", typed_config: tls } } : {}),
  };
}

/** A stock filter that changes nothing; looking for its settings makes Envoy resolve the route. */
const RESOLVE: Json = { name: RESOLVE_FILTER, typed_config: { "@type": TYPE.headerMutation } };

const UPSTREAM_CODEC = "envoy.filters.http.upstream_codec";

const NO_ROUTER = `expected a filter of type ${TYPE.router}, before which the module goes, found %`;

function wireChain(
  chain: Cursor,
  vmId: string,
  use: ChainUse,
  options: PlanOptions,
  editor: Editor,
  findings: Finding[],
): void {
  const filters = chain.items();
  const router = filters.find(isRouter);
  if (router === undefined || chain.seq === undefined) {
    const names = filters.map((filter) => filter.field("name")?.string() ?? "a filter without name");
    findings.push(chain.finding(NO_ROUTER.replace("%", names.join(", ") || "no filters")));
    return;
  }
  findings.push(...otherFiltersNamed(chain, DOWNSTREAM_FILTER, TYPE.wasm));
  findings.push(...otherFiltersNamed(chain, RESOLVE_FILTER, TYPE.headerMutation));
  findings.push(...otherFiltersNamed(chain, STARTED_FILTER, TYPE.setFilterState));
  if (use.module !== undefined) wireModule(chain, router, vmId, use.module, options, editor);
  if (use.mark !== undefined) wireMark(chain.seq, filters, use.mark.disabled, editor);
}

/** A filter of an earlier lowering is put anew where it no longer serves: other filters were added after or before it. */
function wireMark(chain: YAMLSeq, filters: readonly Cursor[], disabled: boolean, editor: Editor): void {
  const router = filters.findIndex(isRouter);
  const old = filters.flatMap((filter, index) => (isMark(filter) ? [index] : []));
  const serves = (index: number) =>
    index === router - 1 && (disabled || filters[index]?.field("disabled")?.bool() !== true);
  if (old.length > 0 && old.every(serves)) return;
  if (old.length > 0) editor.removeItems(chain, new Set(old));
  editor.insertItem(chain, router, startedFilter(disabled));
}

function wireModule(
  chain: Cursor,
  router: Cursor,
  vmId: string,
  { place, settings, own }: ModuleUse,
  options: PlanOptions,
  editor: Editor,
): void {
  if (chain.seq !== undefined && !hasFilter(chain, DOWNSTREAM_FILTER, TYPE.wasm)) {
    // Other filters may have cleared the route cache, and the module, which cannot resolve the route, would see none.
    const index = placeOf(chain.items(), options);
    if (earlierFilters(chain, options).length > 0) editor.insertItem(chain.seq, index, RESOLVE);
    const shared = () => wasmFilter(DOWNSTREAM_FILTER, "downstream", vmId, options, settings);
    const owns = own === undefined ? undefined : [...new Set(own.values())];
    const added = owns?.map((one) => ownFilter(one, vmId, options)) ?? [shared()];
    for (const filter of added) editor.insertItem(chain.seq, index, filter);
  }
  if (place !== "nowhere") wireRouter(router, vmId, place, options, editor);
}

function wireRouter(router: Cursor, vmId: string, place: UpstreamPlace, options: PlanOptions, editor: Editor): void {
  const config = router.field("typed_config");
  const own = config?.field("upstream_http_filters");
  if (own !== undefined && hasItems(own)) wireUpstreamChain(own, vmId, place, options, editor);
  else if (config?.map !== undefined) {
    const codec = { name: UPSTREAM_CODEC, typed_config: { "@type": TYPE.upstreamCodec } };
    editor.set(config.map, "upstream_http_filters", [wasmFilter(UPSTREAM_FILTER, "upstream", vmId, options), codec]);
  }
}

function wireUpstreamChain(
  chain: Cursor,
  vmId: string,
  place: UpstreamPlace,
  options: PlanOptions,
  editor: Editor,
): void {
  if (chain.seq === undefined || hasFilter(chain, UPSTREAM_FILTER, TYPE.wasm)) return;
  const filter = wasmFilter(UPSTREAM_FILTER, "upstream", vmId, options);
  editor.insertItem(chain.seq, 0, filter);
  if (place !== "around" || !hasOtherUpstreamFilters(chain)) return;
  const codec = chain.items().findIndex(isUpstreamCodec);
  editor.insertItem(chain.seq, codec < 0 ? chain.items().length : codec, filter);
}

function wasmFilter(name: string, rootId: string, vmId: string, options: PlanOptions, settings?: Json): Json {
  const filter_metadata = { [METADATA_NAMESPACE]: settings ?? null };
  // Any message but a string or a struct reaches the module as it is, in the form that it reads settings from anyway.
  const configuration = { "@type": TYPE.metadata, filter_metadata };
  const config = {
    name: DOWNSTREAM_FILTER,
    root_id: rootId,
    failure_policy: options.failurePolicy,
    vm_config: { vm_id: vmId, runtime: "envoy.wasm.runtime.v8", code: moduleCode(options.module) },
    ...(settings === undefined ? {} : { configuration }),
  };
  return { name, typed_config: { "@type": TYPE.wasm, config } };
}

function ownFilter({ name, id, settings }: OwnFilter, vmId: string, options: PlanOptions): Json {
  const filter = wasmFilter(name, "downstream", vmId, options, settings) as { typed_config: { config: object } };
  const { config } = filter.typed_config;
  const { vm_config } = config as { vm_config: object };
  const own = {
    ...config,
    // A virtual machine of its own, in updates of the listener too: it knows one route.
    vm_config: { ...vm_config, configuration: { "@type": TYPE.stringValue, value: id } },
  };
  return { name, disabled: true, typed_config: { "@type": TYPE.wasm, config: own } } as Json;
}

function moduleCode(source: ModuleSource): Json {
  if (source.kind === "local") return { local: { filename: source.filename } };
  const http_uri = { uri: source.uri, cluster: source.cluster, timeout: "30s" };
  return { remote: { http_uri, sha256: source.sha256 } };
}

// The codec is the last filter of its chain, whatever its name.
function isUpstreamCodec(filter: Cursor): boolean {
  return (
    filter.field("typed_config")?.type() === TYPE.upstreamCodec || filter.field("name")?.string() === UPSTREAM_CODEC
  );
}

function isRouter(filter: Cursor): boolean {
  return filter.field("typed_config")?.type() === TYPE.router;
}

/** Found by name and type: a filter that lower wrote before, or that a user placed by hand. */
function hasFilter(chain: Cursor, name: string, type: string): boolean {
  return chain.items().some((filter) => isFilter(filter, name, type));
}

function isFilter(filter: Cursor, name: string, type: string): boolean {
  return filter.field("name")?.string() === name && filter.field("typed_config")?.type() === type;
}

/** Where the module goes: a chain of an upgrade need not have the filter that was asked for. */
function placeOf(filters: readonly Cursor[], { placeBefore }: PlanOptions): number {
  const asked = filters.findIndex((filter) => filter.field("name")?.string() === placeBefore);
  if (placeBefore !== undefined && asked >= 0) return asked;
  const router = filters.findIndex(isRouter);
  // The filters that hold answers and mark that the router begins stay the last.
  let index = router;
  while (isMark(filters[index - 1]) || isHold(filters[index - 1])) index -= 1;
  return index;
}

/** A route's own settings for a filter go by its name, so a name of the module's may have no other owner. */
function otherFiltersNamed(chain: Cursor, name: string, type: string): Finding[] {
  const others = chain
    .items()
    .filter((filter) => filter.field("name")?.string() === name && filter.field("typed_config")?.type() !== type);
  return others.map((filter) => filter.findingBelow(["name"], `expected another name, found ${name}, ${RESERVED}`));
}

const RESERVED = "which is the name of a filter that goes with the module";

/** Whether the module stands in the chain of a connection manager already. */
export function hasModule(manager: Cursor): boolean {
  return manager.list("http_filters").some((filter) => isOurs(filter.field("name")?.string()));
}

/** Whether a filter of the connection manager marks that the router begins, from an earlier lowering. */
export function hasMark(manager: Cursor): boolean {
  return filtersOf(manager).some(isMark);
}

/**
 * Filters of the module for some routes only, from an earlier lowering, in a chain to which other filters were added since:
 * a request that these move to such a route would do without.
 */
export function staleFilters(manager: Cursor, options: PlanOptions): Finding[] {
  if (!hasEarlierFilters(manager, options)) return [];
  const stale = manager
    .list("http_filters")
    .filter((filter) => filter.field("typed_config")?.type() === TYPE.wasm && filter.field("disabled")?.bool() === true)
    .filter((filter) => isOurs(filter.field("name")?.string()));
  return stale.map((filter) => filter.finding(STALE));
}

const STALE =
  "expected no filter before the module's own for some routes, found one that was added after the file was lowered: lower the native file";

function isMark(filter: Cursor | undefined): boolean {
  return filter !== undefined && isFilter(filter, STARTED_FILTER, TYPE.setFilterState);
}

function isHold(filter: Cursor | undefined): boolean {
  return isHoldFilter(filter?.field("name")?.string());
}

function isOurs(name: string | undefined): boolean {
  return name === RESOLVE_FILTER || name === STARTED_FILTER || /^attempt_router(_[0-9a-f]{16})?$/.test(name ?? "");
}

function earlierFilters(chain: Cursor, options: PlanOptions): Cursor[] {
  const filters = chain.items();
  return filters
    .slice(0, Math.max(placeOf(filters, options), 0))
    .filter((filter) => !isOurs(filter.field("name")?.string()) && !isHold(filter));
}

function hasItems(cursor: Cursor | undefined): boolean {
  return cursor !== undefined && cursor.items().length > 0;
}
