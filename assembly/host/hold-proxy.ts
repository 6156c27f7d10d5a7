import {
  proxy_get_buffer_bytes,
  proxy_get_header_map_value,
  proxy_get_property,
  proxy_increment_metric,
  proxy_log,
  proxy_remove_header_map_value,
  proxy_replace_header_map_value,
} from "../abi/imports";
import { release } from "../abi/memory";
import { Bytes, View, encode } from "../bytes";

// Header maps and buffers of the ABI.
const REQUEST_HEADERS: i32 = 0;
const RESPONSE_HEADERS: i32 = 2;
const RESPONSE_TRAILERS: i32 = 3;
const RESPONSE_BODY: i32 = 1;
const PLUGIN_CONFIGURATION: i32 = 7;
const OK: u32 = 0;
/** Severities of log lines in the ABI. */
export const WARN: i32 = 3;
export const ERROR: i32 = 4;

const outPtr: usize = memory.data(sizeof<usize>());
const outSize: usize = memory.data(sizeof<usize>());

/**
 * What holding answers asks of the proxy, for the stream it is called for. A method that fills a `View` lends memory: the caller
 * hands it back through `release`. One that returns false filled nothing.
 */
@final
export class HoldProxy {
  /** Metric ids by counter, as the proxy gave them. */
  metrics: StaticArray<u32> = new StaticArray<u32>(0);

  requestHeader(name: Bytes, out: View): bool {
    return header(REQUEST_HEADERS, name, out);
  }

  responseHeader(name: Bytes, out: View): bool {
    return header(RESPONSE_HEADERS, name, out);
  }

  responseTrailer(name: Bytes, out: View): bool {
    return header(RESPONSE_TRAILERS, name, out);
  }

  /** Puts one line in the place of all lines of a header of the response. */
  replaceResponseHeader(name: Bytes, ptr: usize, length: i32): void {
    proxy_replace_header_map_value(RESPONSE_HEADERS, changetype<usize>(name), name.length, ptr, length);
  }

  removeResponseHeader(name: Bytes): void {
    proxy_remove_header_map_value(RESPONSE_HEADERS, changetype<usize>(name), name.length);
  }

  /** The beginning of the piece of the response's body that was handed over, `size` bytes. */
  responseBody(size: i32, out: View): bool {
    return filled(proxy_get_buffer_bytes(RESPONSE_BODY, 0, size, outPtr, outSize), out);
  }

  /** The configuration of the plugin whose root context is being configured, `size` bytes. */
  configuration(size: u32, out: View): bool {
    return filled(proxy_get_buffer_bytes(PLUGIN_CONFIGURATION, 0, size, outPtr, outSize), out);
  }

  property(path: Bytes, out: View): bool {
    return filled(proxy_get_property(changetype<usize>(path), path.length, outPtr, outSize), out);
  }

  increment(counter: i32): void {
    if (counter < this.metrics.length) proxy_increment_metric(this.metrics[counter], 1);
  }

  log(level: i32, message: string): void {
    const bytes = encode("attempt_router: " + message);
    proxy_log(level, changetype<usize>(bytes), bytes.length);
  }

  release(view: View): void {
    release(view.ptr);
    view.set(0, 0);
  }
}

function header(map: i32, name: Bytes, out: View): bool {
  return filled(proxy_get_header_map_value(map, changetype<usize>(name), name.length, outPtr, outSize), out);
}

function filled(status: u32, out: View): bool {
  if (status != OK) return false;
  out.set(load<usize>(outPtr), <i32>load<usize>(outSize));
  return true;
}
