import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";
import type { Finding } from "../findings.js";
import { jsonValue, scalarValue, type Json } from "./scalar.js";
import type { Tree } from "./tree.js";

/** `request_headers_to_add` → `requestHeadersToAdd`: both are legal names of a field in protobuf's JSON form. */
export function camelCase(name: string): string {
  const known = camelNames.get(name);
  if (known !== undefined) return known;
  const camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  camelNames.set(name, camel);
  return camel;
}

/** Fields are asked for by the same few names, for every message of a file. */
const camelNames = new Map<string, string>();

/** The inverse of {@link camelCase}; names already in snake_case stay as they are. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A node of the file together with the path that led to it. Reads through aliases and merge keys. */
export class Cursor {
  readonly node: Node | undefined;

  constructor(
    readonly source: Tree,
    node: unknown,
    readonly path: string,
    /** Offset to report when the node itself is absent. */
    private readonly fallback: number,
  ) {
    this.node = source.resolve(node);
  }

  static root(source: Tree): Cursor {
    return new Cursor(source, source.root, "", 0);
  }

  get offset(): number {
    return this.node?.range?.[0] ?? this.fallback;
  }

  get map(): YAMLMap | undefined {
    return isMap(this.node) ? this.node : undefined;
  }

  get seq(): YAMLSeq | undefined {
    return isSeq(this.node) ? this.node : undefined;
  }

  /** The field under its snake_case or camelCase name; undefined where it is absent or null, which mean the same. */
  field(name: string): Cursor | undefined {
    const pair = this.pair(name);
    if (pair === undefined) return undefined;
    const key = pair.key as Node & { value: unknown };
    const at = key.range?.[0] ?? this.offset;
    const child = new Cursor(this.source, pair.value, join(this.path, String(key.value)), at);
    return child.isNull ? undefined : child;
  }

  /** Follows several field names. */
  at(...names: string[]): Cursor | undefined {
    return names.reduce<Cursor | undefined>((cursor, name) => cursor?.field(name), this);
  }

  /** The items of a list; none for anything else. */
  items(): Cursor[] {
    const seq = this.seq;
    if (seq === undefined) return [];
    return seq.items.map((item, index) => new Cursor(this.source, item, `${this.path}[${index}]`, this.offset));
  }

  /** The items of the named list field; none where it is absent. */
  list(name: string): Cursor[] {
    return this.field(name)?.items() ?? [];
  }

  /** Every key of the map with its value, merged ones last. */
  entries(): { key: string; value: Cursor }[] {
    return this.pairs().map((pair) => {
      const key = pair.key as Node & { value: unknown };
      const at = key.range?.[0] ?? this.offset;
      return {
        key: String(key.value),
        value: new Cursor(this.source, pair.value, join(this.path, String(key.value)), at),
      };
    });
  }

  string(): string | undefined {
    const value = this.scalar();
    return typeof value === "string" ? value : undefined;
  }

  bool(): boolean | undefined {
    const value = this.scalar();
    if (value === "true" || value === "false") return value === "true";
    return typeof value === "boolean" ? value : undefined;
  }

  json(): Json {
    return jsonValue(this.node, this.source);
  }

  /** The value with aliases and merge keys written out; keys are kept as written. */
  copy(): Json {
    if (this.seq !== undefined) return this.items().map((item) => item.copy());
    if (this.map === undefined) return this.json();
    return Object.fromEntries(this.entries().map(({ key, value }) => [key, value.copy()]));
  }

  /** The `@type` of an Any, or undefined. */
  type(): string | undefined {
    return this.field("@type")?.string();
  }

  finding(message: string): Finding {
    return this.source.finding(this.offset, this.path, message);
  }

  /** The finding for a field below this node that may be absent: reported at the deepest node that is there. */
  findingBelow(steps: readonly (string | number)[], message: string): Finding {
    const [step, ...rest] = steps;
    if (step === undefined) return this.finding(message);
    const next = typeof step === "number" ? this.items()[step] : this.field(step);
    if (next !== undefined) return next.findingBelow(rest, message);
    const append = (path: string, name: string | number): string =>
      typeof name === "number" ? `${path}[${name}]` : join(path, name);
    return this.source.finding(this.offset, steps.reduce<string>(append, this.path), message);
  }

  private get isNull(): boolean {
    return this.node === undefined || (isScalar(this.node) && scalarValue(this.node) === null);
  }

  private scalar(): Json | undefined {
    return isScalar(this.node) ? scalarValue(this.node) : undefined;
  }

  private pair(name: string): Pair | undefined {
    const camel = camelCase(name);
    for (const pair of this.pairs()) {
      const key: unknown = isScalar(pair.key) ? pair.key.value : undefined;
      if (key === name || key === camel) return pair;
    }
    return undefined;
  }

  private pairs(): readonly Pair[] {
    return this.map === undefined ? [] : this.source.pairsOf(this.map);
  }
}

export function join(path: string, key: string): string {
  const step = /^[A-Za-z_@][\w@-]*$/.test(key) ? key : JSON.stringify(key);
  return path === "" ? step : `${path}.${step}`;
}
