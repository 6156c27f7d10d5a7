/** Numbers of the proxy-wasm ABI 0.2.1, as the host that Envoy embeds defines them. */

export const WasmResult = {
  Ok: 0,
  NotFound: 1,
  BadArgument: 2,
  SerializationFailure: 3,
  ParseFailure: 4,
  InvalidMemoryAccess: 6,
  Empty: 7,
  CasMismatch: 8,
  InternalFailure: 10,
  BrokenConnection: 11,
  Unimplemented: 12,
} as const;
export type WasmResult = (typeof WasmResult)[keyof typeof WasmResult];

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "critical"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const HeaderMapType = {
  RequestHeaders: 0,
  RequestTrailers: 1,
  ResponseHeaders: 2,
  ResponseTrailers: 3,
  GrpcReceiveInitialMetadata: 4,
  GrpcReceiveTrailingMetadata: 5,
  HttpCallResponseHeaders: 6,
  HttpCallResponseTrailers: 7,
} as const;
export const MAX_HEADER_MAP_TYPE = 7;

export const BufferType = {
  HttpRequestBody: 0,
  HttpResponseBody: 1,
  HttpCallResponseBody: 4,
  VmConfiguration: 6,
  PluginConfiguration: 7,
} as const;
export const MAX_BUFFER_TYPE = 8;

export const METRIC_TYPES = ["counter", "gauge", "histogram"] as const;
export type MetricType = (typeof METRIC_TYPES)[number];

/** What a header callback made of the stream, after Envoy's conversion. */
export type HeadersAction = "continue" | "stop-all-and-buffer" | "stop-all-and-watermark";

/**
 * Envoy's reading of the value that a header callback returns: a plain StopIteration stops everything unless the plugin
 * allows it (this host does not), and a local reply stops whatever was returned.
 */
export function headersAction(returned: number, localReplySent: boolean): HeadersAction {
  if (localReplySent || returned > 4 || returned === 1 || returned === 4) return "stop-all-and-watermark";
  return returned === 3 ? "stop-all-and-buffer" : "continue";
}
