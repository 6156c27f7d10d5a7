import type { FilterStateMatcher, HeaderMatcher, MetadataMatcher, NamedMatcher } from "../model/match.js";
import type { PathMatch, RouteMatch, StringMatcher } from "../model/match.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import { bool, fraction, isTrue, jsonAt, snakeJson, text } from "./fields.js";
import { originOf } from "./place.js";
import { otherMatch, rangeOf, readStringMatcher, readValueMatcher } from "./string-matcher.js";

const TEXT_PATHS = ["prefix", "path", "path_separated_prefix"] as const;
const KNOWN = new Set<string>([
  ...TEXT_PATHS,
  ...["safe_regex", "connect_matcher", "path_match_policy", "case_sensitive", "runtime_fraction", "headers"],
  ...["query_parameters", "cookies", "grpc", "tls_context", "dynamic_metadata", "filter_state"],
]);

/** `envoy.config.route.v3.RouteMatch`; `route` holds the match, and may lack it. */
export function readMatch(route: Cursor): RouteMatch {
  const match = route.field("match");
  const tls = match?.field("tls_context");
  const list = <T>(name: string, read: (item: Cursor) => T): T[] => (match?.list(name) ?? []).map(read);
  return {
    origin: originOf(match ?? route),
    path: match === undefined ? undefined : readPath(match),
    runtimeFraction: fraction(match, "runtime_fraction"),
    headers: list("headers", readHeaderMatcher),
    queryParameters: list("query_parameters", (item) => readNamedMatcher(item)),
    cookies: list("cookies", (item) => readNamedMatcher(item)),
    grpc: match?.field("grpc") !== undefined,
    tls: tls && { presented: bool(tls, "presented")?.value, validated: bool(tls, "validated")?.value },
    dynamicMetadata: list("dynamic_metadata", readMetadataMatcher),
    filterState: list("filter_state", readFilterStateMatcher),
    others: (match?.entries() ?? [])
      .filter(({ key, value }) => !KNOWN.has(snakeCase(key)) && value.json() !== null)
      .map(({ value }) => jsonAt(value)),
    get json() {
      return match === undefined ? {} : snakeJson(match);
    },
  };
}

/** `envoy.config.route.v3.HeaderMatcher`. */
export function readHeaderMatcher(item: Cursor): HeaderMatcher {
  return {
    name: item.field("name")?.string() ?? "",
    test: headerTest(item),
    invert: isTrue(item, "invert_match"),
    treatMissingAsEmpty: isTrue(item, "treat_missing_header_as_empty"),
    origin: originOf(item),
  };
}

function readPath(match: Cursor): PathMatch | undefined {
  const caseSensitive = match.field("case_sensitive")?.bool() !== false;
  for (const type of TEXT_PATHS) {
    const at = match.field(type);
    const value = at?.string();
    if (at !== undefined && value !== undefined) return { type, text: value, caseSensitive, origin: originOf(at) };
  }
  const regex = match.at("safe_regex", "regex");
  if (regex !== undefined) {
    return { type: "safe_regex", text: regex.string() ?? "", caseSensitive: true, origin: originOf(regex) };
  }
  const connect = match.field("connect_matcher");
  if (connect !== undefined) return { type: "connect_matcher", origin: originOf(connect) };
  const policy = match.field("path_match_policy");
  if (policy === undefined) return undefined;
  const template = policy.at("typed_config", "path_template")?.string();
  return { type: "path_match_policy", template, json: snakeJson(policy), origin: originOf(policy) };
}

const OLD_TEXTS = { exact_match: "exact", prefix_match: "prefix", suffix_match: "suffix", contains_match: "contains" };

/** A matcher without any test is one for presence. */
function headerTest(item: Cursor): HeaderMatcher["test"] {
  const match = item.field("string_match");
  if (match !== undefined) return { type: "string", match: readStringMatcher(match) };
  const range = item.field("range_match");
  if (range !== undefined) return { type: "range", ...rangeOf(range) };
  for (const [field, type] of Object.entries(OLD_TEXTS)) {
    const at = text(item, field);
    if (at === undefined) continue;
    const old = { type, text: at.value, ignoreCase: false, origin: at.origin } as StringMatcher;
    return { type: "string", match: old };
  }
  const regex = item.at("safe_regex_match", "regex");
  if (regex === undefined) return { type: "present", present: item.field("present_match")?.bool() !== false };
  const match_ = { type: "regex", text: regex.string() ?? "", ignoreCase: false, origin: originOf(regex) } as const;
  return { type: "string", match: match_ };
}

function readNamedMatcher(item: Cursor): NamedMatcher {
  const match = item.field("string_match");
  return {
    name: item.field("name")?.string() ?? "",
    test:
      match === undefined
        ? { type: "present", present: item.field("present_match")?.bool() !== false }
        : { type: "string", match: readStringMatcher(match) },
    invert: isTrue(item, "invert_match"),
    origin: originOf(item),
  };
}

function readMetadataMatcher(item: Cursor): MetadataMatcher {
  const value = item.field("value");
  return {
    filter: item.field("filter")?.string() ?? "",
    path: item.list("path").map((segment) => segment.field("key")?.string() ?? ""),
    value: value === undefined ? otherMatch(item) : readValueMatcher(value),
    invert: isTrue(item, "invert"),
    origin: originOf(item),
  };
}

function readFilterStateMatcher(item: Cursor): FilterStateMatcher {
  const match = item.field("string_match");
  return {
    key: item.field("key")?.string() ?? "",
    match: match === undefined ? otherMatch(item) : readStringMatcher(match),
    origin: originOf(item),
  };
}
