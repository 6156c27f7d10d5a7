import { Bytes, View, decode, encode } from "../bytes";
import { HeaderMap, Host } from "./host";

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
  responseHeaders: Array<Array<string>> = [];
  namedCounts: Map<string, i32> = new Map<string, i32>();
  counts: Map<i32, i32> = new Map<i32, i32>();
  logs: Array<string> = [];
  cleared: i32 = 0;
  /** Views that were filled and not released; 0 when the filter is done. */
  lent: i32 = 0;
  /** Status of the response, "" while there is none. */
  status: string = "";
  time: u64 = 0;
  /** Shared data by key. Another host may be given the same map. */
  shared: Map<string, Bytes> = new Map<string, Bytes>();
  versions: Map<string, u32> = new Map<string, u32>();
  /** Headers of the answer to a call, by name. */
  callHeaders: Map<string, string> = new Map<string, string>();
  callBodyText: string = "";
  tickPeriod: u32 = 0;
  /** Clusters that calls asked about: the last header value of each call. Calls fail inline while `refusesCalls`. */
  calls: Array<string> = [];
  /** Paths of the calls. */
  paths: Array<string> = [];
  refusesCalls: bool = false;
  /** Neither filter state nor a header can be written. */
  refusesWrites: bool = false;
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
    if (this.refusesWrites) return false;
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
    this.headers = without(this.headers, decode(name));
  }

  /** The lines of a response header joined with ",", or "" where it is absent. */
  responseHeader(name: string): string {
    return linesOf(this.responseHeaders, name).join(",");
  }

  hasHeader(map: i32, name: View): bool {
    return linesOf(this.headersOf(map), decode(name.copy())).length > 0;
  }

  addHeader(map: i32, name: View, value: View): void {
    this.headersOf(map).push([decode(name.copy()), decode(value.copy())]);
  }

  replaceHeader(map: i32, name: View, value: View): bool {
    if (this.refusesWrites) return false;
    this.removeHeader(map, name);
    this.addHeader(map, name, value);
    return true;
  }

  removeHeader(map: i32, name: View): void {
    const left = without(this.headersOf(map), decode(name.copy()));
    if (map == HeaderMap.RESPONSE) this.responseHeaders = left;
    else this.headers = left;
  }

  clearRouteCache(): void {
    this.cleared++;
  }

  increment(counter: i32): void {
    this.counts.set(counter, this.count(counter) + 1);
  }

  incrementNamed(name: Bytes): void {
    const key = decode(name);
    this.namedCounts.set(key, (this.namedCounts.has(key) ? this.namedCounts.get(key) : 0) + 1);
  }

  log(level: i32, message: string): void {
    this.logs.push(message);
  }

  now(): u64 {
    return this.time;
  }

  sharedData(key: Bytes, out: View): bool {
    const name = decode(key);
    if (!this.shared.has(name)) return false;
    this.version = this.versions.get(name);
    return this.lend(this.shared.get(name), out);
  }

  setSharedData(key: Bytes, value: Bytes, version: u32): bool {
    const name = decode(key);
    const before = this.versions.has(name) ? this.versions.get(name) : 0;
    if (version != 0 && version != before) return false;
    this.shared.set(name, value.slice<Bytes>());
    this.versions.set(name, before + 1);
    return true;
  }

  responseStatus(out: View): bool {
    return this.status.length > 0 && this.lend(encode(this.status), out);
  }

  responseLine(name: Bytes, out: View): bool {
    const lines = linesOf(this.responseHeaders, decode(name));
    return lines.length > 0 && this.lend(encode(lines[0]), out);
  }

  setTickPeriod(ms: u32): void {
    this.tickPeriod = ms;
  }

  httpCall(cluster: Bytes, headers: Bytes, timeoutMs: u32): bool {
    if (this.refusesCalls) return false;
    const texts = decode(headers).split("\0");
    this.calls.push(texts[texts.length - 2]);
    this.paths.push(texts[texts.indexOf(":path") + 1]);
    this.callToken = this.calls.length;
    return true;
  }

  callHeader(name: Bytes, out: View): bool {
    const key = decode(name);
    return this.callHeaders.has(key) && this.lend(encode(this.callHeaders.get(key)), out);
  }

  callBody(size: u32, out: View): bool {
    return this.lend(encode(this.callBodyText), out);
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
    return linesOf(this.headers, name);
  }

  private headersOf(map: i32): Array<Array<string>> {
    return map == HeaderMap.RESPONSE ? this.responseHeaders : this.headers;
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

function linesOf(headers: Array<Array<string>>, name: string): Array<string> {
  const values: Array<string> = [];
  for (let i = 0; i < headers.length; i++) {
    if (headers[i][0] == name) values.push(headers[i][1]);
  }
  return values;
}

function without(headers: Array<Array<string>>, name: string): Array<Array<string>> {
  const kept: Array<Array<string>> = [];
  for (let i = 0; i < headers.length; i++) {
    if (headers[i][0] != name) kept.push(headers[i]);
  }
  return kept;
}
