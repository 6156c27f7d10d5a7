import { Pair, Scalar, YAMLMap, YAMLSeq, type Node } from "yaml";
import { InputError, type Finding } from "../findings.js";
import { join } from "./cursor.js";
import { ObjectEditor } from "./object-edit.js";
import { MAX_DEPTH, TOO_DEEP } from "./parse.js";
import { keyText, type Json } from "./scalar.js";
import type { Tree } from "./tree.js";

/**
 * Plain objects as a tree. Nodes are made when somebody looks at them, and each has a number in the place of an offset,
 * so that an object that stands in several places is a node of its own in each.
 */
export class ObjectTree implements Tree {
  readonly root: Node;
  private readonly numbers = { next: 0 };

  /** @param file Names the objects in findings; empty where their paths say enough. */
  constructor(
    readonly file: string,
    readonly value: Json,
  ) {
    this.root = nodeOf(value, { numbers: this.numbers, file }, undefined);
  }

  edit(): ObjectEditor {
    return new ObjectEditor();
  }

  next(editor: ObjectEditor): ObjectTree {
    return new ObjectTree(this.file, editor.apply(this.root));
  }

  /** Objects have neither aliases nor merge keys. */
  writtenOut(): undefined {
    return undefined;
  }

  mentions(name: string): boolean {
    return mentions(this.value, name);
  }

  resolve(node: unknown): Node | undefined {
    return node === null || node === undefined ? undefined : (node as Node);
  }

  pairsOf(map: YAMLMap): readonly Pair[] {
    return map.items;
  }

  finding(_: number, path: string, message: string): Finding {
    return { file: this.file, line: 0, col: 0, path: path === "" ? "(document)" : path, message };
  }
}

interface Context {
  numbers: { next: number };
  file: string;
}

/** A collection of the tree that a node stands in. */
export type Parent = ObjectMap | ObjectSeq;

function nodeOf(value: unknown, context: Context, parent: Parent | undefined): Node {
  const range = rangeFrom(context);
  if (Array.isArray(value)) return new ObjectSeq(value, context, parent, range) as unknown as Node;
  if (isObject(value)) return new ObjectMap(value, context, parent, range) as unknown as Node;
  return new ObjectScalar(value, range, context, parent) as unknown as Node;
}

function rangeFrom({ numbers }: Context): [number, number, number] {
  const at = numbers.next;
  numbers.next += 1;
  return [at, at + 1, at + 1];
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null;
}

class ObjectScalar {
  readonly type;
  readonly source: string | undefined;

  constructor(
    readonly value: unknown,
    readonly range: [number, number, number],
    context: Context,
    parent: Parent | undefined,
  ) {
    this.type = typeof value === "string" ? Scalar.QUOTE_DOUBLE : Scalar.PLAIN;
    if (typeof value !== "string") this.source = String(value);
    const isJson = value === null || ["string", "number", "boolean"].includes(typeof value);
    if (!isJson) reject(context, parent, `expected a JSON value, found a ${typeof value}`);
  }
}

/** A map of the tree, and what it stands for. */
export class ObjectMap {
  readonly depth;
  private made: Pair[] | undefined;

  constructor(
    readonly object: { [key: string]: unknown },
    private readonly context: Context,
    readonly parent: Parent | undefined,
    readonly range: [number, number, number],
  ) {
    this.depth = depthBelow(parent, context);
  }

  get items(): Pair[] {
    this.made ??= Object.entries(this.object)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => new ObjectPair(key, value, this.context, this) as unknown as Pair);
    return this.made;
  }
}

class ObjectPair {
  readonly key;
  private made: Node | undefined;

  constructor(
    key: string,
    private readonly raw: unknown,
    private readonly context: Context,
    private readonly parent: ObjectMap,
  ) {
    this.key = new ObjectScalar(key, rangeFrom(context), context, parent);
  }

  get value(): Node {
    this.made ??= nodeOf(this.raw, this.context, this.parent);
    return this.made;
  }
}

/** A list of the tree, and what it stands for. */
export class ObjectSeq {
  readonly depth;
  private made: Node[] | undefined;

  constructor(
    readonly object: unknown[],
    private readonly context: Context,
    readonly parent: Parent | undefined,
    readonly range: [number, number, number],
  ) {
    this.depth = depthBelow(parent, context);
  }

  get items(): Node[] {
    this.made ??= this.object.map((item) => nodeOf(item, this.context, this));
    return this.made;
  }
}

// What the library asks of a node, to know its kind, is found on a node of its own.
Object.setPrototypeOf(ObjectScalar.prototype, new Scalar(null));
Object.setPrototypeOf(ObjectPair.prototype, new Pair(null));
Object.setPrototypeOf(ObjectMap.prototype, new YAMLMap());
Object.setPrototypeOf(ObjectSeq.prototype, new YAMLSeq());

/** A depth that objects in a circle reach, too. */
function depthBelow(parent: Parent | undefined, context: Context): number {
  const depth = (parent?.depth ?? 0) + 1;
  if (depth > MAX_DEPTH) reject(context, undefined, TOO_DEEP);
  return depth;
}

function reject({ file }: Context, parent: Parent | undefined, message: string): never {
  const path = parent === undefined ? "" : pathTo(parent);
  throw new InputError([{ file, line: 0, col: 0, path: path === "" ? "(document)" : path, message }]);
}

function pathTo(node: Parent): string {
  const { parent } = node;
  if (parent === undefined) return "";
  if (parent instanceof ObjectSeq) return `${pathTo(parent)}[${parent.items.indexOf(node as unknown as Node)}]`;
  const pair = parent.items.find(({ value }) => value === (node as unknown));
  return join(pathTo(parent), pair === undefined ? "" : keyText(pair));
}

function mentions(value: unknown, name: string): boolean {
  if (typeof value === "string") return value.includes(name);
  if (Array.isArray(value)) return value.some((item) => mentions(item, name));
  return isObject(value) && Object.entries(value).some(([key, item]) => key.includes(name) || mentions(item, name));
}
