import { Bytes, encode, encodeLowerCase } from "../bytes";
import {
  AttributeMatch,
  Condition,
  Fraction,
  HeaderMatch,
  MetadataMatch,
  ParameterMatch,
  ValueMatch,
  ValueMatchKind,
  Wanted,
} from "../decide/condition";
import { HeaderName } from "../decide/request-view";
import { TextMatch, TextMatchKind } from "../decide/text-match";
import { decimal } from "../text";
import { Fields } from "./fields";

/** Conditions inside conditions; no file that means it has so many. */
const MAX_DEPTH = 16;
const TEXT_MATCHES: string[] = ["exact", "prefix", "suffix", "contains"];

/** Reads an `attempt_router.v1.Condition`. */
export function readCondition(fields: Fields, depth: i32 = 0): Condition {
  const condition = new Condition();
  if (fields.has("route_resolved")) {
    condition.routeResolved = fields.flag("route_resolved") ? Wanted.YES : Wanted.NO;
  }
  const fraction = fields.object("fraction");
  if (fraction != null) condition.fraction = readFraction(fraction);
  condition.methods = fields.bytesList("methods", false);
  const path = fields.object("path");
  if (path != null) condition.path = readTextMatch(path);
  condition.headers = readHeaderMatches(fields, "headers");
  condition.parameters = readParameterMatches(fields);
  condition.metadata = readMetadataMatches(fields);
  condition.attributes = readAttributeMatches(fields);
  readOthers(fields, condition, depth + 1);
  fields.finish();
  return condition;
}

function readOthers(fields: Fields, condition: Condition, depth: i32): void {
  const anyOf = fields.list("any_of");
  const not = fields.object("not");
  if (depth > MAX_DEPTH) {
    fields.note("", "conditions that are nested at most " + decimal(MAX_DEPTH) + " deep", "more");
    return;
  }
  const conditions = new StaticArray<Condition>(anyOf.length);
  for (let i = 0; i < anyOf.length; i++) {
    conditions[i] = readCondition(fields.element("any_of", i, anyOf[i]), depth);
  }
  condition.anyOf = conditions;
  if (not != null) condition.not = readCondition(not, depth);
}

function readFraction(fields: Fields): Fraction {
  const numerator = fields.whole("numerator", 0, u32.MAX_VALUE);
  const choice = fields.choice("denominator", ["HUNDRED", "TEN_THOUSAND", "MILLION"]);
  fields.finish();
  return new Fraction(numerator, choice == 0 ? 100 : choice == 1 ? 10_000 : 1_000_000);
}

function readTextMatch(fields: Fields): TextMatch {
  const ignoreCase = fields.flag("ignore_case");
  let kind = TextMatchKind.EXACT;
  let text = "";
  let found = 0;
  for (let i = 0; i < TEXT_MATCHES.length; i++) {
    if (!fields.has(TEXT_MATCHES[i])) continue;
    kind = <TextMatchKind>i;
    // Only equality has a meaning for an empty text: everything has it as prefix, suffix and part.
    text = i == 0 ? fields.text(TEXT_MATCHES[i]) : fields.requiredText(TEXT_MATCHES[i]);
    found++;
  }
  if (found != 1) fields.note("", "one of exact, prefix, suffix, contains", decimal(found) + " of them");
  fields.finish();
  return new TextMatch(kind, ignoreCase ? encodeLowerCase(text) : encode(text), ignoreCase);
}

/** Reads a list of header matches. */
export function readHeaderMatches(fields: Fields, list: string): StaticArray<HeaderMatch> {
  const items = fields.list(list);
  const matches = new StaticArray<HeaderMatch>(items.length);
  for (let i = 0; i < items.length; i++) matches[i] = readHeader(fields.element(list, i, items[i]));
  return matches;
}

function readHeader(fields: Fields): HeaderMatch {
  const result = new HeaderMatch(
    new HeaderName(fields.requiredText("name")),
    readStringMatch(fields),
    readPresent(fields),
    fields.flag("invert_match"),
    fields.flag("treat_missing_header_as_empty"),
  );
  fields.finish();
  return result;
}

function readParameterMatches(fields: Fields): StaticArray<ParameterMatch> {
  const items = fields.list("query_parameters");
  const matches = new StaticArray<ParameterMatch>(items.length);
  for (let i = 0; i < items.length; i++) {
    const item = fields.element("query_parameters", i, items[i]);
    matches[i] = new ParameterMatch(encode(item.requiredText("name")), readStringMatch(item), readPresent(item));
    item.finish();
  }
  return matches;
}

function readAttributeMatches(fields: Fields): AttributeMatch | null {
  let last = readAttribute(fields, "protocol", "request\0protocol", null);
  const states = fields.list("filter_state");
  for (let i = 0; i < states.length; i++) {
    const state = fields.element("filter_state", i, states[i]);
    last = readAttribute(state, "string_match", "filter_state\0" + state.requiredText("key"), last);
    if (!state.has("string_match")) state.note("string_match", "a text match", "nothing");
    state.finish();
  }
  return last;
}

function readAttribute(
  fields: Fields,
  name: string,
  attribute: string,
  before: AttributeMatch | null,
): AttributeMatch | null {
  const text = fields.object(name);
  return text != null ? new AttributeMatch(encode(attribute), readTextMatch(text), before) : before;
}

function readStringMatch(fields: Fields): TextMatch | null {
  const text = fields.object("string_match");
  return text != null ? readTextMatch(text) : null;
}

function readPresent(fields: Fields): bool {
  if (!fields.has("present_match")) return true;
  if (fields.has("string_match")) fields.note("present_match", "one of string_match, present_match", "both");
  return fields.flag("present_match");
}

function readMetadataMatches(fields: Fields): StaticArray<MetadataMatch> {
  const items = fields.list("metadata");
  const matches = new StaticArray<MetadataMatch>(items.length);
  for (let i = 0; i < items.length; i++) matches[i] = readMetadataMatch(fields.element("metadata", i, items[i]));
  return matches;
}

function readMetadataMatch(fields: Fields): MetadataMatch {
  const namespace: Bytes = encode(fields.requiredText("namespace"));
  const path = fields.bytesList("path", true);
  const value = fields.object("value");
  if (value == null) fields.note("value", "a value match", "nothing");
  const match = value != null ? readValueMatch(value) : new ValueMatch(ValueMatchKind.PRESENT);
  const invert = fields.flag("invert");
  fields.finish();
  return new MetadataMatch(namespace, path, match, invert);
}

function readValueMatch(fields: Fields): ValueMatch {
  const text = fields.object("string_match");
  const number = fields.object("double_match");
  const hasBool = fields.has("bool_match");
  const hasPresent = fields.has("present_match");
  const kinds = <i32>(text != null) + <i32>(number != null) + <i32>hasBool + <i32>hasPresent;
  if (kinds != 1) {
    fields.note("", "one of string_match, bool_match, double_match, present_match", decimal(kinds) + " of them");
  }
  const match = new ValueMatch(kindOf(text, number, hasBool));
  if (text != null) match.text = readTextMatch(text);
  if (number != null) readNumberMatch(number, match);
  match.flag = hasBool ? fields.flag("bool_match") : fields.flag("present_match");
  fields.finish();
  return match;
}

function kindOf(text: Fields | null, number: Fields | null, hasBool: bool): ValueMatchKind {
  if (text != null) return ValueMatchKind.TEXT;
  if (number != null) return ValueMatchKind.NUMBER;
  return hasBool ? ValueMatchKind.BOOL : ValueMatchKind.PRESENT;
}

function readNumberMatch(fields: Fields, match: ValueMatch): void {
  const range = fields.object("range");
  if (range != null && fields.has("exact")) fields.note("exact", "one of exact, range", "both");
  if (range == null) {
    match.low = fields.requiredNumber("exact");
    match.high = match.low;
  } else {
    match.low = range.has("start") ? range.requiredNumber("start") : 0;
    match.high = range.has("end") ? range.requiredNumber("end") : 0;
    if (match.low >= match.high) range.note("end", "a number above start", "one that is not");
    range.finish();
  }
  fields.finish();
}
