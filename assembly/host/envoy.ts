import {
  proxy_add_header_map_value,
  proxy_call_foreign_function,
  proxy_define_metric,
  proxy_get_buffer_bytes,
  proxy_get_current_time_nanoseconds,
  proxy_get_header_map_pairs,
  proxy_get_header_map_value,
  proxy_get_property,
  proxy_get_shared_data,
  proxy_http_call,
  proxy_increment_metric,
  proxy_log,
  proxy_remove_header_map_value,
  proxy_replace_header_map_value,
  proxy_set_property,
  proxy_set_shared_data,
  proxy_set_tick_period_milliseconds,
} from "../abi/imports";
import { release } from "../abi/memory";
import { Bytes, View, encode, sameBytes } from "../bytes";
import { Host } from "./host";

// Header maps and buffers of the ABI.
const REQUEST_HEADERS: i32 = 0;
const METRIC_COUNTER: i32 = 0;
const RESPONSE_HEADERS: i32 = 2;
const CALL_RESPONSE_HEADERS: i32 = 6;
const CALL_RESPONSE_BODY: i32 = 4;
const PLUGIN_CONFIGURATION: i32 = 7;
const OK: u32 = 0;
const STATUS = encode(":status");
const CLEAR_ROUTE_CACHE = encode("clear_route_cache");

// Out-parameters of the host calls; one call runs at a time.
const outPtr: usize = memory.data(sizeof<usize>());
const outSize: usize = memory.data(sizeof<usize>());
const outVersion: usize = memory.data(sizeof<u32>());
const outTime: usize = memory.data(8, 8);

/** The proxy that runs the module. */
@final
export class Envoy extends Host {
  /** Metric ids by counter, as the proxy gave them. */
  metrics: StaticArray<u32> = new StaticArray<u32>(0);

  private names: Array<Bytes> = [];
  private namedMetrics: Array<u32> = [];

  property(path: Bytes, out: View): bool {
    return filled(proxy_get_property(changetype<usize>(path), path.length, outPtr, outSize), out);
  }

  setProperty(key: Bytes, value: View): bool {
    return proxy_set_property(changetype<usize>(key), key.length, value.ptr, value.length) == OK;
  }

  requestHeader(name: Bytes, out: View): bool {
    return this.header(REQUEST_HEADERS, name, out);
  }

  requestHeaders(out: View): bool {
    return filled(proxy_get_header_map_pairs(REQUEST_HEADERS, outPtr, outSize), out);
  }

  removeRequestHeader(name: Bytes): void {
    proxy_remove_header_map_value(REQUEST_HEADERS, changetype<usize>(name), name.length);
  }

  hasHeader(map: i32, name: View): bool {
    if (proxy_get_header_map_value(map, name.ptr, name.length, outPtr, outSize) != OK) return false;
    release(load<usize>(outPtr));
    return true;
  }

  addHeader(map: i32, name: View, value: View): void {
    proxy_add_header_map_value(map, name.ptr, name.length, value.ptr, value.length);
  }

  replaceHeader(map: i32, name: View, value: View): bool {
    return proxy_replace_header_map_value(map, name.ptr, name.length, value.ptr, value.length) == OK;
  }

  removeHeader(map: i32, name: View): void {
    proxy_remove_header_map_value(map, name.ptr, name.length);
  }

  clearRouteCache(): void {
    const name = CLEAR_ROUTE_CACHE;
    proxy_call_foreign_function(changetype<usize>(name), name.length, 0, 0, 0, 0);
  }

  now(): u64 {
    proxy_get_current_time_nanoseconds(outTime);
    return load<u64>(outTime);
  }

  sharedData(key: Bytes, out: View): bool {
    const status = proxy_get_shared_data(changetype<usize>(key), key.length, outPtr, outSize, outVersion);
    this.version = load<u32>(outVersion);
    return filled(status, out);
  }

  setSharedData(key: Bytes, value: Bytes, version: u32): bool {
    const at = changetype<usize>(value);
    return proxy_set_shared_data(changetype<usize>(key), key.length, at, value.length, version) == OK;
  }

  responseStatus(out: View): bool {
    return this.header(RESPONSE_HEADERS, STATUS, out);
  }

  responseLine(name: Bytes, out: View): bool {
    return this.header(RESPONSE_HEADERS, name, out);
  }

  setTickPeriod(ms: u32): void {
    proxy_set_tick_period_milliseconds(ms);
  }

  httpCall(cluster: Bytes, headers: Bytes, timeoutMs: u32): bool {
    const uri = changetype<usize>(cluster);
    const pairs = changetype<usize>(headers);
    // No trailers: a map of length 0.
    const status = proxy_http_call(uri, cluster.length, pairs, headers.length, 0, 0, 0, 0, timeoutMs, outPtr);
    this.callToken = load<u32>(outPtr);
    return status == OK;
  }

  callHeader(name: Bytes, out: View): bool {
    return this.header(CALL_RESPONSE_HEADERS, name, out);
  }

  callBody(size: u32, out: View): bool {
    return filled(proxy_get_buffer_bytes(CALL_RESPONSE_BODY, 0, size, outPtr, outSize), out);
  }

  /** The configuration of the plugin whose root context is being configured, `size` bytes. */
  configuration(size: u32, out: View): bool {
    return filled(proxy_get_buffer_bytes(PLUGIN_CONFIGURATION, 0, size, outPtr, outSize), out);
  }

  increment(counter: i32): void {
    if (counter < this.metrics.length) proxy_increment_metric(this.metrics[counter], 1);
  }

  incrementNamed(name: Bytes): void {
    const names = this.names;
    let index = 0;
    while (index < names.length && !sameBytes(names[index], name)) index++;
    if (index == names.length) this.define(name);
    proxy_increment_metric(this.namedMetrics[index], 1);
  }

  private define(name: Bytes): void {
    proxy_define_metric(METRIC_COUNTER, changetype<usize>(name), name.length, outSize);
    this.names.push(name);
    this.namedMetrics.push(<u32>load<usize>(outSize));
  }

  log(level: i32, message: string): void {
    const bytes = encode("attempt_router: " + message);
    proxy_log(level, changetype<usize>(bytes), bytes.length);
  }

  release(view: View): void {
    release(view.ptr);
    view.set(0, 0);
  }

  private header(map: i32, name: Bytes, out: View): bool {
    return filled(proxy_get_header_map_value(map, changetype<usize>(name), name.length, outPtr, outSize), out);
  }
}

function filled(status: u32, out: View): bool {
  if (status != OK) return false;
  out.set(load<usize>(outPtr), <i32>load<usize>(outSize));
  return true;
}
