import { isMergeKey, MAX_DEPTH, TOO_DEEP } from "./parse.js";
import {
  isAlias,
  isCollection,
  isPair,
  isScalar,
  isSeq,
  type Alias,
  type Node,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";

/** What aliases may stand for beside the file itself, in bytes. What stands for more is a bomb rather than a config. */
const MAX_ADDED = 16e6;
/** What merge keys may stand for, which are always written out. */
const MAX_MERGED = 4e6;
/** What a value costs beside its characters. */
const OVERHEAD = 16;

const LEAF: Weight = { size: OVERHEAD, added: 0, depth: 0 };

/** What a node is once everything is written out: bytes, about, and levels of maps and lists. */
interface Weight {
  size: number;
  /** How much of it aliases add. */
  added: number;
  depth: number;
}

/** An alias by which a document would become too large or too deep. */
export interface Excess {
  alias: Alias;
  message: string;
}

/** Weighs a document without writing it out, in one walk: what an alias stands for comes before the alias. */
export function weigh(root: unknown, target: (alias: Alias) => Node | undefined): Excess[] {
  const excess = new Map<string, Alias>();
  const anchored = new Map<unknown, Weight>();
  let merged = 0;
  const check = (alias: unknown, amount: number, limit: number, message: string): void => {
    if (isAlias(alias) && amount > limit && !excess.has(message)) excess.set(message, alias);
  };
  const weightOf = (node: unknown): Weight => {
    if (isAlias(node)) return anchored.get(target(node)) ?? LEAF;
    const weight = isCollection(node) ? sum(node) : scalar(node);
    if ((isCollection(node) || isScalar(node)) && node.anchor !== undefined) anchored.set(node, weight);
    return weight;
  };
  const sum = (collection: YAMLMap | YAMLSeq): Weight => {
    const total = { size: OVERHEAD, depth: 1, added: 0 };
    for (const item of collection.items) {
      const [key, value] = isPair(item) ? [item.key, item.value] : [undefined, item];
      const { size, depth, added } = weightOf(value);
      const merges = isMergeKey(key);
      total.size += scalar(key).size + size;
      total.added += isAlias(value) ? size : added;
      // What a merge key adds stands beside it, not below.
      total.depth = Math.max(total.depth, merges ? depth : depth + 1);
      if (merges) merged += size;
      check(value, total.added, MAX_ADDED, "expected aliases that add at most 16 MB, found more");
      check(
        isSeq(value) ? value.items.find(isAlias) : value,
        merged,
        MAX_MERGED,
        "expected merge keys that add at most 4 MB, found more",
      );
      check(value, total.depth, MAX_DEPTH, TOO_DEEP);
    }
    return total;
  };
  weightOf(root);
  return [...excess].map(([message, alias]) => ({ message, alias }));
}

function scalar(node: unknown): Weight {
  return isScalar(node) && node.range ? { ...LEAF, size: OVERHEAD + node.range[1] - node.range[0] } : LEAF;
}
