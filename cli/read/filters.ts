import type { Filter, FilterChain, HeaderChanges, HeaderValue, PerFilterConfig } from "../model/filters.js";
import { TYPE } from "../lower/types.js";
import type { Cursor } from "../yaml/cursor.js";
import { isTrue, json, snakeJson, texts } from "./fields.js";
import { originOf } from "./place.js";

/** A list of HTTP filters; undefined where it is absent or empty. */
export function readChain(list: Cursor | undefined): FilterChain | undefined {
  const items = list?.items() ?? [];
  return list === undefined || items.length === 0
    ? undefined
    : { filters: items.map(readFilter), origin: originOf(list) };
}

export function readFilter(filter: Cursor): Filter {
  return {
    name: filter.field("name")?.string() ?? "",
    type: filter.field("typed_config")?.type(),
    disabled: isTrue(filter, "disabled"),
    config: json(filter, "typed_config"),
    origin: originOf(filter),
  };
}

export function readPerFilter(level: Cursor): PerFilterConfig[] {
  const entries = level.field("typed_per_filter_config")?.entries() ?? [];
  return entries.map(({ key, value }) => ({
    name: key,
    get json() {
      return snakeJson(value);
    },
    origin: originOf(value),
  }));
}

export function readHeaderChanges(level: Cursor): HeaderChanges {
  return {
    requestAdd: level.list("request_headers_to_add").map(readHeaderValue),
    requestRemove: texts(level, "request_headers_to_remove"),
    responseAdd: level.list("response_headers_to_add").map(readHeaderValue),
    responseRemove: texts(level, "response_headers_to_remove"),
  };
}

function readHeaderValue(item: Cursor): HeaderValue {
  return {
    key: item.at("header", "key")?.string() ?? "",
    value: item.at("header", "value")?.string() ?? "",
    appendAction: item.field("append_action")?.string() ?? "",
    origin: originOf(item),
  };
}

export function isRouter(filter: Cursor): boolean {
  return filter.field("typed_config")?.type() === TYPE.router;
}
