// Aggregate clusters: Envoy runs the upstream filters of the aggregate, whichever of its clusters has the host. So the endpoints
// of a provider carry its name in their metadata, and the aggregate runs the filters of the cluster that the host names.

import type { Json } from "../../yaml/scalar.js";
import { HOST_CLUSTER, hostMark } from "../host-marks.js";
import { METADATA_NAMESPACE, OWN_HEADERS, PROVIDER_FILTERS, TYPE } from "../types.js";
import { headerFilters, providerFilters, type ProviderUse } from "./filters.js";
import { rewriteFilter } from "./rewrite.js";
import type { Provider } from "./settings.js";

type Filter = { [key: string]: Json };

/** In which an attempt names the cluster of its host, between two filters. */
const MEMBER_HEADER = `${OWN_HEADERS}member`;

/** A cluster that an aggregate may have its host from. */
export interface MemberUse extends ProviderUse {
  name: string;
}

/**
 * The upstream filters of an aggregate, without the codec; none where none of its clusters needs any. A host that names no
 * cluster gets what `others` gets.
 */
export function aggregateFilters(members: readonly MemberUse[], others: ProviderUse): Filter[] {
  if (members.length === 0) return providerFilters(others);
  const providers = new Map<string, Provider>(
    members.flatMap(({ name, provider }) => (provider ? [[hostMark(name), provider] as const] : [])),
  );
  const map = Object.fromEntries(members.map((member) => [hostMark(member.name), run(member)]));
  const input = { name: "member", typed_config: { "@type": TYPE.headerInput, header_name: MEMBER_HEADER } };
  const xds_matcher = { matcher_tree: { input, exact_match_map: { map } }, on_no_match: run(others) };
  const extension_config = { name: "composite", typed_config: { "@type": TYPE.compositeFilter } };
  const typed_config = { "@type": TYPE.matching, extension_config, xds_matcher };
  return [
    memberFilter(),
    ...rewriteFilter(undefined, others.beside, { header: MEMBER_HEADER, providers }),
    { name: PROVIDER_FILTERS.ofMember, typed_config },
  ];
}

/** Runs the filters that touch headers as a cluster does by itself. */
function run(use: ProviderUse): Json {
  const typed_config = headerFilters({ ...use, ownHeader: MEMBER_HEADER });
  return {
    action: { name: "headers", typed_config: { "@type": TYPE.executeFilter, filter_chain: { typed_config } } },
  };
}

function memberFilter(): Filter {
  const value = `%UPSTREAM_METADATA(${METADATA_NAMESPACE}:${HOST_CLUSTER})%`;
  const request_mutations = [
    // What a client sent, or an attempt before.
    { remove: MEMBER_HEADER },
    { append: { header: { key: MEMBER_HEADER, value }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" } },
  ];
  return {
    name: PROVIDER_FILTERS.member,
    typed_config: { "@type": TYPE.headerMutation, mutations: { request_mutations } },
  };
}
