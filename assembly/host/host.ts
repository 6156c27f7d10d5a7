import { Bytes, View } from "../bytes";

/** Severity of a log line, in the order of the proxy-wasm ABI. */
export namespace LogLevel {
  export const DEBUG: i32 = 1;
  export const INFO: i32 = 2;
  export const WARN: i32 = 3;
  export const ERROR: i32 = 4;
}

/** Which headers of a stream, in the numbers of the proxy-wasm ABI. */
export namespace HeaderMap {
  export const REQUEST: i32 = 0;
  export const RESPONSE: i32 = 2;
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

  /**
   * Writes filter state `wasm.<key>` of the downstream stream; readable by matchers, access logs and both roles. Returns
   * whether it is there then.
   */
  abstract setProperty(key: Bytes, value: View): bool;

  /** Value of a request header; of several lines the first. */
  abstract requestHeader(name: Bytes, out: View): bool;

  /** All request headers in the ABI's serialized form, see `readLines`. */
  abstract requestHeaders(out: View): bool;

  abstract removeRequestHeader(name: Bytes): void;

  /** Whether a header is there. `map` is one of `HeaderMap`, in the phase in which the proxy lets it be changed. */
  abstract hasHeader(map: i32, name: View): bool;

  /** Adds a line to a header. */
  abstract addHeader(map: i32, name: View, value: View): void;

  /** Puts one line in the place of all lines of a header. Returns whether it is there then. */
  abstract replaceHeader(map: i32, name: View, value: View): bool;

  abstract removeHeader(map: i32, name: View): void;

  /** Makes the proxy resolve the route, and with it the cluster of attempt 1, anew. */
  abstract clearRouteCache(): void;

  /** Adds one to a counter of `counters.ts`. */
  abstract increment(counter: i32): void;

  /** Adds one to the counter of that name, which is defined when it is first used. */
  abstract incrementNamed(name: Bytes): void;

  abstract log(level: i32, message: string): void;

  /** Time in nanoseconds since 1970. */
  abstract now(): u64;

  /** A value that the VMs with this vm_id share. Its version is then in `version`. */
  abstract sharedData(key: Bytes, out: View): bool;

  /** Version of the shared value that was read last. */
  version: u32 = 0;

  /** Replaces a shared value, if it still has this version; 0 stands for any. Returns whether it did. */
  abstract setSharedData(key: Bytes, value: Bytes, version: u32): bool;

  /** Status of the response on its way to the client, as digits. */
  abstract responseStatus(out: View): bool;

  /** Value of a response header; of several lines the first. */
  abstract responseLine(name: Bytes, out: View): bool;

  /** Calls the module's root context every `ms` milliseconds from now on; 0 ends that. */
  abstract setTickPeriod(ms: u32): void;

  /**
   * Sends a request with these headers (see `getRequest`) to a cluster; the root context gets the answer. Returns
   * whether there will be one, and then its token is in `callToken`.
   */
  abstract httpCall(cluster: Bytes, headers: Bytes, timeoutMs: u32): bool;

  /** Token of the call that was made last. */
  callToken: u32 = 0;

  /** Value of a header of the answer that the root context is called with. */
  abstract callHeader(name: Bytes, out: View): bool;

  /** Body of the answer that the root context is called with, `size` bytes. */
  abstract callBody(size: u32, out: View): bool;

  /** Hands back the memory of a filled view. */
  abstract release(view: View): void;
}
