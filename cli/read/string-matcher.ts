import type { OtherMatch, StringMatcher, ValueMatcher } from "../model/match.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import { isTrue, numberIn, snakeJson } from "./fields.js";
import { originOf } from "./place.js";

const KINDS = ["exact", "prefix", "suffix", "contains"] as const;

/** `envoy.type.matcher.v3.StringMatcher`. */
export function readStringMatcher(cursor: Cursor): StringMatcher {
  const origin = originOf(cursor);
  const ignoreCase = isTrue(cursor, "ignore_case");
  for (const type of KINDS) {
    const text = cursor.field(type)?.string();
    if (text !== undefined) return { type, text, ignoreCase, origin };
  }
  const regex = cursor.at("safe_regex", "regex")?.string();
  if (regex !== undefined) return { type: "regex", text: regex, ignoreCase: false, origin };
  return otherMatch(cursor);
}

/** `envoy.type.matcher.v3.ValueMatcher`. */
export function readValueMatcher(cursor: Cursor): ValueMatcher {
  const [entry] = cursor.entries();
  const value = entry?.value;
  switch (snakeCase(entry?.key ?? "")) {
    case "string_match":
      return { type: "string", match: readStringMatcher(value as Cursor) };
    case "bool_match":
      return { type: "bool", value: value?.bool() === true };
    case "present_match":
      return { type: "present", present: value?.bool() === true };
    case "null_match":
      return { type: "null" };
    case "double_match": {
      const range = value?.field("range");
      if (range === undefined) return { type: "number", exact: numberIn(value?.field("exact")) ?? 0 };
      return { type: "range", ...rangeOf(range) };
    }
    case "list_match":
      return listMatch(value?.field("one_of"), cursor);
    case "or_match":
      return { type: "any_of", matchers: (value?.list("value_matchers") ?? []).map(readValueMatcher) };
    default:
      return otherMatch(cursor);
  }
}

/** An Int64Range or DoubleRange. */
export function rangeOf(cursor: Cursor): { start: number; end: number } {
  return { start: numberIn(cursor.field("start")) ?? 0, end: numberIn(cursor.field("end")) ?? 0 };
}

export function otherMatch(cursor: Cursor): OtherMatch {
  const field = snakeCase(cursor.entries()[0]?.key ?? "");
  return { type: "other", field, json: snakeJson(cursor), origin: originOf(cursor) };
}

function listMatch(item: Cursor | undefined, cursor: Cursor): ValueMatcher {
  return item === undefined ? otherMatch(cursor) : { type: "list", item: readValueMatcher(item) };
}
