// The stock upstream filters that make an attempt carry what its provider may see. They run once per attempt, and all
// attempts of a request share one header map: so each removes what another one wrote, before it writes its own.

import type { Json } from "../../yaml/scalar.js";
import { ATTEMPT_COUNT_HEADER, PROVIDER_FILTERS, TYPE } from "../types.js";
import { headersWritten, type Credential, type Provider } from "./settings.js";

/** Where an attempt keeps what the ones after it need to restore. */
const FIRST = "attempt_router.provider";
/** In which Envoy tells the URL that an internal redirect came from: host and path of the provider that sent it. */
const REDIRECTED_FROM = "x-envoy-original-url";

/** A cluster with what its filters depend on. */
export interface ProviderUse {
  /** Undefined where the cluster only stands beside others that have settings. */
  provider: Provider | undefined;
  /** Name of the static secret that holds the key of `credential.file`. */
  secretName: string;
  /** The providers of the clusters that a request may meet as well. */
  beside: readonly Provider[];
}

/** The upstream filters of a cluster, in order, without the codec; none where nothing has to be done. */
export function providerFilters({ provider, secretName, beside }: ProviderUse): { [key: string]: Json }[] {
  const all = provider === undefined ? beside : [provider, ...beside];
  return [
    ...rewriteFilter(provider, all),
    ...headerFilter(provider, beside, all),
    ...(provider?.credential === undefined ? [] : [credentialFilter(provider.credential, secretName)]),
  ];
}

function headerFilter(
  provider: Provider | undefined,
  beside: readonly Provider[],
  all: readonly Provider[],
): { [key: string]: Json }[] {
  const own = new Set(provider === undefined ? [] : headersWritten(provider));
  const others = beside.flatMap(headersWritten).filter((name) => !own.has(name));
  const removed = [...others, ...(provider?.remove ?? []), ...(all.some(movesRequests) ? [REDIRECTED_FROM] : [])];
  const request_mutations: Json[] = [
    ...[...new Set(removed)].sort().map((name) => ({ remove: name })),
    ...(provider?.set ?? []).map((header) => ({
      append: { header: { ...header }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" },
    })),
  ];
  if (request_mutations.length === 0) return [];
  const typed_config = { "@type": TYPE.headerMutation, mutations: { request_mutations } };
  return [{ name: PROVIDER_FILTERS.headers, typed_config }];
}

function credentialFilter({ header, prefix, secret }: Credential, secretName: string): { [key: string]: Json } {
  const generic = {
    "@type": TYPE.genericCredential,
    credential: secret ?? { name: secretName },
    header,
    ...(prefix === "" ? {} : { header_value_prefix: prefix }),
  };
  const credential = { name: "envoy.http.injected_credentials.generic", typed_config: generic };
  const typed_config = { "@type": TYPE.credentialInjector, overwrite: true, credential };
  return { name: PROVIDER_FILTERS.key, typed_config };
}

function movesRequests({ host, pathPrefix }: Provider): boolean {
  return host !== undefined || pathPrefix !== undefined;
}

/**
 * Host and path, which no other stock upstream filter may change, and headers that another provider has removed: from
 * what they were when the first attempt began.
 */
function rewriteFilter(provider: Provider | undefined, all: readonly Provider[]): { [key: string]: Json }[] {
  const written = new Set(all.flatMap(headersWritten));
  const kept = [...new Set(all.flatMap(({ remove }) => remove))]
    .filter((name) => !written.has(name) && name !== ATTEMPT_COUNT_HEADER)
    .sort();
  const moves = all.some(movesRequests);
  if (!moves && kept.length === 0) return [];
  const restored = kept.filter((name) => provider?.remove.includes(name) !== true);
  const code = script(
    [...(moves ? [":authority", ":path"] : []), ...kept],
    restored,
    moves ? provider : undefined,
    moves,
  );
  const default_source_code = { inline_string: code };
  const typed_config = { "@type": TYPE.lua, clear_route_cache: false, default_source_code };
  return [{ name: PROVIDER_FILTERS.rewrite, typed_config }];
}

function script(
  saved: readonly string[],
  restored: readonly string[],
  provider: Provider | undefined,
  moves: boolean,
): string {
  const host = provider?.host === undefined ? 'first[":authority"]' : quoted(provider.host);
  const prefix = provider?.pathPrefix === undefined ? "" : `${quoted(provider.pathPrefix)} .. `;
  const rewrites = [
    `  if first[":authority"] ~= nil then headers:replace(":authority", ${host}) end`,
    `  if string.sub(first[":path"] or "", 1, 1) == "/" then headers:replace(":path", ${prefix}first[":path"]) end`,
  ];
  const restores = [
    `  for _, name in ipairs({${restored.map(quoted).join(", ")}}) do`,
    "    if first[name] ~= nil and headers:get(name) == nil then headers:add(name, first[name]) end",
    "  end",
  ];
  return [
    "function envoy_on_request(handle)",
    "  local headers = handle:headers()",
    "  local metadata = handle:streamInfo():dynamicMetadata()",
    `  local first = metadata:get(${quoted(FIRST)})`,
    "  if first == nil then",
    "    first = {}",
    `    for _, name in ipairs({${saved.map(quoted).join(", ")}}) do`,
    "      first[name] = headers:get(name)",
    `      if first[name] ~= nil then metadata:set(${quoted(FIRST)}, name, first[name]) end`,
    "    end",
    "  end",
    ...(moves ? rewrites : []),
    ...(restored.length > 0 ? restores : []),
    "end",
    "",
  ].join("\n");
}

/** Header names, host names and path prefixes have been checked to hold nothing that a Lua string cannot. */
function quoted(value: string): string {
  return JSON.stringify(value);
}
