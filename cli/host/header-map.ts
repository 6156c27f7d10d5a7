import type { Pair } from "./pairs.js";

/** Header lines in order, or by name with one value or several. Values are byte strings (one character per byte). */
export type HeadersInput =
  | readonly (readonly [string, string])[]
  | Readonly<Record<string, string | readonly string[]>>;

/**
 * An ordered header map with lower-case names; a name may have several lines. As in Envoy's request headers,
 * `host` is another name of `:authority`.
 */
export class HeaderMap {
  private lines: Pair[];

  constructor(input: HeadersInput = []) {
    this.lines = toLines(input);
  }

  get size(): number {
    return this.lines.length;
  }

  /** Bytes of all names and values. */
  get byteSize(): number {
    return this.lines.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  }

  getAll(name: string): string[] {
    const key = canonicalName(name);
    return this.lines.filter((line) => line[0] === key).map((line) => line[1]);
  }

  first(name: string): string | undefined {
    const key = canonicalName(name);
    return this.lines.find((line) => line[0] === key)?.[1];
  }

  add(name: string, value: string): void {
    this.lines.push([canonicalName(name), value]);
  }

  /** One line in place of all lines of that name. */
  replace(name: string, value: string): void {
    const key = canonicalName(name);
    const at = this.lines.findIndex((line) => line[0] === key);
    if (at < 0) {
      this.add(key, value);
      return;
    }
    this.lines = this.lines.filter((line, i) => i === at || line[0] !== key);
    const line = this.lines.find((candidate) => candidate[0] === key);
    if (line !== undefined) line[1] = value;
  }

  remove(name: string): void {
    const key = canonicalName(name);
    this.lines = this.lines.filter((line) => line[0] !== key);
  }

  setAll(pairs: readonly Pair[]): void {
    this.lines = toLines(pairs);
  }

  pairs(): Pair[] {
    return this.lines.map(([name, value]) => [name, value]);
  }

  clone(): HeaderMap {
    return new HeaderMap(this.lines);
  }
}

/** What changed between two header maps, by name. */
export interface HeaderChanges {
  added: Record<string, string[]>;
  removed: string[];
  changed: Record<string, string[]>;
}

export function headerChanges(before: HeaderMap, after: HeaderMap): HeaderChanges {
  const changes: HeaderChanges = { added: {}, removed: [], changed: {} };
  const names = new Set([...before.pairs(), ...after.pairs()].map(([name]) => name));
  for (const name of names) {
    const [old, current] = [before.getAll(name), after.getAll(name)];
    if (current.length === 0) changes.removed.push(name);
    else if (old.length === 0) changes.added[name] = current;
    else if (old.join("\n") !== current.join("\n")) changes.changed[name] = current;
  }
  return changes;
}

function toLines(input: HeadersInput): Pair[] {
  if (isLines(input)) return input.map(([name, value]): Pair => [canonicalName(name), value]);
  return Object.entries(input).flatMap(([name, value]) =>
    (typeof value === "string" ? [value] : value).map((one): Pair => [canonicalName(name), one]),
  );
}

function canonicalName(name: string): string {
  const key = name.toLowerCase();
  return key === "host" ? ":authority" : key;
}

function isLines(input: HeadersInput): input is readonly (readonly [string, string])[] {
  return Array.isArray(input);
}
