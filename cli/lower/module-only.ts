// Clusters that only the module may reach: a route or an override that takes the name of a cluster from a request could
// otherwise lead a client there. Requests of the module come from no connection, so they have no source address.

import type { Json } from "../yaml/scalar.js";
import { HTTP_PROTOCOL_OPTIONS, TYPE } from "./types.js";

/** Every address that a connection may come from. */
const ANYWHERE = [
  { address_prefix: "0.0.0.0", prefix_len: 0 },
  { address_prefix: "::", prefix_len: 0 },
];

/** Fields of a cluster that refuse, with 403, whatever did not come from the module, and what `permissions` do not allow. */
export function moduleOnly(permissions: readonly Json[]): { [field: string]: Json } {
  const principals = [{ not_id: { or_ids: { ids: ANYWHERE.map((range) => ({ direct_remote_ip: range })) } } }];
  const rules = { action: "ALLOW", policies: { module: { permissions: [...permissions], principals } } };
  const http_filters = [
    { name: "envoy.filters.http.upstream_rbac", typed_config: { "@type": TYPE.rbac, rules } },
    { name: "envoy.filters.http.upstream_codec", typed_config: { "@type": TYPE.upstreamCodec } },
  ];
  const options = {
    "@type": `type.googleapis.com/${HTTP_PROTOCOL_OPTIONS}`,
    explicit_http_config: { http_protocol_options: {} },
    http_filters,
  };
  return { typed_extension_protocol_options: { [HTTP_PROTOCOL_OPTIONS]: options } };
}
