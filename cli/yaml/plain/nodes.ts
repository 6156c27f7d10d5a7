import { Pair, Scalar, Schema, YAMLMap, YAMLSeq, type Node, type ScalarTag } from "yaml";
import { unquoted, type Events, type Style } from "./scanner.js";

type Range = [number, number, number];

/** The types that a scalar without quotes may have, told by how it looks. */
const TYPES = new Schema({ schema: "core" }).tags.filter(
  (tag): tag is ScalarTag => tag.default === true && tag.collection === undefined,
);

/** A scalar, as the library would make it; its value is made when somebody asks. */
class PlainScalar {
  constructor(
    private readonly text: string,
    readonly type: Style,
    private readonly start: number,
    private readonly end: number,
  ) {}

  get range(): Range {
    return [this.start, this.end, this.end];
  }

  get source(): string {
    const raw = this.text.slice(this.start, this.end);
    if (this.type === "PLAIN") return raw;
    return this.type === "BLOCK_LITERAL" ? literal(raw) : (unquoted(this.type, raw) ?? raw);
  }

  get value(): unknown {
    const { source } = this;
    const type = this.type === "PLAIN" ? TYPES.find((tag) => tag.test?.test(source) === true) : undefined;
    return type?.resolve === undefined ? source : type.resolve(source, () => {}, {});
  }
}

class PlainKey {
  constructor(
    readonly type: Style,
    private readonly start: number,
    private readonly end: number,
    readonly value: string,
  ) {}

  get source(): string {
    return this.value;
  }

  get range(): Range {
    return [this.start, this.end, this.end];
  }
}

class PlainPair {
  value: Node | null = null;

  constructor(
    readonly key: PlainKey,
    readonly colon: number,
  ) {}
}

class PlainMap {
  items: PlainPair[] = [];
  range: Range;

  constructor(
    start: number,
    readonly flow: boolean,
  ) {
    this.range = [start, start, start];
  }
}

/** A list that was read without tokens. */
export class PlainSeq {
  readonly items: Node[] = [];
  /** Offsets of the dashes of a block list. */
  readonly dashes: number[] = [];
  range: Range;

  constructor(
    start: number,
    readonly flow: boolean,
  ) {
    this.range = [start, start, start];
  }
}

// What the library asks of a node, to know its kind, is found on a node of its own.
Object.setPrototypeOf(PlainScalar.prototype, new Scalar(null));
Object.setPrototypeOf(PlainKey.prototype, new Scalar(null));
Object.setPrototypeOf(PlainPair.prototype, new Pair(null));
Object.setPrototypeOf(PlainMap.prototype, new YAMLMap());
Object.setPrototypeOf(PlainSeq.prototype, new YAMLSeq());

/** The `:` behind the key of a pair that was read without tokens; undefined for any other. */
export function colonOf(pair: Pair): number | undefined {
  return (pair as unknown) instanceof PlainPair ? (pair as unknown as PlainPair).colon : undefined;
}

/** Makes nodes of what a reader meets. */
export class Nodes implements Events {
  root: Node | undefined;
  /** Lists below keys, by whether they stand to the right of them. */
  readonly lists = { indented: 0, flush: 0 };
  private readonly open: (PlainMap | PlainSeq)[] = [];

  constructor(private readonly text: string) {}

  map(start: number, flow: boolean): void {
    this.openUp(new PlainMap(start, flow));
  }

  seq(start: number, flow: boolean): void {
    if (!flow) this.countList(start);
    this.openUp(new PlainSeq(start, flow));
  }

  key(style: Style, start: number, end: number, name: string, colon: number): void {
    (this.open.at(-1) as PlainMap).items.push(new PlainPair(new PlainKey(style, start, end, name), colon));
  }

  dash(offset: number): void {
    (this.open.at(-1) as PlainSeq).dashes.push(offset);
  }

  scalar(style: Style, start: number, end: number): void {
    this.add(new PlainScalar(this.text, style, start, end));
  }

  end(at: number): void {
    const closed = this.open.pop() as PlainMap | PlainSeq;
    closed.range = [closed.range[0], at, at];
  }

  private openUp(node: PlainMap | PlainSeq): void {
    this.add(node);
    this.open.push(node);
  }

  private add(node: unknown): void {
    const around = this.open.at(-1);
    if (around === undefined) this.root = node as Node;
    else if (around instanceof PlainSeq) around.items.push(node as Node);
    else (around.items.at(-1) as PlainPair).value = node as Node;
  }

  private countList(start: number): void {
    const around = this.open.at(-1);
    if (!(around instanceof PlainMap)) return;
    const key = (around.items.at(-1) as PlainPair).key.range[0];
    if (this.column(start) > this.column(key)) this.lists.indented += 1;
    else this.lists.flush += 1;
  }

  private column(offset: number): number {
    return offset - this.text.lastIndexOf("\n", offset - 1) - 1;
  }
}

/** The value of `|` or `|-` with its lines. */
function literal(raw: string): string {
  const [header = "", ...lines] = raw.split("\n");
  const column = lines.find((line) => line !== "")?.search(/[^ ]/) ?? 0;
  const value = lines.map((line) => line.slice(column)).join("\n");
  return header === "|-" ? value.slice(0, -1) : value;
}
