import { Bytes, View, encode, encodeLowerCase, sameBytes } from "../bytes";
import { ViewList } from "../view-list";

const HOST = encode("host");

/** A header by name, with what the proxy calls it; made once, when settings are read. */
@final
export class HeaderName {
  /** Lower case. */
  readonly name: Bytes;
  /** Attribute that holds the header, its lines joined with ",". */
  readonly attribute: Bytes;

  /** `host` is Envoy's other name of `:authority`, also for HTTP/1. */
  constructor(name: string) {
    const key = sameBytes(encodeLowerCase(name), HOST) ? ":authority" : name;
    this.name = encodeLowerCase(key);
    this.attribute = encodeLowerCase("request\0headers\0" + key);
  }
}

/**
 * A request as conditions and route specifiers see it: read-only. What a specifier wants to change about the request's
 * way it changes by returning another route.
 *
 * A view that a method returns is valid until the request's chain has ended; it is empty where there is no value.
 */
export abstract class RequestView {
  /** The header's lines joined with ",". False where it is absent; where it is there, `release(out)` must follow. */
  header(name: HeaderName, out: View): bool {
    return this.attribute(name.attribute, out);
  }

  /**
   * An attribute of the stream by its NUL-separated path, in the proxy's serialized form (text; a number as 8 bytes, a
   * bool as one). False where there is none; where it is there, `release(out)` must follow. Each is read once a request.
   */
  abstract attribute(path: Bytes, out: View): bool;

  /** The header's first line, as `header` otherwise. */
  abstract firstLine(name: HeaderName, out: View): bool;

  /** All lines of a header, in order. */
  abstract lines(name: HeaderName, out: ViewList): void;

  abstract release(view: View): void;

  /** The path without query and fragment. */
  abstract path(): View;

  /** The first query parameter of the name, as it was sent. */
  abstract parameter(name: Bytes, out: View): bool;

  abstract method(): View;

  /** The request's dynamic metadata, a serialized `envoy.config.core.v3.Metadata`. */
  abstract metadata(): View;

  /** Name of the virtual host as it was configured. */
  abstract virtualHost(): Bytes;

  /** Cluster of attempt 1 on the resolved route, without what specifiers changed. */
  abstract resolvedCluster(): Bytes;

  /** Writes a line to the proxy's log, level info. */
  abstract log(message: Bytes): void;

  /** Adds one to the counter `wasmcustom.<name>`. */
  abstract count(name: Bytes): void;

  /** Adds a line to the response's headers. */
  abstract addResponseHeader(name: Bytes, value: Bytes): void;
}
