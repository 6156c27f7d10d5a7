import { isAlias, isCollection, isMap, isScalar, isSeq, LineCounter, visit } from "yaml";
import type { Alias, Document, Node, Pair, YAMLMap } from "yaml";
import { InputError, type Finding } from "../findings.js";
import { isLeftOut, isMergeKey, parseDocuments, TOO_DEEP, TooDeepError } from "./parse.js";
import { writeOutAliases, writeOutMerges } from "./aliases.js";
import { TextEditor } from "./edit.js";
import { isPlain, readPlain, type PlainText } from "./plain/read.js";
import { keyText } from "./scalar.js";
import { isJson, syntaxFindings } from "./syntax.js";
import type { Tree } from "./tree.js";
import { weigh } from "./weight.js";

/** Where an anchored node starts, and who uses it. */
export interface Anchored {
  node: Node;
  aliases: Alias[];
}

/** Where an offset of a text that was made from a file comes from in the file. */
export type Origin = (offset: number) => { line: number; col: number };

/** A parsed file: its text, its tree without what Envoy leaves out, and which alias leads where. */
export class Source implements Tree {
  readonly anchored = new Map<string, Anchored[]>();
  /** Maps with a plain `<<` key. */
  readonly merges: { map: YAMLMap; pair: Pair }[] = [];
  readonly isJson: boolean;
  /** Whether the file indents the items of a list below its key. */
  readonly indentsLists: boolean;
  private readonly inFlow = new Set<Alias>();
  private readonly targets = new Map<Alias, Node>();
  private hasAliases = false;
  private leavesOut = false;
  /** Aliases without an anchor before them. */
  private readonly unknown: Alias[] = [];
  /** Aliases inside the node that they stand for. */
  private readonly inThemselves: Alias[] = [];
  /** All pairs of the maps that have some which Envoy leaves out. */
  private readonly written = new Map<YAMLMap, readonly Pair[]>();
  private readonly merging = new Set<YAMLMap>();
  /** The pairs of maps with merge keys. */
  private readonly merged = new Map<YAMLMap, readonly Pair[]>();

  private constructor(
    readonly file: string,
    readonly text: string,
    readonly root: Node | null,
    /** The lists of a text that has neither aliases nor anything that is left out. */
    plain: PlainText["lists"] | undefined,
    /** Where an offset stands in the file, which may be another text than this one. */
    readonly placeOf: Origin,
  ) {
    this.isJson = isJson(file, text);
    const lists = plain ?? this.indexTree();
    this.indentsLists = lists.indented > lists.flush;
    if (plain !== undefined) return;
    this.rejectWrongAliases();
    this.leaveOut();
    for (const { map } of this.merges) this.pairsOf(map);
  }

  /**
   * `origin` says where the text comes from, where it is not the file's own.
   * @throws InputError with every syntax error and duplicate key, or where aliases stand for too much.
   */
  static parse(file: string, text: string, origin?: Origin): Source {
    const plain = readPlain(text);
    if (plain !== undefined) return new Source(file, text, plain.root, plain.lists, origin ?? placesIn(text));
    const lines = new LineCounter();
    const documents = parsed(file, text, lines);
    const errors = documents.flatMap((document) => document.errors);
    const findings = syntaxFindings(file, text, lines, errors);
    const [document, second] = documents;
    if (second !== undefined) findings.push(secondDocument(file, lines, second));
    if (document === undefined) findings.push(emptyFile(file));
    if (findings.length > 0 || document === undefined) throw new InputError(findings);
    return new Source(file, text, document.contents, undefined, origin ?? ((offset) => lines.linePos(offset)));
  }

  edit(): TextEditor {
    return new TextEditor(this);
  }

  /** What is found in the next round is reported where it comes from. */
  next(editor: TextEditor): Source {
    const origin = editor.origin();
    try {
      return Source.parse(this.file, editor.apply(), (offset) => this.placeOf(origin(offset)));
    } catch (error) {
      throw error instanceof InputError ? this.invalid(error.message) : error;
    }
  }

  /** The text with its changes made. It must be YAML: what is not is a defect of the editor, never something to write. */
  write(editor: TextEditor): string {
    const text = editor.apply();
    if (isPlain(text)) return text;
    const error = parseDocuments(text, new LineCounter()).flatMap((document) => document.errors)[0];
    if (error !== undefined) throw this.invalid(error.message);
    return text;
  }

  writtenOut(planned: TextEditor): TextEditor | undefined {
    return writeOutMerges(this) ?? writeOutAliases(this, planned);
  }

  mentions(name: string): boolean {
    return this.text.includes(name);
  }

  /** The node itself, or what its alias stands for. */
  resolve(node: unknown): Node | undefined {
    if (isAlias(node)) return this.targets.get(node);
    return node === null || node === undefined ? undefined : (node as Node);
  }

  /** The pairs of a map, those that its merge keys add last. */
  pairsOf(map: YAMLMap): readonly Pair[] {
    const known = this.merged.get(map);
    if (known !== undefined) return known;
    if (!this.merging.has(map)) return map.items;
    const merges = map.items.filter(({ key }) => isMergeKey(key));
    const pairs = new Map(map.items.filter(({ key }) => !isMergeKey(key)).map((pair) => [keyText(pair), pair]));
    for (const pair of merges.flatMap(({ value }) => this.mapsOf(value)).flatMap((from) => this.pairsOf(from))) {
      if (!pairs.has(keyText(pair))) pairs.set(keyText(pair), pair);
    }
    const result = [...pairs.values()];
    this.merged.set(map, result);
    return result;
  }

  /** The pairs of a map as they stand in the text, those included that Envoy leaves out. */
  writtenPairsOf(map: YAMLMap): readonly Pair[] {
    return this.written.get(map) ?? map.items;
  }

  /** Whether an alias stands somewhere inside `{}` or `[]`. */
  isInFlow(alias: Alias): boolean {
    return this.inFlow.has(alias);
  }

  finding(offset: number, path: string, message: string): Finding {
    return { file: this.file, ...this.placeOf(offset), path: path === "" ? "(document)" : path, message };
  }

  /** Offset of the first character of the line that holds `offset`. */
  lineStart(offset: number): number {
    return this.text.lastIndexOf("\n", offset - 1) + 1;
  }

  column(offset: number): number {
    return offset - this.lineStart(offset);
  }

  /** One walk instead of `alias.resolve()`, which searches the whole document for each alias. */
  private indexTree(): PlainText["lists"] {
    const current = new Map<string, Anchored>();
    const votes = { indented: 0, flush: 0 };
    visit(this.root, {
      Alias: (_, alias, path) => {
        this.hasAliases = true;
        if (path.some((parent) => isCollection(parent) && parent.flow === true)) this.inFlow.add(alias);
        const entry = current.get(alias.source);
        if (entry !== undefined && (path as unknown[]).includes(entry.node)) this.inThemselves.push(alias);
        this.linkAlias(alias, entry);
      },
      Node: (_, node) => {
        if ((isScalar(node) || isCollection(node)) && node.anchor !== undefined) {
          const entry = { node, aliases: [] };
          current.set(node.anchor, entry);
          this.anchored.set(node.anchor, [...(this.anchored.get(node.anchor) ?? []), entry]);
        }
      },
      Pair: (_, pair, path) => {
        if (isLeftOut(pair.key)) this.leavesOut = true;
        const map = path.at(-1);
        if (isMap(map) && isMergeKey(pair.key)) {
          this.merges.push({ map, pair });
          this.merging.add(map);
        }
        this.countListStyle(pair, votes);
      },
    });
    return votes;
  }

  private linkAlias(alias: Alias, entry: Anchored | undefined): void {
    if (entry === undefined) {
      this.unknown.push(alias);
      return;
    }
    entry.aliases.push(alias);
    this.targets.set(alias, entry.node);
  }

  private mapsOf(merged: unknown): YAMLMap[] {
    const value = this.resolve(merged);
    const maps = isSeq(value) ? value.items.map((item) => this.resolve(item)) : [value];
    return maps.filter((map) => isMap(map));
  }

  /** What is left out may still hold anchors, so it is left out once these are known. */
  private leaveOut(): void {
    if (!this.leavesOut) return;
    // All first: an alias may stand for what lies in a value that is left out.
    visit(this.root, {
      Map: (_, map) => {
        if (map.items.some(({ key }) => isLeftOut(key))) this.written.set(map, map.items);
      },
    });
    for (const [map, pairs] of this.written) map.items = pairs.filter(({ key }) => !isLeftOut(key));
  }

  private countListStyle(pair: Pair, votes: { indented: number; flush: number }): void {
    if (!isSeq(pair.value) || pair.value.flow === true || !pair.value.range) return;
    const key = pair.key as Node | null;
    if (!key?.range) return;
    if (this.column(pair.value.range[0]) > this.column(key.range[0])) votes.indented += 1;
    else votes.flush += 1;
  }

  private rejectWrongAliases(): void {
    if (!this.hasAliases) return;
    const findings = this.inThemselves.map((alias) => this.aliasFinding(alias, IN_ITSELF));
    for (const alias of this.unknown) {
      findings.push(this.aliasFinding(alias, `expected an anchor &${alias.source} before its use, found none`));
    }
    if (findings.length === 0) {
      const excess = weigh(this.root, (alias) => this.targets.get(alias));
      findings.push(...excess.map(({ alias, message }) => this.aliasFinding(alias, message)));
    }
    if (findings.length > 0) throw new InputError(findings);
  }

  private invalid(message: string): Error {
    return new Error(`lowering ${this.file} would give invalid YAML: ${message}`);
  }

  private aliasFinding(alias: Alias, message: string): Finding {
    return this.finding(alias.range?.[0] ?? 0, "", message);
  }
}

const IN_ITSELF = "expected an alias outside of the value that it stands for, found one inside";

function parsed(file: string, text: string, lines: LineCounter): Document.Parsed[] {
  try {
    return parseDocuments(text, lines);
  } catch (error) {
    if (!(error instanceof TooDeepError)) throw error;
    const { line, col } = lines.linePos(error.offset);
    throw new InputError([{ file, line, col, path: "(document)", message: TOO_DEEP }]);
  }
}

/** The place of an offset; the lines are found when the first one is asked for. */
function placesIn(text: string): Origin {
  let lines: LineCounter | undefined;
  return (offset) => {
    if (lines === undefined) {
      lines = new LineCounter();
      for (let start = 0; start !== -1; start = nextLine(text, start)) lines.addNewLine(start);
    }
    return lines.linePos(offset);
  };
}

function nextLine(text: string, start: number): number {
  const stop = text.indexOf("\n", start);
  return stop === -1 ? -1 : stop + 1;
}

function secondDocument(file: string, lines: LineCounter, document: Document.Parsed): Finding {
  const { line, col } = lines.linePos(document.range[0]);
  return { file, line, col, path: "(document)", message: "expected one YAML document, found a second one" };
}

function emptyFile(file: string): Finding {
  const message = "expected a bootstrap or resources, found an empty file";
  return { file, line: 1, col: 1, path: "(document)", message };
}
