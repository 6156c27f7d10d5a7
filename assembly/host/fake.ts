import { Bytes, View, decode, encode } from "../bytes";
import { Host } from "./host";

/**
 * A host for unit tests: attributes, filter state and headers are set by the test, and everything that the filter does
 * can be read back. Names are strings; attribute paths are dotted.
 */
@final
export class FakeHost extends Host {
  /** Attributes and filter state by dotted path. */
  properties: Map<string, Bytes> = new Map<string, Bytes>();
  /** Header lines, `[name, value]` each. */
  headers: Array<Array<string>> = [];
  counts: Map<i32, i32> = new Map<i32, i32>();
  logs: Array<string> = [];
  cleared: i32 = 0;
  /** Views that were filled and not released; 0 when the filter is done. */
  lent: i32 = 0;
  /** How often each attribute was read. */
  reads: Map<string, i32> = new Map<string, i32>();

  // Keeps lent memory alive until the next call that lends some.
  private kept: Array<Bytes> = [];

  set(path: string, value: string): void {
    this.properties.set(path, encode(value));
  }

  /** A filter state that the filter wrote, or "" where it wrote none. */
  state(key: string): string {
    return this.properties.has(key) ? decode(this.properties.get(key)) : "";
  }

  count(counter: i32): i32 {
    return this.counts.has(counter) ? this.counts.get(counter) : 0;
  }

  property(path: Bytes, out: View): bool {
    const name = decode(path).replaceAll("\0", ".");
    this.reads.set(name, (this.reads.has(name) ? this.reads.get(name) : 0) + 1);
    if (name.startsWith("request.headers.")) return this.joinedHeader(name.slice("request.headers.".length), out);
    return this.properties.has(name) && this.lend(this.properties.get(name), out);
  }

  setProperty(key: Bytes, value: View): bool {
    this.properties.set(decode(key), value.copy());
    return true;
  }

  requestHeader(name: Bytes, out: View): bool {
    const values = this.lines(decode(name));
    return values.length > 0 && this.lend(encode(values[0]), out);
  }

  requestHeaders(out: View): bool {
    return this.lend(this.serializedHeaders(), out);
  }

  removeRequestHeader(name: Bytes): void {
    const kept: Array<Array<string>> = [];
    for (let i = 0; i < this.headers.length; i++) {
      if (this.headers[i][0] != decode(name)) kept.push(this.headers[i]);
    }
    this.headers = kept;
  }

  clearRouteCache(): void {
    this.cleared++;
  }

  increment(counter: i32): void {
    this.counts.set(counter, this.count(counter) + 1);
  }

  log(level: i32, message: string): void {
    this.logs.push(message);
  }

  release(view: View): void {
    this.lent--;
    view.set(0, 0);
  }

  private lend(value: Bytes, out: View): bool {
    this.kept.push(value);
    this.lent++;
    out.set(changetype<usize>(value), value.length);
    return true;
  }

  private lines(name: string): Array<string> {
    const values: Array<string> = [];
    for (let i = 0; i < this.headers.length; i++) {
      if (this.headers[i][0] == name) values.push(this.headers[i][1]);
    }
    return values;
  }

  private joinedHeader(name: string, out: View): bool {
    const values = this.lines(name);
    return values.length > 0 && this.lend(encode(values.join(",")), out);
  }

  private serializedHeaders(): Bytes {
    const count = this.headers.length;
    let text = "";
    const sizes = new StaticArray<u8>(4 + 8 * count);
    const start = changetype<usize>(sizes);
    store<u32>(start, count);
    for (let i = 0; i < count; i++) {
      const line = this.headers[i];
      store<u32>(start + 4 + 8 * i, String.UTF8.byteLength(line[0]));
      store<u32>(start + 8 + 8 * i, String.UTF8.byteLength(line[1]));
      text += line[0] + "\0" + line[1] + "\0";
    }
    return sizes.concat<StaticArray<u8>>(encode(text));
  }
}
