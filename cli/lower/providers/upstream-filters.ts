// Where the filters of a provider go: before the cluster's own upstream filters, which replace those of the router.

import type { Cursor } from "../../yaml/cursor.js";
import type { Editor } from "../../yaml/tree.js";
import type { Json } from "../../yaml/scalar.js";
import type { Finding, Warning } from "../../findings.js";
import { clusterFilters } from "../../read/resources.js";
import { canonicalJson } from "../settings.js";
import { HTTP_PROTOCOL_OPTIONS, PROVIDER_FILTERS, TYPE, UPSTREAM_FILTER } from "../types.js";

type Filter = { [key: string]: Json };

export interface Output {
  editor: Editor;
  findings: Finding[];
  warnings: Warning[];
}

const OURS = new Set<string>(Object.values(PROVIDER_FILTERS));
const CODEC: Filter = { name: "envoy.filters.http.upstream_codec", typed_config: { "@type": TYPE.upstreamCodec } };

/** Fields of a cluster that Envoy no longer looks at beside HttpProtocolOptions. */
const DEPRECATED_OPTIONS = [
  "http_protocol_options",
  "http2_protocol_options",
  "common_http_protocol_options",
  "upstream_http_protocol_options",
  "protocol_selection",
];

/** Puts `filters` first into a cluster's upstream filters. `routers` are those that lead to the cluster. */
export function writeFilters(
  cluster: Cursor,
  filters: readonly Filter[],
  routers: readonly Cursor[],
  out: Output,
): void {
  const own = clusterFilters(cluster);
  if (own?.seq !== undefined) {
    const items = own.items();
    const old = items.flatMap((item, index) => (OURS.has(item.field("name")?.string() ?? "") ? [index] : []));
    const before = old.map((index) => items[index]?.json() ?? null);
    if (canonicalJson(before) === canonicalJson([...filters])) return;
    // The module's own role stays the first.
    const first = items.findIndex((item) => item.field("name")?.string() !== UPSTREAM_FILTER);
    const kept = items.findIndex((_, index) => index >= first && !old.includes(index));
    if (old.length > 0) out.editor.removeItems(own.seq, new Set(old));
    for (const filter of filters) out.editor.insertItem(own.seq, kept < 0 ? items.length : kept, filter);
    return;
  }
  if (filters.length === 0) return;
  writeOptions(cluster, [...filters, ...routerFilters(cluster, routers, out)], out);
}

/** What the routers' upstream filters would have done on the cluster, which from now on has filters of its own. */
function routerFilters(cluster: Cursor, routers: readonly Cursor[], { findings }: Output): Filter[] {
  const chains = routers.map((router) => {
    const filters = router.list("upstream_http_filters").map((filter) => filter.json() as Filter);
    const theirs = filters.filter(({ name }) => name !== UPSTREAM_FILTER);
    return theirs.length === 0 ? [CODEC] : theirs;
  });
  const [chain = [CODEC], ...others] = [...new Map(chains.map((one) => [canonicalJson(one), one])).values()];
  if (others.length > 0) findings.push(cluster.finding(DIFFERENT_CHAINS));
  return chain;
}

const DIFFERENT_CHAINS =
  "expected the same upstream_http_filters in all routers that lead to this cluster, or http_filters of its own, found different ones";

function writeOptions(cluster: Cursor, http_filters: Filter[], { editor, findings }: Output): void {
  const all = cluster.field("typed_extension_protocol_options");
  const options = all?.field(HTTP_PROTOCOL_OPTIONS);
  if (options?.map !== undefined) {
    editor.set(options.map, "http_filters", http_filters);
    return;
  }
  const deprecated = DEPRECATED_OPTIONS.map((name) => cluster.field(name)).find((field) => field !== undefined);
  if (deprecated !== undefined) {
    findings.push(
      deprecated.finding(
        `expected this in typed_extension_protocol_options of a cluster that gets http_filters, found it here`,
      ),
    );
    return;
  }
  const explicit_http_config = { http_protocol_options: {} };
  const type = `type.googleapis.com/${HTTP_PROTOCOL_OPTIONS}`;
  const added = { "@type": type, explicit_http_config, http_filters };
  if (all?.map !== undefined) editor.set(all.map, HTTP_PROTOCOL_OPTIONS, added);
  else if (cluster.map !== undefined)
    editor.set(cluster.map, "typed_extension_protocol_options", { [HTTP_PROTOCOL_OPTIONS]: added });
}
