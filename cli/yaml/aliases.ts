import { isCollection, isMap, isScalar, isSeq, visit, type Alias, type Node, type Pair, type YAMLMap } from "yaml";
import { Editor } from "./edit.js";
import { renderFlow } from "./render.js";
import { jsonValue } from "./scalar.js";
import type { Source } from "./source.js";

/**
 * The text with every alias written out whose anchored node holds one of the nodes that will change, so that a change
 * meets only the place it is meant for, or whose anchor will go away; undefined where there is none. All other anchors
 * and aliases stay.
 */
export function writeOutAliases(source: Source, planned: Editor): string | undefined {
  const offsets = planned.touched.map((node) => node.range?.[0] ?? -1);
  const editor = new Editor(source);
  for (const { node, aliases } of [...source.anchored.values()].flat()) {
    const changes = offsets.some((offset) => contains(node, offset)) || planned.replaces(node.range?.[0] ?? -1);
    if (aliases.length === 0 || !changes) continue;
    for (const alias of aliases) replaceAlias(source, editor, alias, node);
  }
  return editor.isEmpty ? undefined : editor.apply();
}

/** The text with one layer of merge keys (`<<`) written out, which Envoy does not read; undefined where there is none. */
export function writeOutMerges(source: Source): string | undefined {
  const editor = new Editor(source);
  for (const { map, pair } of innermost(source)) writeOutMerge(source, editor, map, pair);
  return editor.isEmpty ? undefined : editor.apply();
}

/** Merges that take over nothing that itself still has a merge key. */
function innermost(source: Source): { map: YAMLMap; pair: Pair }[] {
  const offsets = source.merges.map(({ map }) => map.range?.[0] ?? -1);
  return source.merges.filter(({ pair }) => {
    const value = source.resolve(pair.value);
    const nodes = isSeq(value) ? value.items.map((item) => source.resolve(item)) : [value];
    return !nodes.some((node) => node !== undefined && offsets.some((offset) => contains(node, offset)));
  });
}

function writeOutMerge(source: Source, editor: Editor, map: YAMLMap, merge: Pair): void {
  const taken = new Set(map.items.filter((pair) => pair !== merge).map(keyText));
  const value = source.resolve(merge.value);
  const maps = isSeq(value) ? value.items.map((item) => source.resolve(item)) : [value];
  const additions: [string, unknown][] = [];
  for (const pair of maps.flatMap((from) => (isMap(from) ? from.items : []))) {
    if (taken.has(keyText(pair))) continue;
    taken.add(keyText(pair));
    additions.push([keyText(pair), pair.value]);
  }
  const json = additions.map(([key, node]) => [key, jsonValue(node, (alias) => source.resolve(alias))] as const);
  editor.replaceMerge(map, merge, json);
}

function replaceAlias(source: Source, editor: Editor, alias: Alias, node: Node): void {
  const [start, end] = [alias.range?.[0] ?? 0, alias.range?.[1] ?? 0];
  const text = aliasText(source, editor, alias, node);
  const spaces = text.startsWith("\n")
    ? (/ *$/.exec(source.text.slice(source.lineStart(start), start))?.[0].length ?? 0)
    : 0;
  editor.replaceText(start - spaces, end, text);
}

/** The text that stands for an alias: a copy of the anchored text moved to the alias' column, inner anchors left out. */
function aliasText(source: Source, editor: Editor, alias: Alias, node: Node): string {
  const start = alias.range?.[0] ?? 0;
  const block = isCollection(node) && node.flow !== true;
  if (source.isInFlow(alias)) {
    return block
      ? renderFlow(jsonValue(node, (inner) => source.resolve(inner)))
      : sliceWithoutAnchors(source, node, editor);
  }
  if (!block) return sliceWithoutAnchors(source, node, editor);
  const from = source.column(node.range?.[0] ?? 0);
  const lineIndent = /^ */.exec(source.text.slice(source.lineStart(start)))?.[0].length ?? 0;
  const afterDash = /^[\s-]*$/.test(source.text.slice(source.lineStart(start), start));
  const column = afterDash ? source.column(start) : keyColumn(source, start, lineIndent) + 2;
  const text = shift(sliceWithoutAnchors(source, node, editor).replace(/\n$/, ""), column - from);
  return afterDash ? text : `\n${" ".repeat(column)}${text}`;
}

/** Column of the key of `key: *alias`, also where the key follows a dash. */
function keyColumn(source: Source, offset: number, lineIndent: number): number {
  const line = source.text.slice(source.lineStart(offset) + lineIndent, offset);
  return lineIndent + (/^(- +)*/.exec(line)?.[0].length ?? 0);
}

function shift(text: string, by: number): string {
  if (by >= 0) return text.replace(/\n(?=[^\n])/g, `\n${" ".repeat(by)}`);
  return text.replace(new RegExp(`\\n {0,${-by}}`, "g"), "\n");
}

function sliceWithoutAnchors(source: Source, node: Node, editor: Editor): string {
  const start = node.range?.[0] ?? 0;
  const text = source.text.slice(start, editor.contentEnd(node));
  const cuts: [number, number][] = [];
  visit(node as Parameters<typeof visit>[0], {
    Node: (_, inner) => {
      if (inner === node || !(isScalar(inner) || isCollection(inner)) || inner.anchor === undefined) return;
      const mark = source.text.lastIndexOf(`&${inner.anchor}`, inner.range?.[0] ?? 0);
      if (mark < start) return;
      const stop = mark + inner.anchor.length + 1;
      cuts.push([mark - start, source.text[stop] === " " ? stop + 1 - start : stop - start]);
    },
  });
  return cuts.sort((a, b) => b[0] - a[0]).reduce((rest, [from, to]) => rest.slice(0, from) + rest.slice(to), text);
}

function contains(node: Node, offset: number): boolean {
  return node.range != null && offset >= node.range[0] && offset < Math.max(node.range[1], node.range[0] + 1);
}

function keyText(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : "";
}
