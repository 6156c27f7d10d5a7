// The filters that hold answers: one in the upstream filter chains for each kind of settings, and one before the router that
// gives an answer that was not retried its own status back. All are switched off but on the routes that have the setting.

import type { Cursor } from "../../yaml/cursor.js";
import type { Editor } from "../../yaml/tree.js";
import type { Json } from "../../yaml/scalar.js";
import type { ModuleSource, PlanOptions } from "../options.js";
import { METADATA_NAMESPACE, STARTED_FILTER, TYPE, UPSTREAM_FILTER } from "../types.js";
import type { HoldSettings } from "./settings.js";

/** The filter before the router; those in upstream filter chains have a digest of their settings behind the name. */
export const HOLD_FILTER = "attempt_router_hold";

const UPSTREAM_CODEC = "envoy.filters.http.upstream_codec";

/** What a filter's settings of a route say to switch it on or off. */
export function switched(on: boolean): Json {
  return { "@type": TYPE.filterConfig, config: {}, disabled: !on };
}

/** Whether a filter is one of these. */
export function isHoldFilter(name: string | undefined): boolean {
  return name !== undefined && /^attempt_router_hold(_[0-9a-f]{16})?$/.test(name);
}

/** Where the module's filters are put. */
export interface Place {
  vmId: string;
  options: PlanOptions;
  /** Where Envoy finds the module that holds. */
  module: ModuleSource;
}

/** Puts the filter that gives answers back right before the router. */
export function wireDownstream(chain: Cursor, place: Place, editor: Editor): void {
  const filters = chain.items();
  const router = filters.findIndex((filter) => filter.field("typed_config")?.type() === TYPE.router);
  if (router < 0 || chain.seq === undefined || has(chain, HOLD_FILTER)) return;
  // The filter that marks that the router begins stays the last.
  const index = filters[router - 1]?.field("name")?.string() === STARTED_FILTER ? router - 1 : router;
  editor.insertItem(chain.seq, index, wasmFilter(HOLD_FILTER, "downstream", place));
}

/** Puts the filters that hold into a router's upstream filter chain. */
export function wireRouter(
  router: Cursor,
  kinds: ReadonlyMap<string, HoldSettings>,
  place: Place,
  editor: Editor,
): void {
  const chain = router.field("upstream_http_filters");
  if (chain !== undefined && chain.items().length > 0) wireUpstream(chain, kinds, place, editor);
  else if (router.map !== undefined) {
    const codec = { name: UPSTREAM_CODEC, typed_config: { "@type": TYPE.upstreamCodec } };
    const filters = [...kinds].map(([name, settings]) => wasmFilter(name, "upstream", place, settings));
    editor.set(router.map, "upstream_http_filters", [...filters, codec]);
  }
}

/** Puts the filters that hold first, so that they are the last to see a response before the router, after any that change it. */
export function wireUpstream(
  chain: Cursor,
  kinds: ReadonlyMap<string, HoldSettings>,
  place: Place,
  editor: Editor,
): void {
  if (chain.seq === undefined) return;
  const first = chain.items()[0]?.field("name")?.string() === UPSTREAM_FILTER ? 1 : 0;
  for (const [name, settings] of kinds) {
    if (!has(chain, name)) editor.insertItem(chain.seq, first, wasmFilter(name, "upstream", place, settings));
  }
}

function has(chain: Cursor, name: string): boolean {
  return chain.items().some((filter) => filter.field("name")?.string() === name);
}

function wasmFilter(name: string, rootId: string, { vmId, options, module }: Place, settings?: HoldSettings): Json {
  const configuration = { "@type": TYPE.metadata, filter_metadata: { [METADATA_NAMESPACE]: settings ?? {} } };
  const config = {
    name: HOLD_FILTER,
    root_id: rootId,
    failure_policy: options.failurePolicy,
    ...(settings === undefined ? {} : { allow_on_headers_stop_iteration: true }),
    vm_config: { vm_id: vmId, runtime: "envoy.wasm.runtime.v8", code: codeOf(module) },
    ...(settings === undefined ? {} : { configuration }),
  };
  return { name, disabled: true, typed_config: { "@type": TYPE.wasm, config } };
}

function codeOf(source: ModuleSource): Json {
  if (source.kind === "local") return { local: { filename: source.filename } };
  const http_uri = { uri: source.uri, cluster: source.cluster, timeout: "30s" };
  return { remote: { http_uri, sha256: source.sha256 } };
}
