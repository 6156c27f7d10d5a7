import { isMap, isScalar, isSeq, Lexer, type Node, type Pair, type YAMLMap, type YAMLSeq } from "yaml";
import { camelCase } from "./cursor.js";
import { Edits } from "./edits.js";
import { renderBlock, renderFlow, renderFlowPair, renderPair } from "./render.js";
import type { Json } from "./scalar.js";
import type { Source } from "./source.js";
import { dashOf, keyOf, pairStart, rangeOf, valueIndicatorEnd } from "./tokens.js";
import type { Editor } from "./tree.js";

/**
 * Collects changes to a file and applies them to its text, so that whatever is not changed stays byte for byte as it
 * was: comments, anchors, quotes, line breaks. Works inside block and flow collections.
 */
export class TextEditor implements Editor {
  /** The collections that will change. */
  readonly touched: Node[] = [];
  private readonly edits: Edits;

  constructor(private readonly source: Source) {
    this.edits = new Edits(source.text);
  }

  get isEmpty(): boolean {
    return this.edits.isEmpty && this.touched.length === 0;
  }

  touch(collection: YAMLMap | YAMLSeq): void {
    this.touched.push(collection);
  }

  set(map: YAMLMap, key: string, value: Json, before?: string): void {
    const existing = pairOf(map, key);
    if (existing !== undefined) {
      this.replacePair(map, existing, String(keyOf(existing).value), value);
      return;
    }
    const next = before === undefined ? undefined : pairOf(map, before);
    if (next === undefined) this.append(map, key, value);
    else this.insertBefore(map, next, key, value);
  }

  /** Puts `key: value` in the place of `pair`; comments that go with it are kept above. */
  replacePair(map: YAMLMap, pair: Pair, key: string, value: Json): void {
    this.touched.push(map);
    const start = rangeOf(keyOf(pair))[0];
    const end = this.pairEnd(map, pair);
    if (map.flow === true) {
      this.push(start, end, renderFlowPair(key, value, this.source));
      return;
    }
    const column = this.source.column(start);
    const comments = this.commentsIn(start, end).map((comment) => `${comment}\n${" ".repeat(column)}`);
    this.push(start, this.trimNewline(end), comments.join("") + this.pair(key, value, column));
  }

  removePair(map: YAMLMap, pair: Pair): void {
    this.touched.push(map);
    const start = rangeOf(keyOf(pair))[0];
    const end = this.pairEnd(map, pair);
    const pairs = this.source.writtenPairsOf(map);
    const index = pairs.indexOf(pair);
    const next = pairs[index + 1];
    const previous = pairs[index - 1];
    if (map.flow !== true && this.startsLine(start)) this.push(this.source.lineStart(start), this.nextLine(end), "");
    else if (next !== undefined) this.push(start, pairStart(map, next), "");
    else if (previous !== undefined) this.push(this.pairEnd(map, previous), end, "");
    else this.push(start, end, map.flow === true ? "" : "{}");
  }

  /** Writes the given pairs in the place of a merge key. */
  replaceMerge(map: YAMLMap, merge: Pair, pairs: (readonly [string, Json])[]): void {
    if (pairs.length === 0) {
      this.removePair(map, merge);
      return;
    }
    this.touched.push(map);
    const start = rangeOf(keyOf(merge))[0];
    const end = this.pairEnd(map, merge);
    const column = this.source.column(start);
    const texts = pairs.map(([key, value]) =>
      map.flow === true ? renderFlowPair(key, value, this.source) : this.pair(key, value, column),
    );
    this.push(start, end, texts.join(map.flow === true ? ", " : `\n${" ".repeat(column)}`));
  }

  /** Adds an item so that it becomes item `index`; the item that was there, and its comments, come after it. */
  insertItem(seq: YAMLSeq, index: number, value: Json): void {
    this.touched.push(seq);
    const next = seq.items[index] as Node | undefined;
    if (seq.flow === true) {
      if (next !== undefined) {
        this.push(rangeOf(next)[0], rangeOf(next)[0], `${renderFlow(value, this.source)}, `);
        return;
      }
      this.appendToFlow(seq, value);
      return;
    }
    const column = this.source.column(dashOf(seq, 0));
    const text = `- ${renderBlock(value, column + 2, this.source)}`;
    if (next !== undefined) {
      this.insertLines(dashOf(seq, index), text);
      return;
    }
    this.appendLines(this.contentEnd(seq.items.at(-1) as Node), column, text);
  }

  private appendToFlow(seq: YAMLSeq, value: Json): void {
    const last = seq.items.at(-1) as Node | undefined;
    const at = last === undefined ? rangeOf(seq)[0] + 1 : this.contentEnd(last);
    this.push(at, at, `${last === undefined ? "" : ", "}${renderFlow(value, this.source)}`);
  }

  /** Removes some, not all, items of a list. */
  removeItems(seq: YAMLSeq, indexes: ReadonlySet<number>): void {
    this.touched.push(seq);
    if (seq.flow !== true) {
      for (const index of indexes) {
        const end = this.contentEnd(seq.items[index] as Node);
        this.push(this.source.lineStart(dashOf(seq, index)), this.nextLine(end), "");
      }
      return;
    }
    const items = seq.items as Node[];
    const last = items.findLastIndex((_, index) => !indexes.has(index));
    for (const index of indexes) {
      const next = items[index + 1];
      if (index < last && next !== undefined) this.push(rangeOf(items[index] as Node)[0], rangeOf(next)[0], "");
    }
    const kept = items[last];
    if (kept !== undefined && last < items.length - 1) {
      this.push(this.contentEnd(kept), this.contentEnd(items.at(-1) as Node), "");
    }
  }

  /** Replaces part of the text as it stands. */
  replaceText(start: number, end: number, text: string): void {
    this.push(start, end, text);
  }

  /** Whether the text at an offset is going to be replaced. */
  replaces(offset: number): boolean {
    return this.edits.replaces(offset);
  }

  /** The changed text. */
  apply(): string {
    return this.edits.apply();
  }

  /** Where in the file an offset of the changed text comes from; of what was written, the place where it was. */
  origin(): (offset: number) => number {
    return this.edits.origin();
  }

  /** Where the text of a node ends, without the comments and blank lines after it. */
  contentEnd(node: Node): number {
    if (isMap(node) && node.flow !== true) {
      const last = this.source.writtenPairsOf(node).at(-1);
      if (last !== undefined) return this.pairEnd(node, last);
    }
    if (isSeq(node) && node.flow !== true) {
      const last = node.items.at(-1) as Node | undefined;
      if (last !== undefined) return this.contentEnd(last);
    }
    return rangeOf(node)[1];
  }

  private append(map: YAMLMap, key: string, value: Json): void {
    this.touched.push(map);
    const pairs = this.source.writtenPairsOf(map);
    const last = pairs.at(-1);
    if (map.flow === true) {
      const text = renderFlowPair(key, value, this.source);
      const at = last === undefined ? rangeOf(map)[0] + 1 : this.pairEnd(map, last);
      const follows = pairs.some((pair) => !this.edits.removes(pairStart(map, pair)));
      this.push(at, at, follows ? `, ${text}` : text);
      return;
    }
    if (last === undefined) throw new Error("a block map has at least one pair");
    const column = this.source.column(pairStart(map, pairs[0] as Pair));
    const lastStart = pairStart(map, last);
    // The lines of a pair that goes are no place to write behind.
    if (this.edits.removes(lastStart)) this.insertLines(lastStart, this.pair(key, value, column));
    else this.appendLines(this.pairEnd(map, last), column, this.pair(key, value, column));
  }

  private insertBefore(map: YAMLMap, next: Pair, key: string, value: Json): void {
    this.touched.push(map);
    const start = rangeOf(keyOf(next))[0];
    if (map.flow === true) {
      this.push(start, start, `${renderFlowPair(key, value, this.source)}, `);
      return;
    }
    this.insertLines(start, this.pair(key, value, this.source.column(start)));
  }

  /** Inserts whole lines in front of the line at `offset`, above the comments that belong to it. */
  private insertLines(offset: number, text: string): void {
    const indent = " ".repeat(this.source.column(offset));
    if (!this.startsLine(offset)) {
      this.push(offset, offset, `${text}\n${indent}`);
      return;
    }
    let line = this.source.lineStart(offset);
    while (line > 0) {
      const previous = this.source.lineStart(line - 1);
      if (!/^\s*#/.test(this.source.text.slice(previous, line))) break;
      line = previous;
    }
    this.push(line, line, `${indent}${text}\n`);
  }

  /** Inserts whole lines after the line on which `end` lies. */
  private appendLines(end: number, column: number, text: string): void {
    const from = this.trimNewline(end);
    const stop = this.source.text.indexOf("\n", from);
    const at = stop === -1 ? this.source.text.length : this.source.text[stop - 1] === "\r" ? stop - 1 : stop;
    this.push(at, at, `\n${" ".repeat(column)}${text}`);
  }

  private pair(key: string, value: Json, column: number): string {
    return renderPair(key, value, column, this.source);
  }

  private pairEnd(map: YAMLMap, pair: Pair): number {
    const value = pair.value as Node | null;
    if (value?.range && value.range[1] > value.range[0]) return this.contentEnd(value);
    return valueIndicatorEnd(map, pair);
  }

  private commentsIn(start: number, end: number): string[] {
    const text = this.source.text.slice(start, end);
    if (!text.includes("#")) return [];
    const tokens = [...new Lexer().lex(text)];
    return tokens.filter((token) => token.startsWith("#")).map((token) => token.trimEnd());
  }

  private startsLine(offset: number): boolean {
    return this.source.text.slice(this.source.lineStart(offset), offset).trim() === "";
  }

  private nextLine(end: number): number {
    const stop = this.source.text.indexOf("\n", this.trimNewline(end));
    return stop === -1 ? this.source.text.length : stop + 1;
  }

  private trimNewline(end: number): number {
    return this.source.text[end - 1] === "\n" ? end - 1 : end;
  }

  private push(start: number, end: number, text: string): void {
    this.edits.add({ start, end, text });
  }
}

/** The pair of a map under a snake_case name or its camelCase form; not through merge keys. */
export function pairOf(map: YAMLMap, name: string): Pair | undefined {
  const names = new Set([name, camelCase(name)]);
  return map.items.find((pair) => isScalar(pair.key) && names.has(String(pair.key.value)));
}
