// Host and path, which no other stock upstream filter than Lua may change, and headers that another provider has removed: from what
// they were when the first attempt began.

import type { Json } from "../../yaml/scalar.js";
import { ATTEMPT_COUNT_HEADER, PROVIDER_FILTERS, TYPE } from "../types.js";
import { headersWritten, type Provider } from "./settings.js";

/** Where an attempt keeps what the ones after it need to restore. */
const FIRST = "attempt_router.provider";

/** The providers that an aggregate may have its host from, by the value of the header that tells which. */
export interface Members {
  header: string;
  providers: ReadonlyMap<string, Provider>;
}

export function movesRequests({ host, pathPrefix }: Provider): boolean {
  return host !== undefined || pathPrefix !== undefined;
}

/** The filter of a provider, or of one without settings; none where none of `all` moves or removes anything. */
export function rewriteFilter(
  provider: Provider | undefined,
  all: readonly Provider[],
  members?: Members,
): { [key: string]: Json }[] {
  const written = new Set(all.flatMap(headersWritten));
  const kept = [...new Set(all.flatMap(({ remove }) => remove))]
    .filter((name) => !written.has(name) && name !== ATTEMPT_COUNT_HEADER)
    .sort();
  const moves = all.some(movesRequests);
  if (!moves && kept.length === 0) return [];
  const inline_string = script({ kept, moves, provider, members });
  const typed_config = { "@type": TYPE.lua, clear_route_cache: false, default_source_code: { inline_string } };
  return [{ name: PROVIDER_FILTERS.rewrite, typed_config }];
}

interface Script {
  /** Headers that some provider removes. */
  kept: readonly string[];
  /** Whether host and path are written. */
  moves: boolean;
  provider: Provider | undefined;
  members: Members | undefined;
}

function script({ kept, moves, provider, members }: Script): string {
  const saved = [...(moves ? [":authority", ":path"] : []), ...kept];
  return [
    ...(members === undefined ? [] : membersTable(members, kept)),
    "function envoy_on_request(handle)",
    "  local headers = handle:headers()",
    "  local metadata = handle:streamInfo():dynamicMetadata()",
    `  local first = metadata:get(${quoted(FIRST)})`,
    "  if first == nil then",
    "    first = {}",
    `    for _, name in ipairs(${list(saved)}) do`,
    "      first[name] = headers:get(name)",
    `      if first[name] ~= nil then metadata:set(${quoted(FIRST)}, name, first[name]) end`,
    "    end",
    "  end",
    ...(members === undefined ? fixed(moves, provider, restoredOf(kept, provider)) : byMember(members, moves, kept)),
    "end",
    "",
  ].join("\n");
}

function fixed(moves: boolean, provider: Provider | undefined, restored: readonly string[]): string[] {
  const host = provider?.host === undefined ? 'first[":authority"]' : quoted(provider.host);
  const prefix = provider?.pathPrefix === undefined ? "" : `${quoted(provider.pathPrefix)} .. `;
  return [...(moves ? rewrites(host, prefix) : []), ...(restored.length > 0 ? restores(list(restored)) : [])];
}

/** One script, and so one Lua machine for each worker, does for all members. */
function byMember({ header }: Members, moves: boolean, kept: readonly string[]): string[] {
  return [
    `  local member = members[headers:get(${quoted(header)})] or others`,
    ...(moves ? rewrites('(member.host or first[":authority"])', "member.prefix .. ") : []),
    ...(kept.length > 0 ? restores("member.restored") : []),
  ];
}

function membersTable({ providers }: Members, kept: readonly string[]): string[] {
  const entry = (provider: Provider | undefined) => {
    const host = provider?.host === undefined ? "" : `host = ${quoted(provider.host)}, `;
    const restored = kept.length === 0 ? "" : `, restored = ${list(restoredOf(kept, provider))}`;
    return `{${host}prefix = ${quoted(provider?.pathPrefix ?? "")}${restored}}`;
  };
  return [
    `local others = ${entry(undefined)}`,
    "local members = {",
    ...[...providers].map(([name, provider]) => `  [${quoted(name)}] = ${entry(provider)},`),
    "}",
  ];
}

/** What the provider does not remove of what some provider does. */
function restoredOf(kept: readonly string[], provider: Provider | undefined): string[] {
  return kept.filter((name) => provider?.remove.includes(name) !== true);
}

function rewrites(host: string, prefix: string): string[] {
  return [
    `  if first[":authority"] ~= nil then headers:replace(":authority", ${host}) end`,
    `  if string.sub(first[":path"] or "", 1, 1) == "/" then headers:replace(":path", ${prefix}first[":path"]) end`,
  ];
}

function restores(names: string): string[] {
  return [
    `  for _, name in ipairs(${names}) do`,
    "    if first[name] ~= nil and headers:get(name) == nil then headers:add(name, first[name]) end",
    "  end",
  ];
}

function list(names: readonly string[]): string {
  return `{${names.map(quoted).join(", ")}}`;
}

/** Header names, host names and path prefixes have been checked to hold nothing that a Lua string cannot. */
function quoted(value: string): string {
  return JSON.stringify(value);
}
