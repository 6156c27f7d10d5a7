/** A proxy-wasm host under Node: runs the module as Envoy would, for the command line, tests and benches. */
export { WasmResult, HeaderMapType, BufferType, type HeadersAction, type LogLevel } from "./abi.js";
export type { Bytes } from "./bytes.js";
export type { LocalReply, PluginConfig, RootContext, RouteCacheClear } from "./contexts.js";
export { HostMisuseError, ModuleLoadError, WasmTrapError } from "./errors.js";
export { HeaderMap, type HeaderChanges, type HeadersInput } from "./header-map.js";
export { WasmHost, type HostOptions, type LogLine } from "./host.js";
export type { HttpCallOutcome, HttpCallRequest, HttpCallResponder } from "./http-calls.js";
export type { ForeignFunction } from "./imports/environment.js";
export {
  decodeMetadata,
  encodeMetadata,
  namespaceMetadata,
  type MetadataInput,
  type MetadataObject,
  type TypedValue,
} from "./metadata.js";
export { Metrics } from "./metrics.js";
export type { Scalar } from "./properties.js";
export {
  SimulatedRequest,
  type AttemptSpec,
  type FilterStateWrite,
  type RequestSpec,
  type RoleResult,
} from "./request.js";
export { SharedData } from "./shared-data.js";
