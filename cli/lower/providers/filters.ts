// The stock upstream filters that make an attempt carry what its provider may see. They run once per attempt, and all
// attempts of a request share one header map: so each removes what another one wrote, before it writes its own.

import type { Json } from "../../yaml/scalar.js";
import { PROVIDER_FILTERS, TYPE } from "../types.js";
import { movesRequests, rewriteFilter } from "./rewrite.js";
import { headersWritten, type Credential, type Provider } from "./settings.js";

type Filter = { [key: string]: Json };

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
  /** A header of ours that no one may see. */
  ownHeader?: string;
}

/** The upstream filters of a cluster, in order, without the codec; none where nothing has to be done. */
export function providerFilters(use: ProviderUse): Filter[] {
  const { provider, beside } = use;
  return [...rewriteFilter(provider, all(provider, beside)), ...headerFilters(use)];
}

/** Those of the filters that touch headers alone. */
export function headerFilters(use: ProviderUse): Filter[] {
  const { credential } = use.provider ?? {};
  return [...mutationFilter(use), ...(credential === undefined ? [] : [credentialFilter(credential, use.secretName)])];
}

function all(provider: Provider | undefined, beside: readonly Provider[]): readonly Provider[] {
  return provider === undefined ? beside : [provider, ...beside];
}

function mutationFilter({ provider, beside, ownHeader }: ProviderUse): Filter[] {
  const own = new Set(provider === undefined ? [] : headersWritten(provider));
  const others = beside.flatMap(headersWritten).filter((name) => !own.has(name));
  const removed = [
    ...others,
    ...(provider?.remove ?? []),
    ...(all(provider, beside).some(movesRequests) ? [REDIRECTED_FROM] : []),
  ];
  if (ownHeader !== undefined) removed.push(ownHeader);
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

function credentialFilter({ header, prefix, secret }: Credential, secretName: string): Filter {
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
