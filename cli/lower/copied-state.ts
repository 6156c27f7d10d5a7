// Behind the module (`--place-before`) a filter runs with the copy of a route that the module chose. What it keeps for a
// route, like the tokens of a rate limit, it would keep for each copy.

import { chainsOf, isFilter, isOurs, isRouter, placeOf } from "../choose/filter-chain.js";
import type { Finding } from "../findings.js";
import type { ConnectionManager } from "../model/program.js";
import type { Cursor } from "../yaml/cursor.js";
import type { PlanOptions } from "./options.js";
import { DOWNSTREAM_FILTER, PER_FILTER, TYPE } from "./types.js";

/** Whether a filter of this name may stand behind the module. */
export type Behind = (name: string) => boolean;

/** Configuration for a route that is only read: of these types a copy is as good as the original. */
const WITHOUT_STATE = new Set(
  [
    ...["api_key_auth.v3.ApiKeyAuthPerRoute", "basic_auth.v3.BasicAuthPerRoute", "buffer.v3.BufferPerRoute"],
    ...["compressor.v3.CompressorPerRoute", "cors.v3.CorsPolicy", "csrf.v3.CsrfPolicy"],
    ...["ext_authz.v3.ExtAuthzPerRoute", "ext_proc.v3.ExtProcPerRoute", "header_mutation.v3.HeaderMutationPerRoute"],
    ...["jwt_authn.v3.PerRouteConfig", "ratelimit.v3.RateLimitPerRoute", "rbac.v3.RBACPerRoute"],
    ...["set_filter_state.v3.Config", "set_metadata.v3.Config"],
  ].map((type) => `type.googleapis.com/envoy.extensions.filters.http.${type}`),
);

/** The filters that one of these connection managers has behind the module; of routes without one, none is known. */
export function behindModule(managers: readonly ConnectionManager[], options: PlanOptions): Behind {
  if (managers.length === 0) return () => options.placeBefore !== undefined;
  const behind = managers.flatMap(chainsOf).flatMap(({ filters }) => {
    const module = filters.findIndex((filter) => isFilter(filter, DOWNSTREAM_FILTER, TYPE.wasm));
    return filters.slice(module < 0 ? placeOf(filters, options) : module);
  });
  const names = new Set(behind.filter((filter) => !isRouter(filter) && !isOurs(filter.name)).map(({ name }) => name));
  return (name) => names.has(name);
}

/** What filters behind the module may keep for each copy of a route. */
export function copiedState(route: Cursor, behind: Behind): Finding[] {
  const clusters = route.at("route", "weighted_clusters")?.list("clusters") ?? [];
  const entries = [route, ...clusters].flatMap((level) => level.field(PER_FILTER)?.entries() ?? []);
  return entries
    .filter(({ key, value }) => behind(key) && mayKeepState(value))
    .map(({ value }) => value.finding(KEPT_FOR_EACH));
}

function mayKeepState(config: Cursor): boolean {
  if (config.type() !== TYPE.filterConfig) return !WITHOUT_STATE.has(config.type() ?? "");
  const inner = config.field("config");
  return inner !== undefined && mayKeepState(inner);
}

const KEPT_FOR_EACH =
  "expected no configuration for which a filter behind the module may keep state, like tokens, on a route with several copies, " +
  "found one, and each copy would have its own state: write it into typed_per_filter_config of the virtual host, " +
  "or place the module behind the filter";
