/** How a scalar is written. */
export type Style = "PLAIN" | "QUOTE_DOUBLE" | "QUOTE_SINGLE" | "BLOCK_LITERAL";

/** What a reader meets in a text, in its order. Numbers are offsets. */
export interface Events {
  map(start: number, flow: boolean): void;
  seq(start: number, flow: boolean): void;
  /** `colon` is the offset of the `:` behind the key. */
  key(style: Style, start: number, end: number, name: string, colon: number): void;
  /** The dash of an item of a block list, before the item. */
  dash(offset: number): void;
  scalar(style: Style, start: number, end: number): void;
  /** The end of the innermost map or list. */
  end(at: number): void;
}

/** The text is not plain: the library has to read it. */
export class NotPlainError extends Error {}

// One for all: nobody reads its stack.
const NOT_PLAIN = new NotPlainError("not plain");

export const NEWLINE = 10;
export const SPACE = 32;
const HASH = 35;
const COLON = 58;

// Keys that the library takes for strings, as they stand.
const KEY = /[A-Za-z_][\w./-]*/y;
const OTHER_KEY = /^(?:true|false|null)$/i;
const DOUBLE = /"(?:[^"\\\n]|\\[^\n])*"/y;
const SINGLE = /'(?:[^'\n]|'')*'/y;
const FIRST = String.raw`(?:[\w./$+~(^=\\<;]|-(?=[\w.]))`;
const PLAIN = new RegExp(String.raw`${FIRST}(?:[^\n:#]|:(?=[^ \n])|(?<=[^ \n])#)*`, "y");
const PLAIN_IN_FLOW = new RegExp(String.raw`${FIRST}(?:[^\n:#,[\]{}]|:(?=[^ \n,[\]{}])|(?<=[^ \n])#)*`, "y");
const MAX_KEY = 1000;
/** Deeper than any config: what is deeper may be too deep. */
const MAX_DEPTH = 100;
/** Up to so many keys are compared one by one. */
const FEW_KEYS = 16;

/** A place in a text, and what all readers of pieces of it share. */
export class Scanner {
  at = 0;
  private depth = 0;
  private readonly names = new Map<string, string>();

  constructor(
    readonly text: string,
    readonly events: Events,
  ) {}

  fail(): never {
    throw NOT_PLAIN;
  }

  get code(): number {
    return this.text.charCodeAt(this.at);
  }

  skipSpaces(): void {
    while (this.code === SPACE) this.at += 1;
  }

  descend(): void {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) this.fail();
  }

  ascend(at: number): void {
    this.depth -= 1;
    this.events.end(at);
  }

  /** Goes to the next line; before it, there may be spaces and a comment. */
  endLine(): void {
    const from = this.at;
    this.skipSpaces();
    const { code } = this;
    if (Number.isNaN(code)) return;
    if (code === HASH && this.at > from) {
      const stop = this.text.indexOf("\n", this.at);
      this.at = stop === -1 ? this.text.length : stop + 1;
    } else if (code === NEWLINE) this.at += 1;
    else this.fail();
  }

  /** Whether nothing but spaces and a comment follows on the line. */
  get endsLine(): boolean {
    let at = this.at;
    while (this.text.charCodeAt(at) === SPACE) at += 1;
    const code = this.text.charCodeAt(at);
    return Number.isNaN(code) || code === NEWLINE || (code === HASH && at > this.at);
  }

  /** From the start of a line to what stands on the next one that is neither empty nor a comment: its column, or -1. */
  nextIndent(): number {
    for (;;) {
      const start = this.at;
      this.skipSpaces();
      const { code } = this;
      if (Number.isNaN(code)) return -1;
      if (code !== HASH && code !== NEWLINE) return this.at - start;
      const stop = this.text.indexOf("\n", this.at);
      this.at = stop === -1 ? this.text.length : stop + 1;
    }
  }

  /** Whether a `:` that ends a key follows. */
  get atColon(): boolean {
    if (this.code !== COLON) return false;
    const next = this.text.charCodeAt(this.at + 1);
    return next === SPACE || next === NEWLINE || Number.isNaN(next);
  }

  /** The end of a quoted scalar that starts here, or -1. */
  get quotedEnd(): number {
    const { code } = this;
    return code === 34 ? this.match(DOUBLE) : code === 39 ? this.match(SINGLE) : -1;
  }

  /** The end of a key that starts here, without what follows, or -1. */
  get keyEnd(): number {
    const quoted = this.quotedEnd;
    return quoted === -1 ? this.match(KEY) : quoted;
  }

  /** Reads a key up to `end`, and its `:`; answers its name. A quoted key in a flow map needs no space behind the `:`. */
  key(end: number, inFlow: boolean): string {
    const start = this.at;
    const style = this.style;
    const raw = this.text.slice(start, end);
    const name = this.known(style === "PLAIN" ? raw : unquoted(style, raw));
    if (end - start > MAX_KEY || name === undefined || (style === "PLAIN" && OTHER_KEY.test(name))) this.fail();
    this.at = end;
    if (!this.atColon && !(inFlow && style !== "PLAIN" && this.code === COLON)) this.fail();
    this.events.key(style, start, end, name, this.at);
    this.at += 1;
    return name;
  }

  /** Reads a scalar on one line. */
  scalar(inFlow: boolean): void {
    const start = this.at;
    const { style } = this;
    if (style === "PLAIN") {
      let end = this.match(inFlow ? PLAIN_IN_FLOW : PLAIN);
      if (end === -1 || this.text.startsWith("..", start)) this.fail();
      while (this.text.charCodeAt(end - 1) === SPACE) end -= 1;
      this.events.scalar(style, start, end);
      this.at = end;
      return;
    }
    const end = this.quotedEnd;
    if (end === -1 || unquoted(style, this.text.slice(start, end)) === undefined) this.fail();
    this.events.scalar(style, start, end);
    this.at = end;
  }

  private get style(): Style {
    const { code } = this;
    return code === 34 ? "QUOTE_DOUBLE" : code === 39 ? "QUOTE_SINGLE" : "PLAIN";
  }

  private match(pattern: RegExp): number {
    pattern.lastIndex = this.at;
    return pattern.test(this.text) ? pattern.lastIndex : -1;
  }

  /** One string for all keys of a name. */
  private known(name: string | undefined): string | undefined {
    if (name === undefined) return undefined;
    const known = this.names.get(name);
    if (known !== undefined) return known;
    this.names.set(name, name);
    return name;
  }
}

/** The value of a quoted scalar; undefined where it has escapes that JSON does not have. */
export function unquoted(style: Style, raw: string): string | undefined {
  if (style === "QUOTE_SINGLE") return raw.slice(1, -1).replaceAll("''", "'");
  if (!raw.includes("\\")) return raw.slice(1, -1);
  try {
    return JSON.parse(raw) as string;
  } catch {
    return undefined;
  }
}

/** The keys of one map; a second one of a name is not plain. */
export class Keys {
  private readonly few: string[] = [];
  private many: Set<string> | undefined;

  add(name: string, scanner: Scanner): void {
    if (this.many?.has(name) ?? this.few.includes(name)) scanner.fail();
    if (this.many !== undefined) this.many.add(name);
    else if (this.few.push(name) > FEW_KEYS) this.many = new Set(this.few);
  }
}
