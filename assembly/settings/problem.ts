import { Value } from "./value";

/** The first thing that is wrong with some settings: where, what was expected there, and what stands there. */
@final
export class Problem {
  path: string = "";
  expected: string = "";
  found: string = "";
  exists: bool = false;

  /** Notes a problem; only the first is kept. */
  note(path: string, expected: string, found: string): void {
    if (this.exists) return;
    this.exists = true;
    this.path = path;
    this.expected = expected;
    this.found = found;
  }

  noteValue(path: string, expected: string, value: Value | null): void {
    this.note(path, expected, value == null ? "nothing" : value.describe());
  }

  toString(): string {
    const place = this.path.length > 0 ? this.path : "(top level)";
    return place + ": expected " + this.expected + ", found " + this.found;
  }
}
