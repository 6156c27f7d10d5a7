import { Bytes, View } from "../bytes";

/** Severity of a log line, in the order of the proxy-wasm ABI. */
export namespace LogLevel {
  export const DEBUG: i32 = 1;
  export const INFO: i32 = 2;
  export const WARN: i32 = 3;
  export const ERROR: i32 = 4;
}

/**
 * What the filter may ask of the proxy for the stream it is called for.
 *
 * A method that fills a `View` lends memory: the caller hands it back through `release` when it has read it, also when
 * the value is empty. A method that returns false filled nothing.
 */
export abstract class Host {
  /** Value of an attribute or filter state. `path` is NUL-separated. */
  abstract property(path: Bytes, out: View): bool;

  /** Writes filter state `wasm.<key>` of the downstream stream; readable by matchers, access logs and both roles. */
  abstract setProperty(key: Bytes, value: View): bool;

  /** Value of a request header; of several lines the first. */
  abstract requestHeader(name: Bytes, out: View): bool;

  /** All request headers in the ABI's serialized form, see `HeaderPairs`. */
  abstract requestHeaders(out: View): bool;

  abstract removeRequestHeader(name: Bytes): void;

  /** Makes the proxy resolve the route, and with it the cluster of attempt 1, anew. */
  abstract clearRouteCache(): void;

  /** Adds one to a counter of `filter/counters.ts`. */
  abstract increment(counter: i32): void;

  abstract log(level: i32, message: string): void;

  /** Hands back the memory of a filled view. */
  abstract release(view: View): void;
}
