import type { Node, Pair, YAMLMap, YAMLSeq } from "yaml";
import { pairOf } from "./edit.js";
import type { ObjectMap, ObjectSeq, Parent } from "./object-tree.js";
import { keyText, type Json } from "./scalar.js";
import type { Editor } from "./tree.js";

interface MapChanges {
  replaced: Map<Pair, readonly [string, Json] | undefined>;
  before: Map<Pair, [string, Json][]>;
  appended: [string, Json][];
}

interface SeqChanges {
  inserted: Map<number, Json[]>;
  removed: Set<number>;
}

/** Collects changes of plain objects, and makes changed copies: whatever holds no change is the same object as before. */
export class ObjectEditor implements Editor {
  private readonly maps = new Map<object, MapChanges>();
  private readonly seqs = new Map<object, SeqChanges>();
  /** What changes, or holds something that changes. */
  private readonly changing = new Set<object>();

  get isEmpty(): boolean {
    return this.changing.size === 0;
  }

  /** Only what stands in several places at once has to be told beforehand. */
  touch(): void {}

  set(map: YAMLMap, key: string, value: Json, before?: string): void {
    const existing = pairOf(map, key);
    const next = before === undefined ? undefined : pairOf(map, before);
    const changes = this.ofMap(map);
    if (existing !== undefined) changes.replaced.set(existing, [keyText(existing), value]);
    else if (next === undefined) changes.appended.push([key, value]);
    else changes.before.set(next, [...(changes.before.get(next) ?? []), [key, value]]);
  }

  replacePair(map: YAMLMap, pair: Pair, key: string, value: Json): void {
    this.ofMap(map).replaced.set(pair, [key, value]);
  }

  removePair(map: YAMLMap, pair: Pair): void {
    this.ofMap(map).replaced.set(pair, undefined);
  }

  insertItem(seq: YAMLSeq, index: number, value: Json): void {
    const { inserted } = this.ofSeq(seq);
    const at = Math.min(index, seq.items.length);
    const before = inserted.get(at);
    if (before === undefined) inserted.set(at, [value]);
    else before.push(value);
  }

  removeItems(seq: YAMLSeq, indexes: ReadonlySet<number>): void {
    const { removed } = this.ofSeq(seq);
    for (const index of indexes) removed.add(index);
  }

  /** The changed value of a tree. */
  apply(root: Node): Json {
    const node = root as unknown as Parent | { value: Json };
    if (!("object" in node)) return node.value;
    if (!this.changing.has(node)) return node.object as Json;
    return Array.isArray(node.object) ? this.changedSeq(node as ObjectSeq) : this.changedMap(node as ObjectMap);
  }

  private changedMap(map: ObjectMap): Json {
    const changes = this.maps.get(map);
    const entries: (readonly [string, Json])[] = [];
    for (const pair of map.items) {
      entries.push(...(changes?.before.get(pair) ?? []));
      const replaced = changes?.replaced.get(pair);
      if (replaced !== undefined) entries.push(replaced);
      else if (changes?.replaced.has(pair) !== true) entries.push([keyText(pair), this.apply(pair.value as Node)]);
    }
    return Object.fromEntries([...entries, ...(changes?.appended ?? [])]);
  }

  private changedSeq(seq: ObjectSeq): Json {
    const changes = this.seqs.get(seq);
    const items: Json[] = [];
    for (const [index, item] of seq.items.entries()) {
      items.push(...(changes?.inserted.get(index) ?? []));
      if (changes?.removed.has(index) !== true) items.push(this.apply(item));
    }
    items.push(...(changes?.inserted.get(seq.items.length) ?? []));
    return items;
  }

  private ofMap(map: YAMLMap): MapChanges {
    this.note(map);
    const known = this.maps.get(map);
    if (known !== undefined) return known;
    const changes = { replaced: new Map(), before: new Map(), appended: [] };
    this.maps.set(map, changes);
    return changes;
  }

  private ofSeq(seq: YAMLSeq): SeqChanges {
    this.note(seq);
    const known = this.seqs.get(seq);
    if (known !== undefined) return known;
    const changes = { inserted: new Map(), removed: new Set<number>() };
    this.seqs.set(seq, changes);
    return changes;
  }

  private note(collection: YAMLMap | YAMLSeq): void {
    for (let node = collection as unknown as Parent | undefined; node !== undefined; node = node.parent) {
      if (this.changing.has(node)) return;
      this.changing.add(node);
    }
  }
}
