// Fields of a message by their kind. A field that is absent, null or of another kind is undefined: Envoy says what is
// wrong with a file, and the module what is wrong with settings.

import type { Duration, Fraction, Json, JsonMessage, Value } from "../model/origin.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import { originOf } from "./place.js";

type Holder = Cursor | undefined;

/** A value that is made when somebody asks for it: most subtrees of a file are never looked at. */
class Lazy<T> implements Value<T> {
  readonly origin;
  private made: { value: T } | undefined;

  constructor(
    cursor: Cursor,
    private readonly make: () => T,
  ) {
    this.origin = originOf(cursor);
  }

  get value(): T {
    this.made ??= { value: this.make() };
    return this.made.value;
  }

  toJSON(): Value<T> {
    return { value: this.value, origin: this.origin };
  }
}

export function valueOf<T>(cursor: Cursor, value: T): Value<T> {
  return { value, origin: originOf(cursor) };
}

export function text(holder: Holder, name: string): Value<string> | undefined {
  const cursor = holder?.field(name);
  const value = cursor?.string();
  return cursor === undefined || value === undefined ? undefined : valueOf(cursor, value);
}

export function bool(holder: Holder, name: string): Value<boolean> | undefined {
  const cursor = holder?.field(name);
  const value = cursor?.bool();
  return cursor === undefined || value === undefined ? undefined : valueOf(cursor, value);
}

export function isTrue(holder: Holder, name: string): boolean {
  return holder?.field(name)?.bool() === true;
}

/** A number, or its decimal digits in a string, as protobuf's JSON form has them. */
export function numberIn(cursor: Holder): number | undefined {
  const json = cursor?.json();
  if (typeof json === "number") return json;
  return typeof json === "string" && /^[+-]?[0-9.]+([eE][+-]?\d+)?$/.test(json) ? Number(json) : undefined;
}

export function number(holder: Holder, name: string): Value<number> | undefined {
  const cursor = holder?.field(name);
  const value = numberIn(cursor);
  return cursor === undefined || value === undefined ? undefined : valueOf(cursor, value);
}

/** `1.5s` → 1500 ms. */
export function duration(holder: Holder, name: string): Duration | undefined {
  const cursor = holder?.field(name);
  const seconds = /^(-?\d+(?:\.\d+)?)s$/.exec(cursor?.string() ?? "")?.[1];
  return cursor === undefined || seconds === undefined ? undefined : valueOf(cursor, Number(seconds) * 1000);
}

/** The name of an enum's value, from its name or number; undefined for one that is not listed. */
export function enumIn<T extends string>(holder: Holder, name: string, names: readonly T[]): T | undefined {
  const json = holder?.field(name)?.json();
  return typeof json === "number" ? names[json] : names.find((one) => one === json);
}

export function texts(holder: Holder, name: string): Value<string>[] {
  const items = holder?.list(name) ?? [];
  return items.flatMap((item) => {
    const value = item.string();
    return value === undefined ? [] : [valueOf(item, value)];
  });
}

export function numbers(holder: Holder, name: string): Value<readonly number[]> | undefined {
  const list = holder?.field(name);
  if (list === undefined) return undefined;
  return valueOf(
    list,
    list.items().flatMap((item) => numberIn(item) ?? []),
  );
}

/** Any subtree in snake_case, made when it is asked for. */
export function json(holder: Holder, name: string): Value<Json> | undefined {
  const cursor = holder?.field(name);
  return cursor === undefined ? undefined : jsonAt(cursor);
}

export function jsonAt(cursor: Cursor): Value<Json> {
  return new Lazy(cursor, () => snakeJson(cursor));
}

export function jsonList(holder: Holder, name: string): Value<Json>[] {
  return (holder?.list(name) ?? []).map(jsonAt);
}

/** A message whose fields are in snake_case; what is a map to Envoy, as metadata, keeps its keys where they are in it already. */
export function messageAt(cursor: Cursor): JsonMessage {
  const value = snakeJson(cursor);
  return isMessage(value) ? value : {};
}

export function snakeJson(cursor: Cursor): Json {
  if (cursor.seq !== undefined) return cursor.items().map(snakeJson);
  if (cursor.map === undefined) return cursor.json();
  const entries = cursor.entries().map(({ key, value }) => [fieldName(key), snakeJson(value)] as const);
  return Object.fromEntries(entries.filter(([key, value]) => key !== "@type" && value !== null));
}

/** A key in snake_case where it can be the name of a field: `X-Header` is none. */
function fieldName(key: string): string {
  return /^[a-z][A-Za-z0-9]*$/.test(key) ? snakeCase(key) : key;
}

/** A Struct, whose keys are the user's own. */
export function structAt(cursor: Cursor): Value<Json> {
  return new Lazy(cursor, () => cursor.json());
}

export function isMessage(value: Json | undefined): value is JsonMessage {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const DENOMINATORS = { HUNDRED: 100, TEN_THOUSAND: 10_000, MILLION: 1_000_000 } as const;
const DENOMINATOR_NAMES = ["HUNDRED", "TEN_THOUSAND", "MILLION"] as const;

/** A FractionalPercent, or a RuntimeFractionalPercent around one. */
export function fraction(holder: Holder, name: string): Fraction | undefined {
  const cursor = holder?.field(name);
  if (cursor === undefined) return undefined;
  const percent = cursor.field("default_value") ?? cursor;
  return {
    numerator: numberIn(percent.field("numerator")) ?? 0,
    denominator: DENOMINATORS[enumIn(percent, "denominator", DENOMINATOR_NAMES) ?? "HUNDRED"],
    runtimeKey: text(cursor, "runtime_key"),
    origin: originOf(cursor),
  };
}
