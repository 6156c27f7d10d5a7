import { isAlias, isCollection, isScalar, visit, type Alias, type Node, type Pair, type YAMLMap } from "yaml";
import { TextEditor } from "./edit.js";
import { renderFlow } from "./render.js";
import { jsonValue, keyText } from "./scalar.js";
import type { Anchored, Source } from "./source.js";

/**
 * Writes out every alias whose anchored node holds one of the nodes that will change, so that a change meets only the
 * place it is meant for, or whose anchor will go away; undefined where there is none. All other anchors and aliases stay.
 */
export function writeOutAliases(source: Source, planned: TextEditor): TextEditor | undefined {
  const changing = changingAnchors(source, planned);
  const editor = new TextEditor(source);
  for (const { node, aliases } of changing.values()) {
    for (const alias of aliases) editor.replaceText(...replacementOf(source, editor, changing, alias, node));
  }
  return editor.isEmpty ? undefined : editor;
}

/** Writes out every merge key (`<<`), which Envoy does not read; undefined where there is none. */
export function writeOutMerges(source: Source): TextEditor | undefined {
  const editor = new TextEditor(source);
  let end = 0;
  for (const { map, pair } of source.merges) {
    // The merge that holds this one writes it out.
    if ((map.range?.[0] ?? 0) < end) continue;
    writeOutMerge(source, editor, map, pair);
    end = Math.max(end, endOf(pair));
  }
  return editor.isEmpty ? undefined : editor;
}

function writeOutMerge(source: Source, editor: TextEditor, map: YAMLMap, merge: Pair): void {
  const own = new Set(map.items);
  const added = source.pairsOf(map).filter((pair) => !own.has(pair));
  editor.replaceMerge(
    map,
    merge,
    added.map((pair) => [keyText(pair), jsonValue(pair.value, source)]),
  );
}

function endOf({ value }: Pair): number {
  return (value as Node | null)?.range?.[1] ?? 0;
}

/**
 * The anchored nodes, by where they start, in which something changes. Where an alias is written out, what holds it
 * changes as well.
 */
function changingAnchors(source: Source, planned: TextEditor): Map<Node, Anchored> {
  const open = [...source.anchored.values()].flat().filter(({ aliases }) => aliases.length > 0);
  const changing = new Map<Node, Anchored>();
  let offsets = planned.touched.map((node) => node.range?.[0] ?? -1);
  while (offsets.length > 0) {
    const sorted = offsets.sort((a, b) => a - b);
    const found = open.filter(({ node }) => !changing.has(node) && holdsOne(node, sorted));
    for (const anchored of found) changing.set(anchored.node, anchored);
    offsets = found.flatMap(({ aliases }) => aliases.map((alias) => alias.range?.[0] ?? -1));
  }
  for (const anchored of open) {
    if (planned.replaces(anchored.node.range?.[0] ?? -1)) changing.set(anchored.node, anchored);
  }
  return changing;
}

/** Whether one of some sorted offsets lies in a node. */
function holdsOne(node: Node, sorted: readonly number[]): boolean {
  if (!node.range) return false;
  const [start, end] = [node.range[0], Math.max(node.range[1], node.range[0] + 1)];
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < start) low = middle + 1;
    else high = middle;
  }
  return (sorted[low] ?? Infinity) < end;
}

/** Start and end of what is replaced, and the text that stands for an alias. */
function replacementOf(
  source: Source,
  editor: TextEditor,
  changing: ReadonlyMap<Node, Anchored>,
  alias: Alias,
  node: Node,
): [number, number, string] {
  const [start, end] = [alias.range?.[0] ?? 0, alias.range?.[1] ?? 0];
  const text = aliasText(source, editor, changing, alias, node);
  const before = source.text.slice(source.lineStart(start), start);
  const spaces = text.startsWith("\n") ? (/ *$/.exec(before)?.[0].length ?? 0) : 0;
  return [start - spaces, end, text];
}

/** A copy of the anchored text moved to the alias' column, inner anchors left out. */
function aliasText(
  source: Source,
  editor: TextEditor,
  changing: ReadonlyMap<Node, Anchored>,
  alias: Alias,
  node: Node,
): string {
  const start = alias.range?.[0] ?? 0;
  const block = isCollection(node) && node.flow !== true;
  if (block && source.isInFlow(alias)) return renderFlow(jsonValue(node, source), source);
  const slice = sliceOf(source, editor, changing, node);
  if (!block) return slice;
  const from = source.column(node.range?.[0] ?? 0);
  const lineIndent = /^ */.exec(source.text.slice(source.lineStart(start)))?.[0].length ?? 0;
  const afterDash = /^[\s-]*$/.test(source.text.slice(source.lineStart(start), start));
  const column = afterDash ? source.column(start) : keyColumn(source, start, lineIndent) + 2;
  const text = shift(slice.replace(/\n$/, ""), column - from);
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

/** The text of a node without the anchors in it, and with the aliases written out that cannot stay. */
function sliceOf(source: Source, editor: TextEditor, changing: ReadonlyMap<Node, Anchored>, node: Node): string {
  const start = node.range?.[0] ?? 0;
  const end = editor.contentEnd(node);
  const cuts: [number, number, string][] = [];
  visit(node as Parameters<typeof visit>[0], {
    Node: (_, inner) => {
      if (isAlias(inner)) {
        const target = source.resolve(inner);
        // An anchor that is defined again may lead elsewhere at the place of the copy.
        const again = (source.anchored.get(inner.source)?.length ?? 0) > 1;
        if (target === undefined || !(again || changing.has(target))) return;
        cuts.push(replacementOf(source, editor, changing, inner, target));
      } else if (inner !== node && (isScalar(inner) || isCollection(inner)) && inner.anchor !== undefined) {
        const mark = source.text.lastIndexOf(`&${inner.anchor}`, inner.range?.[0] ?? 0);
        const stop = mark + inner.anchor.length + 1;
        if (mark >= start) cuts.push([mark, source.text[stop] === " " ? stop + 1 : stop, ""]);
      }
    },
  });
  const parts: string[] = [];
  let at = start;
  for (const [from, to, text] of cuts.sort(([a], [b]) => a - b)) {
    parts.push(source.text.slice(at, from), text);
    at = to;
  }
  return parts.join("") + source.text.slice(at, end);
}
