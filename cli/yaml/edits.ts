/** Text that takes the place of other text, or goes in where `start` is `end`. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** Changes of a text that do not overlap, with its line ends. */
export class Edits {
  private readonly edits: Edit[] = [];
  private readonly newline: string;

  constructor(private readonly text: string) {
    this.newline = text.includes("\r\n") ? "\r\n" : "\n";
  }

  get isEmpty(): boolean {
    return this.edits.length === 0;
  }

  add({ start, end, text }: Edit): void {
    this.edits.push({ start, end, text: text.replace(/\r?\n/g, this.newline) });
  }

  /** Whether the text at an offset is going to be replaced. */
  replaces(offset: number): boolean {
    return this.edits.some((edit) => edit.start <= offset && offset < edit.end);
  }

  /** Whether the text at an offset is going to be removed, with nothing in its place. */
  removes(offset: number): boolean {
    return this.edits.some((edit) => edit.text === "" && edit.start <= offset && offset < edit.end);
  }

  /** The changed text. */
  apply(): string {
    const parts: string[] = [];
    let at = 0;
    for (const edit of this.ordered()) {
      if (edit.start < at) throw new Error(`overlapping edits at offset ${edit.start}`);
      parts.push(this.text.slice(at, edit.start), edit.text);
      at = edit.end;
    }
    return parts.join("") + this.text.slice(at);
  }

  /** Where an offset of the changed text comes from; of what was written, the place where it was. */
  origin(): (offset: number) => number {
    const pieces: { out: number; start: number; length: number }[] = [];
    let [at, out] = [0, 0];
    for (const { start, end, text } of this.ordered()) {
      pieces.push({ out, start: at, length: start - at }, { out: out + start - at, start, length: 0 });
      out += start - at + text.length;
      at = end;
    }
    pieces.push({ out, start: at, length: this.text.length - at });
    return (offset) => {
      const piece = pieces.findLast((one) => one.out <= offset);
      return piece === undefined ? offset : piece.start + Math.min(offset - piece.out, piece.length);
    };
  }

  private ordered(): Edit[] {
    const numbered = this.edits.map((edit, order) => ({ ...edit, order }));
    return numbered.sort((a, b) => a.start - b.start || a.end - b.end || a.order - b.order);
  }
}
