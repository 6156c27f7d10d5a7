import { isFilter, isUpstreamCodec, otherUpstreamFilter } from "../choose/filter-chain.js";
import type { Cluster } from "../model/cluster.js";
import type { FilterChain } from "../model/filters.js";
import type { Router } from "../model/program.js";
import { cursorAt } from "../read/place.js";
import type { Editor } from "../yaml/tree.js";
import type { PlanOptions } from "./options.js";
import { TYPE, UPSTREAM_CODEC, UPSTREAM_FILTER } from "./types.js";
import { upstreamFilter } from "./wasm-filter.js";

/**
 * Where the upstream role goes in an upstream filter chain: first, or around the filters between which metadata may be
 * written. First, because a filter that waits must not let the router retry before the slot was written; and again last,
 * before the codec, to see what those filters wrote.
 */
export type UpstreamPlace = "nowhere" | "first" | "around";

/** Puts the upstream role into a cluster's own filters, which replace the router's. */
export function wireCluster(
  cluster: Cluster,
  vmId: string,
  place: UpstreamPlace,
  options: PlanOptions,
  editor: Editor,
): void {
  const filters = cluster.protocolOptions?.filters;
  if (filters !== undefined) wireUpstreamChain(filters, vmId, place, options, editor);
}

/** Puts the upstream role into the filters of a router. */
export function wireRouter(
  router: Router,
  vmId: string,
  place: UpstreamPlace,
  options: PlanOptions,
  editor: Editor,
): void {
  if (router.upstream !== undefined) {
    wireUpstreamChain(router.upstream, vmId, place, options, editor);
    return;
  }
  const config = cursorAt(router.origin).field("typed_config");
  if (config?.map === undefined) return;
  const codec = { name: UPSTREAM_CODEC, typed_config: { "@type": TYPE.upstreamCodec } };
  editor.set(config.map, "upstream_http_filters", [upstreamFilter(vmId, options), codec]);
}

function wireUpstreamChain(
  chain: FilterChain,
  vmId: string,
  place: UpstreamPlace,
  options: PlanOptions,
  editor: Editor,
): void {
  const { filters } = chain;
  const { seq } = cursorAt(chain.origin);
  if (seq === undefined || filters.some((filter) => isFilter(filter, UPSTREAM_FILTER, TYPE.wasm))) return;
  const filter = upstreamFilter(vmId, options);
  editor.insertItem(seq, 0, filter);
  if (place !== "around" || otherUpstreamFilter(chain) === undefined) return;
  const codec = filters.findIndex(isUpstreamCodec);
  editor.insertItem(seq, codec < 0 ? filters.length : codec, filter);
}
