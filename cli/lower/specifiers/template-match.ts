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
  const result: MatchCondition = { condition: {}, incomplete: false };
  for (const { key, value } of match.entries()) {
    const field = snakeCase(key);
    if (field === "headers") addHeaders(value, result);
    else if ((cutsPath || !addPath(field, value, match, result)) && !NEUTRAL.includes(field)) result.incomplete = true;
  }
  return result;
}

function addPath(field: string, value: Cursor, match: Cursor, result: MatchCondition): boolean {
  const text = value.string();
  if (text === undefined || !["prefix", "path", "path_separated_prefix"].includes(field)) return false;
  const anyCase: Message = match.field("case_sensitive")?.bool() === false ? { ignore_case: true } : {};
  if (field === "path") result.condition["path"] = { exact: text, ...anyCase };
  else if (field === "path_separated_prefix") {
    const paths: Message[] = [{ exact: text }, { prefix: `${text}/` }];
    result.condition["any_of"] = paths.map((path) => ({ path: { ...path, ...anyCase } }));
  } else if (text !== "") result.condition["path"] = { prefix: text, ...anyCase };
  return true;
}

function addHeaders(list: Cursor, result: MatchCondition): void {
  const matchers: Message[] = [];
  for (const item of list.items()) {
    const matcher = headerMatcher(item);
    if (matcher === undefined) result.incomplete = true;
    else matchers.push(matcher);
  }
  if (matchers.length > 0) result.condition["headers"] = matchers;
}

/** The matcher as conditions have it; undefined for kinds that they lack. */
function headerMatcher(item: Cursor): Message | undefined {
  const matcher: Message = {};
  for (const { key, value } of item.entries()) {
    const field = snakeCase(key);
    const json = value.json();
    if (json === null) continue;
    if (["name", "present_match", "invert_match", "treat_missing_header_as_empty"].includes(field)) {
      matcher[field] = json;
    } else if (field === "string_match") {
      const text = textMatch(value);
      if (text === undefined) return undefined;
      matcher[field] = text;
    } else return undefined;
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
