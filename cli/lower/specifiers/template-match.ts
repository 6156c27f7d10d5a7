import { snakeCase, type Cursor } from "../../yaml/cursor.js";
import type { Json } from "../../yaml/scalar.js";

type Message = { [key: string]: Json };

/** A route's match as a Condition: `incomplete` where the condition holds for more requests than the match does. */
export interface MatchCondition {
  condition: Message;
  incomplete: boolean;
}

const TEXT_KINDS = ["exact", "prefix", "suffix", "contains"];
/** Fields whose value does not change which requests match. */
const NEUTRAL = ["case_sensitive"];
/** What Envoy takes for a gRPC request. */
const GRPC: readonly Message[] = [{ exact: "application/grpc" }, { prefix: "application/grpc+" }].map((text) => ({
  headers: [{ name: "content-type", string_match: text }],
}));

/** Where matching cuts a path at ";", which the module does not. */
export function ignoresParameters(config: Cursor): boolean {
  return config.field("ignore_path_parameters_in_path_matching")?.bool() === true;
}

/** The places in a Condition, and in those within it, that compare the path. */
export function pathConditions(condition: Cursor | undefined): Cursor[] {
  if (condition === undefined) return [];
  const path = condition.field("path");
  const within = [...condition.list("any_of"), condition.field("not")].flatMap(pathConditions);
  return path === undefined ? within : [path, ...within];
}

/** What a module can evaluate of an `envoy.config.route.v3.RouteMatch`; `cutsPath`: not the path. */
export function matchCondition(match: Cursor, cutsPath: boolean): MatchCondition {
  const condition: Message = {};
  /** Of each list, one must hold. */
  const choices: Message[][] = [];
  let incomplete = false;
  for (const { key, value } of match.entries()) {
    const field = snakeCase(key);
    const read = READERS[field];
    if (field in PATHS) {
      const paths = cutsPath ? undefined : pathMatches(field, value, match);
      if (paths === undefined) incomplete = true;
      else if (paths.length === 1) condition["path"] = paths[0] ?? {};
      else if (paths.length > 1) choices.push(paths.map((path) => ({ path })));
    } else if (field === "grpc") choices.push([...GRPC]);
    else if (read !== undefined) {
      const matchers = value.items().map(read);
      const known = matchers.filter((matcher) => matcher !== undefined);
      if (known.length > 0) condition[CONDITIONS[field] ?? field] = known;
      if (known.length < matchers.length) incomplete = true;
    } else if (!NEUTRAL.includes(field)) incomplete = true;
  }
  const anyOf = choices.reduce<Message[]>(
    (all, one) => all.flatMap((left) => one.map((right) => ({ ...left, ...right }))),
    [{}],
  );
  return { condition: choices.length === 0 ? condition : { ...condition, any_of: anyOf }, incomplete };
}

type Texts = (text: string) => Message[];

/** The paths that each kind of match is for; "" as a prefix is for all. */
const PATHS: Readonly<Record<string, Texts>> = {
  path: (exact) => [{ exact }],
  prefix: (prefix) => (prefix === "" ? [] : [{ prefix }]),
  path_separated_prefix: (text) => [{ exact: text }, { prefix: `${text}/` }],
};

function pathMatches(field: string, value: Cursor, match: Cursor): Message[] | undefined {
  const text = value.string();
  if (text === undefined) return undefined;
  const anyCase = match.field("case_sensitive")?.bool() === false ? { ignore_case: true } : {};
  return PATHS[field]?.(text).map((path) => ({ ...path, ...anyCase }));
}

type Reader = (item: Cursor) => Message | undefined;

/** Matchers as conditions have them; undefined for kinds that they lack. */
const READERS: Readonly<Record<string, Reader>> = {
  headers: (item) => matcherOf(item, ["name", "present_match", "invert_match", "treat_missing_header_as_empty"]),
  query_parameters: (item) => matcherOf(item, ["name", "present_match"]),
  dynamic_metadata: metadataMatcher,
};
const CONDITIONS: Readonly<Record<string, string>> = { dynamic_metadata: "metadata" };

/** `same`: fields that a condition has, too. */
function matcherOf(item: Cursor, same: readonly string[]): Message | undefined {
  const matcher: Message = {};
  for (const { key, value } of item.entries()) {
    const field = snakeCase(key);
    const kind = /^(\w+)_match$/.exec(field)?.[1] ?? "";
    if (same.includes(field)) matcher[field] = value.json();
    else if (field === "string_match") {
      const text = textMatch(value);
      if (text === undefined) return undefined;
      matcher[field] = text;
    } else if (TEXT_KINDS.includes(kind)) matcher["string_match"] = { [kind]: value.json() };
    else return undefined;
  }
  return matcher;
}

function textMatch(cursor: Cursor): Message | undefined {
  const match: Message = {};
  for (const { key, value } of cursor.entries()) {
    const field = snakeCase(key);
    if (!TEXT_KINDS.includes(field) && field !== "ignore_case") return undefined;
    match[field] = value.json();
  }
  return match;
}

function metadataMatcher(item: Cursor): Message | undefined {
  const wanted = item.field("value");
  const [entry, ...more] = wanted?.entries() ?? [];
  const kind = entry === undefined ? "" : snakeCase(entry.key);
  if (entry === undefined || more.length > 0 || !VALUE_KINDS.includes(kind)) return undefined;
  const value = kind === "string_match" ? textMatch(entry.value) : entry.value.json();
  const path = item.list("path").map((step) => step.field("key")?.json() ?? "");
  if (value === undefined || value === null) return undefined;
  const invert = item.field("invert")?.bool() === true ? { invert: true } : {};
  return { namespace: item.field("filter")?.json() ?? "", path, value: { [kind]: value }, ...invert };
}

const VALUE_KINDS = ["string_match", "bool_match", "double_match"];
