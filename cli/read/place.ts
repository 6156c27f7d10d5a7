import type { Origin } from "../model/origin.js";
import type { Cursor } from "../yaml/cursor.js";

/** The origin of a value that was read from a file. Its line is looked up when somebody asks. */
class Place implements Origin {
  constructor(readonly cursor: Cursor) {}

  get file(): string {
    return this.cursor.source.file;
  }

  get line(): number {
    return this.cursor.finding("").line;
  }

  get column(): number {
    return this.cursor.finding("").col;
  }

  get path(): string {
    return this.cursor.path === "" ? "(document)" : this.cursor.path;
  }

  toJSON(): Origin {
    const { file, line, column, path } = this;
    return { file, line, column, path };
  }
}

export function originOf(cursor: Cursor): Origin {
  return new Place(cursor);
}

/** The place in the file that an origin of this folder stands for. */
export function cursorAt(origin: Origin): Cursor {
  if (!(origin instanceof Place)) throw new Error("an origin that was read from a file");
  return origin.cursor;
}
