// Aggregate clusters: Envoy runs the upstream filters of the aggregate, whichever of its clusters has the host. So the endpoints
// of a provider carry its name in their metadata, and the aggregate runs the filters of the cluster that the host names.

import type { Cursor } from "../../yaml/cursor.js";
import type { Editor } from "../../yaml/tree.js";
import type { Json } from "../../yaml/scalar.js";
import { readMember } from "../members.js";
import { METADATA_NAMESPACE, OWN_HEADERS, PROVIDER_FILTERS, TYPE } from "../types.js";
import { headerFilters, providerFilters, type ProviderUse } from "./filters.js";
import { rewriteFilter } from "./rewrite.js";
import type { Provider } from "./settings.js";

type Filter = { [key: string]: Json };

/** In which an attempt names the cluster of its host, between two filters. */
const MEMBER_HEADER = `${OWN_HEADERS}member`;
/** The field of an endpoint's metadata that has it. */
const FIELD = "cluster";

/** A cluster that an aggregate may have its host from. */
export interface MemberUse extends ProviderUse {
  name: string;
}

/** Why the endpoints of a cluster cannot name it, as the end of a sentence; undefined where they can. */
export function whyNotMarkable(cluster: Cursor): string | undefined {
  const { hosts } = readMember(cluster);
  if (hosts === "STATIC" || hosts === "DNS") return undefined;
  return "has a provider, and its endpoints are not in this file, so that they cannot name it";
}

/** Has every endpoint of a cluster name it. */
export function markEndpoints(cluster: Cursor, name: string, editor: Editor): void {
  const endpoints = cluster.field("load_assignment")?.list("endpoints") ?? [];
  for (const endpoint of endpoints.flatMap((locality) => locality.list("lb_endpoints"))) {
    const path = ["metadata", "filter_metadata", METADATA_NAMESPACE, FIELD];
    if (endpoint.at(...path)?.json() !== mark(name)) setAt(endpoint, path, mark(name), editor);
  }
}

function setAt(message: Cursor, [key = "", ...rest]: string[], value: Json, editor: Editor): void {
  const inner = message.field(key);
  if (rest.length > 0 && inner?.map !== undefined) setAt(inner, rest, value, editor);
  else if (message.map !== undefined) {
    const written = rest.reduceRight<Json>((below, name) => ({ [name]: below }), value);
    editor.set(message.map, key, written);
  }
}

/**
 * The upstream filters of an aggregate, without the codec; none where none of its clusters needs any. A host that names no
 * cluster gets what `others` gets.
 */
export function aggregateFilters(members: readonly MemberUse[], others: ProviderUse): Filter[] {
  if (members.length === 0) return providerFilters(others);
  const providers = new Map<string, Provider>(
    members.flatMap(({ name, provider }) => (provider ? [[mark(name), provider] as const] : [])),
  );
  const map = Object.fromEntries(members.map((member) => [mark(member.name), run(member)]));
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
  const value = `%UPSTREAM_METADATA(${METADATA_NAMESPACE}:${FIELD})%`;
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

/** A cluster's name as the value of a header; different for different names. */
function mark(name: string): string {
  return name.replace(/[^!-$&-~]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
