// Where the marks of a collection stand: dashes, colons, and what comes before a key.

import type { CST, Node, Pair, YAMLMap, YAMLSeq } from "yaml";
import { colonOf, PlainSeq } from "./plain/nodes.js";

/** Start and end of a node, without what follows it. */
export function rangeOf(node: Node): [number, number] {
  if (!node.range) throw new Error("a parsed node has a range");
  return [node.range[0], node.range[1]];
}

export function keyOf(pair: Pair): Node & { value: unknown } {
  return pair.key as Node & { value: unknown };
}

/** Where a pair starts, the tag or anchor of its key included. */
export function pairStart(map: YAMLMap, pair: Pair): number {
  const [key] = rangeOf(keyOf(pair));
  const before = itemOf(map, key)?.start ?? [];
  return before.find(({ type }) => ["tag", "anchor", "explicit-key-ind"].includes(type))?.offset ?? key;
}

/** The end of the `:` of a pair without a value. */
export function valueIndicatorEnd(map: YAMLMap, pair: Pair): number {
  const [start, end] = rangeOf(keyOf(pair));
  const colon = colonOf(pair) ?? itemOf(map, start)?.sep?.find(({ type }) => type === "map-value-ind")?.offset;
  return colon === undefined ? end : colon + 1;
}

/** The dash of an item of a block list. */
export function dashOf(seq: YAMLSeq, index: number): number {
  const dash = dashesOf(seq)[index];
  if (dash === undefined) throw new Error("a block list has a dash for each item");
  return dash;
}

function dashesOf(seq: YAMLSeq): readonly number[] {
  if ((seq as unknown) instanceof PlainSeq) return (seq as unknown as PlainSeq).dashes;
  const { items } = seq.srcToken as CST.BlockSequence;
  return items.flatMap(({ start }) => start.filter(({ type }) => type === "seq-item-ind")).map(({ offset }) => offset);
}

function itemOf(map: YAMLMap, key: number) {
  const token = map.srcToken as CST.BlockMap | CST.FlowCollection | undefined;
  return token?.items.find((candidate) => tokenStart(candidate.key) === key);
}

function tokenStart(token: CST.Token | null | undefined): number {
  return token && "offset" in token ? token.offset : -1;
}
