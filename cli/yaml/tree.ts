import type { Node, Pair, YAMLMap, YAMLSeq } from "yaml";
import type { Finding } from "../findings.js";
import type { Json, Reader } from "./scalar.js";

/** Config as a tree of nodes, whatever it was made from: a text, or plain objects. */
export interface Tree extends Reader {
  /** Its name in findings. */
  readonly file: string;
  readonly root: Node | null;
  /** An editor that has no changes yet. */
  edit(): Editor;
  /** The tree with the changes of its editor made. */
  next(editor: Editor): Tree;
  /** What makes every value stand for one place only; undefined where that is so, as far as planned changes need it. */
  writtenOut(planned: Editor): Editor | undefined;
  /** Whether a name can stand somewhere in it: true may mean that it stands in a comment. */
  mentions(name: string): boolean;
  finding(offset: number, path: string, message: string): Finding;
}

/** Collects changes of a tree. Every one is told in terms of the tree as it was. */
export interface Editor {
  readonly isEmpty: boolean;
  /** Notes that a collection will change, once that is possible. */
  touch(collection: YAMLMap | YAMLSeq): void;
  /** Gives `key` a new value where it exists (in either spelling), else adds it before `before`, else at the end. */
  set(map: YAMLMap, key: string, value: Json, before?: string): void;
  /** Puts `key: value` in the place of `pair`. */
  replacePair(map: YAMLMap, pair: Pair, key: string, value: Json): void;
  removePair(map: YAMLMap, pair: Pair): void;
  /** Adds an item so that it becomes item `index`; the item that was there comes after it. */
  insertItem(seq: YAMLSeq, index: number, value: Json): void;
  /** Removes some, not all, items of a list. */
  removeItems(seq: YAMLSeq, indexes: ReadonlySet<number>): void;
}
