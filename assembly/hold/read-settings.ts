// `hold_response`, from a value tree to what answers are judged by. This is the one place that knows what is legal there; the
// command line runs it too.

import { Bytes, encode, encodeLowerCase } from "../bytes";
import { Fields } from "../settings/fields";
import { Kind, Value } from "../settings/value";
import { JsonCondition, Rule, Shape } from "./rules";
import { HoldSettings, MAX_ERRORS, Until } from "./settings";

/** It is held for every stream at the same time, and a module that runs out of memory fails them all. */
const MAX_BYTES: u32 = 1 << 18;
const MAX_RULES: i32 = 64;
const LOWEST_STATUS: u32 = 400;
const HIGHEST_STATUS: u32 = 599;
/** Largest whole number that a double tells from its neighbours. */
const MAX_WHOLE: f64 = 9007199254740991;

/** Reads the fields of `hold_response`; what is wrong with them is noted in their problem, and the result then means nothing. */
export function readHoldSettings(fields: Fields): HoldSettings {
  const settings = new HoldSettings();
  settings.until = fields.choice("until", ["FIRST_CONTENT", "FIRST_BYTES"]);
  if (fields.has("max_bytes")) settings.maxBytes = fields.whole("max_bytes", 1, MAX_BYTES);
  const skipped = fields.list("not_content");
  limit(fields, "not_content", skipped.length, MAX_RULES);
  if (settings.until == Until.FIRST_BYTES && skipped.length > 0) {
    fields.note("not_content", "none beside FIRST_BYTES", "some");
  }
  for (let i = 0; i < skipped.length; i++) readSkipped(fields.element("not_content", i, skipped[i]), settings);
  const errors = fields.list("errors");
  limit(fields, "errors", errors.length, MAX_ERRORS);
  for (let i = 0; i < errors.length; i++) settings.errors.push(readError(fields.element("errors", i, errors[i])));
  if (fields.has("empty")) settings.empty = fields.whole("empty", LOWEST_STATUS, HIGHEST_STATUS);
  fields.finish();
  return settings;
}

function limit(fields: Fields, name: string, count: i32, most: i32): void {
  if (count > most) fields.note(name, "at most 64", "more");
}

function readSkipped(fields: Fields, settings: HoldSettings): void {
  if (fields.has("comment")) {
    if (fields.flag("comment")) settings.skipsComments = true;
    else fields.note("comment", "true", "something else");
  } else {
    const rule = readRule(fields);
    if (!rule.readsBody) fields.note("", "event, data, json or comment", "none of them");
    settings.notContent.push(rule);
  }
  fields.finish();
}

function readError(fields: Fields): Rule {
  const rule = readRule(fields);
  if (fields.has("string")) rule.text = encode(fields.requiredText("string"));
  rule.contentType = encodeLowerCase(fields.text("content_type"));
  if (!rule.readsBody && rule.contentType.length == 0) {
    fields.note("", "event, data, string, json or content_type", "none of them");
  }
  rule.status = fields.requiredWhole("status", LOWEST_STATUS, HIGHEST_STATUS);
  if (fields.has("status_path")) rule.statusPath = readPath(fields, "status_path");
  fields.finish();
  return rule;
}

function readRule(fields: Fields): Rule {
  const rule = new Rule();
  if (fields.has("event")) rule.event = encode(fields.requiredText("event"));
  if (fields.has("data")) rule.data = encode(fields.requiredText("data"));
  const json = fields.find("json");
  if (json == null) return rule;
  if (json.kind != Kind.LIST) rule.json = [readCondition(fields.object("json")!)];
  else {
    const items = fields.requiredList("json", "condition");
    const conditions = new StaticArray<JsonCondition>(items.length);
    for (let i = 0; i < items.length; i++) conditions[i] = readCondition(fields.element("json", i, items[i]));
    rule.json = conditions;
  }
  return rule;
}

function readCondition(fields: Fields): JsonCondition {
  const path = readPath(fields, "path");
  const kinds =
    <i32>fields.has("value") + <i32>fields.has("present") + <i32>fields.has("empty") + <i32>fields.has("only");
  if (kinds != 1) fields.note("", "one of value, present, empty, only", kinds == 0 ? "none" : "several");
  const condition = readShape(fields, path);
  fields.finish();
  return condition;
}

function readShape(fields: Fields, path: StaticArray<Bytes>): JsonCondition {
  const value = fields.find("value");
  if (value != null) return readValue(fields, path, value);
  if (fields.has("only")) {
    const condition = new JsonCondition(path, Shape.ONLY);
    condition.names = fields.bytesList("only", false);
    return condition;
  }
  if (fields.has("empty")) {
    if (!fields.flag("empty")) fields.note("empty", "true", "something else");
    return new JsonCondition(path, Shape.EMPTY);
  }
  return new JsonCondition(path, fields.flag("present") ? Shape.PRESENT : Shape.ABSENT);
}

function readValue(fields: Fields, path: StaticArray<Bytes>, value: Value): JsonCondition {
  if (value.kind == Kind.STRING) {
    const condition = new JsonCondition(path, Shape.TEXT);
    condition.text = value.text;
    return condition;
  }
  if (value.kind == Kind.BOOL) {
    const condition = new JsonCondition(path, Shape.WORD);
    condition.text = value.flag ? TRUE : FALSE;
    return condition;
  }
  const condition = new JsonCondition(path, Shape.NUMBER);
  const number = value.number;
  if (value.kind == Kind.NUMBER && number == Math.trunc(number) && number >= 0 && number <= MAX_WHOLE) {
    condition.number = <i64>number;
  } else fields.note("value", "a string, true, false or a whole number from 0 on", value.describe());
  return condition;
}

const TRUE = encode("true");
const FALSE = encode("false");

function readPath(fields: Fields, name: string): StaticArray<Bytes> {
  return fields.bytesList(name, true);
}
