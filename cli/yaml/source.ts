import { isAlias, isCollection, isMap, isPair, isScalar, isSeq, LineCounter, parseAllDocuments, visit } from "yaml";
import type { Alias, Document, Node, Pair, YAMLMap } from "yaml";
import { InputError, type Finding } from "../findings.js";
import { syntaxFindings } from "./syntax.js";

/** Where an anchored node starts, and who uses it. */
export interface Anchored {
  node: Node;
  aliases: Alias[];
}

/** A parsed file: its text, its tree, and which alias leads where. */
export class Source {
  readonly anchored = new Map<string, Anchored[]>();
  /** Maps with a plain `<<` key. */
  readonly merges: { map: YAMLMap; pair: Pair }[] = [];
  /** Whether the file indents the items of a list below its key. */
  readonly indentsLists: boolean;
  private readonly inFlow = new Set<Alias>();
  private readonly targets = new Map<Alias, Node>();
  private hasAliases = false;
  /** Aliases inside the node that they stand for. */
  private readonly inThemselves: Alias[] = [];

  private constructor(
    readonly file: string,
    readonly text: string,
    readonly document: Document.Parsed,
    private readonly lines: LineCounter,
  ) {
    this.indentsLists = this.indexTree();
  }

  /** @throws InputError with every syntax error and duplicate key. */
  static parse(file: string, text: string): Source {
    const lines = new LineCounter();
    const options = { lineCounter: lines, keepSourceTokens: true, prettyErrors: false, uniqueKeys: true } as const;
    const documents = parseAllDocuments(text, options);
    const errors = (documents as Document.Parsed[]).flatMap((document) => document.errors);
    const findings = syntaxFindings(file, text, lines, errors);
    const [document, second] = documents as Document.Parsed[];
    if (second !== undefined) findings.push(secondDocument(file, lines, second));
    if (document === undefined) findings.push(emptyFile(file));
    if (findings.length > 0 || document === undefined) throw new InputError(findings);
    const source = new Source(file, text, document, lines);
    source.rejectWrongAliases();
    return source;
  }

  /** The node itself, or what its alias stands for. */
  resolve(node: unknown): Node | undefined {
    if (isAlias(node)) return this.targets.get(node);
    return node === null || node === undefined ? undefined : (node as Node);
  }

  /** Whether an alias stands somewhere inside `{}` or `[]`. */
  isInFlow(alias: Alias): boolean {
    return this.inFlow.has(alias);
  }

  finding(offset: number, path: string, message: string): Finding {
    const { line, col } = this.lines.linePos(offset);
    return { file: this.file, line, col, path: path === "" ? "(document)" : path, message };
  }

  /** Offset of the first character of the line that holds `offset`. */
  lineStart(offset: number): number {
    return this.text.lastIndexOf("\n", offset - 1) + 1;
  }

  column(offset: number): number {
    return offset - this.lineStart(offset);
  }

  /** One walk instead of `alias.resolve()`, which searches the whole document for each alias. */
  private indexTree(): boolean {
    const current = new Map<string, Anchored>();
    const votes = { indented: 0, flush: 0 };
    visit(this.document, {
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
        const map = path.at(-1);
        if (isMap(map) && isMergeKey(pair.key)) this.merges.push({ map, pair });
        this.countListStyle(pair, votes);
      },
    });
    return votes.indented > votes.flush;
  }

  private linkAlias(alias: Alias, entry: Anchored | undefined): void {
    if (entry === undefined) return;
    entry.aliases.push(alias);
    this.targets.set(alias, entry.node);
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
    visit(this.document, {
      Alias: (_, alias) => {
        if (this.targets.has(alias)) return;
        findings.push(this.aliasFinding(alias, `expected an anchor &${alias.source} before its use, found none`));
      },
    });
    if (findings.length === 0 && this.writtenOut(this.document.contents, new Map()) > MAX_NODES) {
      findings.push(this.finding(0, "", `expected aliases that stand for at most ${MAX_NODES} values, found more`));
    }
    if (findings.length > 0) throw new InputError(findings);
  }

  private aliasFinding(alias: Alias, message: string): Finding {
    return this.finding(alias.range?.[0] ?? 0, "", message);
  }

  /** The number of nodes below and including this one, were all aliases written out. */
  private writtenOut(node: unknown, known: Map<unknown, number>): number {
    const target = isAlias(node) ? this.targets.get(node) : node;
    const before = known.get(target);
    if (before !== undefined) return before;
    const children = isCollection(target) ? target.items.map((item) => (isPair(item) ? item.value : item)) : [];
    const count = children.reduce((sum: number, child) => sum + this.writtenOut(child, known), 1);
    known.set(target, count);
    return count;
  }
}

const IN_ITSELF = "expected an alias outside of the value that it stands for, found one inside";
/** A file that stands for more is a bomb rather than a config. */
const MAX_NODES = 10_000_000;

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === "PLAIN" && key.source === "<<";
}

function secondDocument(file: string, lines: LineCounter, document: Document.Parsed): Finding {
  const { line, col } = lines.linePos(document.range[0]);
  return { file, line, col, path: "(document)", message: "expected one YAML document, found a second one" };
}

function emptyFile(file: string): Finding {
  const message = "expected a bootstrap or resources, found an empty file";
  return { file, line: 1, col: 1, path: "(document)", message };
}
