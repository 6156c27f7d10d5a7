// However a file is written, what it says is lowered the same.
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import {
  isMap,
  isScalar,
  isSeq,
  Pair,
  parse,
  parseDocument,
  visit,
  type Document,
  type Node,
  type YAMLMap,
} from "yaml";
import { lower } from "../../cli/lower.js";
import { fixtures, WASM_IN_GOLDEN } from "./support.js";

/** Writes the same values in another way. */
type Style = (text: string, random: () => number) => string;

const styles: Record<string, Style> = {
  "Windows line ends": (text) => windows(text),
  "Windows line ends and anchors": (text, random) => windows(comments(anchors(text, random), random)),
  "comments everywhere": comments,
  "flow only": (text) => collections(text, () => true),
  "block only": (text) => collections(text, () => false),
  "block and flow": (text, random) => collections(text, () => random() < 0.2),
  "long lines broken": (text, random) => collections(text, () => random() < 0.2, 40),
  "anchors and aliases": (text, random) => anchors(text, random),
  "merge keys": merges,
  "merge keys, anchors and aliases": (text, random) => anchors(merges(text, random), random),
  "JSON on one line": (text) => JSON.stringify(parse(text)),
  "JSON with tabs": (text) => JSON.stringify(parse(text), null, "\t"),
  "JSON with Windows line ends": (text) => windows(JSON.stringify(parse(text), null, 2)),
  camelCase: camelCase,
  "a byte order mark": (text) => `\ufeff${text}`,
  "document markers": (text) => `%YAML 1.2\n---\n${text}\n...\n`,
  "no line end": (text) => text.replace(/\n+$/, ""),
};

const inputs = fixtures("lower").filter(({ text }) => !/^ *(- )?<</m.test(text));

// What the settings say is not in question here, and asking the module takes its time.
const options = { wasm: WASM_IN_GOLDEN, validator: () => [] };

describe.each(Object.entries(styles))("%s", (_, style) => {
  test.each(inputs)("$name", ({ text }) => {
    const expected = meaning(lower(text, options).text);
    for (let seed = 1; seed <= 2; seed++) {
      const written = style(text, generator(seed));
      if (!isDeepStrictEqual(meaning(written), meaning(text))) continue;
      expect(meaning(lower(written, options).text)).toEqual(expected);
    }
  });
});

/** A linear congruential generator: the same files in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
}

function windows(text: string): string {
  return text.replaceAll("\n", "\r\n");
}

function comments(text: string, random: () => number): string {
  const commented = (line: string): string[] => {
    const dice = random();
    if (line.trim() === "" || /[|>]/.test(line)) return [line];
    if (dice < 0.2) return [`${" ".repeat(1 + Math.floor(dice * 60))}# above`, line];
    if (dice < 0.3) return ["", line];
    return dice < 0.4 ? [`${line} # behind`] : [line];
  };
  return text.split("\n").flatMap(commented).join("\n");
}

function collections(text: string, isFlow: () => boolean, lineWidth = 0): string {
  const document = parseDocument(text);
  visit(document, {
    Collection: (_, node) => {
      node.flow = isFlow();
    },
  });
  return document.toString({ lineWidth });
}

/** Gives most collections that occur again an anchor. */
function anchors(text: string, random: () => number): string {
  const document: Document = parseDocument(text);
  const first = new Map<string, Node & { anchor?: string }>();
  visit(document, {
    Node: (key, node) => {
      if (key === "key" || !(isMap(node) || isSeq(node)) || node.items.length === 0) return undefined;
      const value = JSON.stringify(node.toJS(document));
      const before = first.get(value);
      if (before === undefined) first.set(value, node);
      if (before === undefined || random() < 0.3) return undefined;
      before.anchor ??= `a${first.size}`;
      return document.createAlias(before as Parameters<Document["createAlias"]>[0], before.anchor);
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** Lets some maps take over what an earlier one says, which may itself do so. */
function merges(text: string, random: () => number): string {
  const document: Document = parseDocument(text);
  const earlier: YAMLMap[] = [];
  let anchorsUsed = 0;
  visit(document, {
    Map: (_, map, ancestors) => {
      const from = earlier.find((one) => sharesEnough(one, map) && !(ancestors as unknown[]).includes(one));
      if (from !== undefined && random() < 0.7) {
        from.anchor ??= `m${(anchorsUsed += 1)}`;
        const own = map.items.filter(
          (pair) => !isDeepStrictEqual(textOf(pair.value), textOf(from.get(pair.key, true))),
        );
        const alias = document.createAlias(from as Parameters<Document["createAlias"]>[0], from.anchor);
        const key = document.createNode("<<");
        map.items = random() < 0.5 ? [new Pair(key, alias), ...own] : [...own, new Pair(key, alias)];
      }
      earlier.push(map);
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** Whether all keys of one map are keys of another, and some values equal. */
function sharesEnough(one: YAMLMap, other: YAMLMap): boolean {
  const pairs = one.items.filter(({ key }) => !(isScalar(key) && key.value === "<<"));
  if (pairs.length < one.items.length || pairs.length === 0) return false;
  const shares = pairs.some(({ key, value }) => isDeepStrictEqual(textOf(value), textOf(other.get(key, true))));
  return shares && pairs.every(({ key }) => other.has(key));
}

function textOf(node: unknown): string {
  return JSON.stringify(node);
}

const FREE_KEYS = new Set(["filter_metadata", "typed_per_filter_config", "map", "static_layer"]);

function camelCase(text: string): string {
  // Copies for route specifiers are named by the text of what is copied, its spelling included.
  if (text.includes("route_specifiers")) return text;
  const document = parseDocument(text);
  visit(document, {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || typeof key.value !== "string") return undefined;
      const name = key.value;
      if (/^[a-z]+(_[a-z]+)+$/.test(name)) key.value = name.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase());
      return FREE_KEYS.has(name) && isMap(value) ? visit.SKIP : undefined;
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** The values of a file with one spelling of each field, in one order. */
function meaning(text: string): unknown {
  return plain(parse(text.replace(/^\ufeff/, ""), { merge: true }));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return typeof value === "number" ? String(value) : value;
  const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [snake(key), plain(item)]));
}
