// However a file is written, what it says is lowered the same.
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  Pair,
  parse,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { lower } from "../../../cli/lower.js";
import { fixtures, WASM_IN_GOLDEN, type Fixture } from "../support.js";

/** Writes the same values in another way. */
type Style = (text: string, random: () => number) => string;

const styles = {
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
  "ignored keys": ignoredKeys,
  "ignored keys, flow only": (text, random) => collections(ignoredKeys(text, random), () => true),
  // The files that have anchors already would need them in front of their aliases.
  "anchors in ignored keys": (text, random) => (/ \*\w/.test(text) ? text : anchors(ignoredKeys(text, random), random)),
} satisfies Record<string, Style>;

/** Declares a test for each of the styles and each input that can be written so. */
export function testStyles(...names: (keyof typeof styles)[]): void {
  for (const name of names) {
    const style = styles[name] as Style;
    describe(name, () => {
      test.each(inputs.filter(({ text }) => canBeWritten(name, text)))("$name", (input) => {
        const written = SEEDS.map((seed) => style(input.text, generator(seed)));
        // A style that changed what the file says would test nothing.
        expect(written.map(meaning)).toEqual(SEEDS.map(() => meaning(input.text)));
        expect(written).not.toContain(input.text);
        for (const text of new Set(written)) expect(meaning(lower(text, options).text)).toEqual(expected(input));
      });
    });
  }
}

function canBeWritten(name: keyof typeof styles, text: string): boolean {
  return (styles[name] as Style)(text, generator(1)) !== text;
}

const SEEDS = [1, 2];
const inputs = fixtures("lower").filter(({ text }) => !/^ *(- )?<<|!ignore/m.test(text));

// What the settings say is not in question here, and asking the module takes its time.
const options = { wasm: WASM_IN_GOLDEN, validator: () => [] };

const lowered = new Map<string, unknown>();

function expected({ name, text }: Fixture): unknown {
  const known = lowered.get(name) ?? meaning(lower(text, options).text);
  lowered.set(name, known);
  return known;
}

/** A linear congruential generator: the same files in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
}

/** A key that is left out may stand beside one of its name. */
function parsed(text: string): Document.Parsed {
  return parseDocument(text, { logLevel: "error", uniqueKeys: false });
}

function windows(text: string): string {
  return text.replaceAll("\n", "\r\n");
}

function comments(text: string, random: () => number): string {
  // What looks like a comment inside a block scalar is a part of its text.
  let scalarIndent = Infinity;
  const commented = (line: string): string[] => {
    const dice = random();
    const indent = line.search(/\S/);
    if (indent < 0 || indent > scalarIndent) return [line];
    scalarIndent = /[|>][-+]?$/.test(line) ? indent : Infinity;
    if (/[|>]/.test(line)) return [line];
    if (dice < 0.2) return [`${" ".repeat(1 + Math.floor(dice * 60))}# above`, line];
    if (dice < 0.3) return ["", line];
    return dice < 0.4 ? [`${line} # behind`] : [line];
  };
  return text.split("\n").flatMap(commented).join("\n");
}

function collections(text: string, isFlow: () => boolean, lineWidth = 0): string {
  const document = parsed(text);
  visit(document, {
    Collection: (_, node) => {
      node.flow = isFlow();
    },
  });
  return document.toString({ lineWidth });
}

/** Gives most collections that occur again an anchor. */
function anchors(text: string, random: () => number): string {
  const document: Document = parsed(text);
  const first = new Map<string, Node & { anchor?: string }>();
  let anchorsUsed = 0;
  visit(document, {
    Node: (key, node) => {
      if (key === "key" || !(isMap(node) || isSeq(node)) || node.items.length === 0) return undefined;
      const value = JSON.stringify(written(node));
      const before = first.get(value);
      if (before === undefined) first.set(value, node);
      if (before === undefined || random() < 0.3) return undefined;
      before.anchor ??= `a${(anchorsUsed += 1)}`;
      return document.createAlias(before as Parameters<Document["createAlias"]>[0], before.anchor);
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** All that a node says, what is left out included. */
function written(node: unknown): unknown {
  if (isAlias(node)) return { alias: node.source };
  if (isSeq(node)) return node.items.map(written);
  if (!isMap(node)) return isScalar(node) ? node.value : node;
  return { map: node.items.map(({ key, value }) => [isIgnored(key), nameOf(key), written(value)]) };
}

/** Lets some maps take over what an earlier one says, which may itself do so. */
function merges(text: string, random: () => number): string {
  const document: Document = parsed(text);
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

/** Gives every map something that Envoy leaves out, a copy of one of its pairs included. */
function ignoredKeys(text: string, random: () => number): string {
  const document: Document = parsed(text);
  visit(document, {
    Map: (_, map) => {
      const taken = map.items[Math.floor(random() * map.items.length)];
      const key = document.createNode(random() < 0.5 ? nameOf(taken?.key) : "note") as Scalar;
      key.tag = "!ignore";
      const copied = random() < 0.5 && isCollection(taken?.value) ? valueOf(taken.value, document) : NONSENSE;
      map.items.splice(Math.floor(random() * (map.items.length + 1)), 0, new Pair(key, document.createNode(copied)));
    },
    Pair: (_, { key }) => (isIgnored(key) ? visit.SKIP : undefined),
  });
  return document.toString({ lineWidth: 0 });
}

const NONSENSE = { "@type": "nonsense", route_specifiers: [{ name: 1 }], virtual_hosts: "none" };

function isIgnored(key: unknown): boolean {
  return isScalar(key) && key.tag === "!ignore";
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
  const document = parsed(text);
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
  const document: Document = parsed(text.replace(/^\ufeff/, ""));
  return plain(valueOf(document.contents, document));
}

function valueOf(node: unknown, document: Document): unknown {
  if (isAlias(node)) return valueOf(node.resolve(document), document);
  if (isSeq(node)) return node.items.map((item) => valueOf(item, document));
  if (!isMap(node)) return isScalar(node) ? node.value : node;
  const own = node.items.filter(({ key }) => !isIgnored(key) && nameOf(key) !== "<<");
  const merged = node.items.filter(({ key }) => nameOf(key) === "<<").map(({ value }) => valueOf(value, document));
  const pairs = own.map(({ key, value }) => [nameOf(key), valueOf(value, document)] as const);
  return Object.assign({}, ...(merged as object[]), Object.fromEntries(pairs)) as unknown;
}

function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : "";
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return typeof value === "number" ? String(value) : value;
  const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [snake(key), plain(item)]));
}
