import { BufferType, MAX_BUFFER_TYPE, WasmResult } from "../abi.js";
import { toBytes, toText } from "../bytes.js";
import { rootOf, type Context } from "../contexts.js";
import { HeaderMap } from "../header-map.js";
import { decodePairs } from "../pairs.js";
import type { HostFunctions, Vm } from "../vm.js";
import type { HostEnvironment } from "./environment.js";

/** Buffers, shared data, metrics, HTTP calls. */
export function dataFunctions(host: HostEnvironment): HostFunctions {
  return {
    ...bufferFunctions(host),
    ...sharedDataFunctions(host),
    ...metricFunctions(host),
    ...httpCallFunctions(host),
  };
}

function bufferFunctions({ vm, vmConfiguration }: HostEnvironment): HostFunctions {
  const find = (type: number): Uint8Array | undefined =>
    type === BufferType.VmConfiguration ? vmConfiguration : buffer(vm.context, type);
  const missing = (vmOfCall: Vm, name: string, type: number) => {
    const known = type >= 0 && type <= MAX_BUFFER_TYPE;
    return vmOfCall.misuse(
      known ? WasmResult.NotFound : WasmResult.BadArgument,
      `${name}: no buffer ${type} in this phase`,
    );
  };
  return {
    proxy_get_buffer_bytes: (type: number, start: number, length: number, bytesAt: number, sizeAt: number) => {
      const bytes = find(type);
      if (bytes === undefined) return missing(vm, "get_buffer_bytes", type);
      const from = start >>> 0;
      vm.give(Uint8Array.from(bytes.subarray(from, from + (length >>> 0))), bytesAt, sizeAt);
      return WasmResult.Ok;
    },
    proxy_get_buffer_status: (type: number, lengthAt: number, flagsAt: number) => {
      const bytes = find(type);
      if (bytes === undefined) return missing(vm, "get_buffer_status", type);
      vm.writeU32(lengthAt, bytes.length);
      vm.writeU32(flagsAt, 0);
      return WasmResult.Ok;
    },
  };
}

function buffer(context: Context, type: number): Uint8Array | undefined {
  const root = rootOf(context);
  if (type === BufferType.HttpCallResponseBody) return root?.callResponse?.body;
  if (type === BufferType.PluginConfiguration) {
    return root?.configuring === true ? toBytes(root.plugin.configuration) : undefined;
  }
  if (context.kind !== "stream") return undefined;
  if (type === BufferType.HttpRequestBody) return context.requestBody;
  return type === BufferType.HttpResponseBody ? context.responseBody : undefined;
}

function sharedDataFunctions({ vm, sharedData }: HostEnvironment): HostFunctions {
  return {
    proxy_get_shared_data: (key: number, keySize: number, valueAt: number, sizeAt: number, casAt: number) => {
      const entry = sharedData.get(toText(vm.read(key, keySize)));
      if (entry === undefined) return WasmResult.NotFound;
      vm.give(entry.value, valueAt, sizeAt);
      vm.writeU32(casAt, entry.cas);
      return WasmResult.Ok;
    },
    proxy_set_shared_data: (key: number, keySize: number, value: number, size: number, cas: number) =>
      sharedData.set(toText(vm.read(key, keySize)), vm.read(value, size), cas >>> 0),
  };
}

function metricFunctions({ vm, metrics }: HostEnvironment): HostFunctions {
  return {
    proxy_define_metric: (type: number, name: number, nameSize: number, idAt: number) => {
      const id = metrics.define(type, toText(vm.read(name, nameSize)));
      if (id === undefined) return vm.misuse(WasmResult.BadArgument, `define_metric: type ${type}`);
      vm.writeU32(idAt, id);
      return WasmResult.Ok;
    },
    proxy_increment_metric: (id: number, offset: bigint) => metrics.increment(id, offset),
    proxy_record_metric: (id: number, value: bigint) => metrics.record(id, value),
    proxy_get_metric: (id: number, valueAt: number) => {
      const value = metrics.read(id);
      if (typeof value !== "bigint") return value;
      vm.writeU64(valueAt, value);
      return WasmResult.Ok;
    },
  };
}

function httpCallFunctions({ vm, ...host }: HostEnvironment): HostFunctions {
  return {
    proxy_http_call: (...args: number[]) => {
      const [cluster = 0, clusterSize = 0, headers = 0, headersSize = 0, body = 0, bodySize = 0] = args;
      const [trailers = 0, trailersSize = 0, timeoutMs = 0, tokenAt = 0] = args.slice(6);
      const root = rootOf(vm.context);
      if (root === undefined) return vm.misuse(WasmResult.BadArgument, "http_call without a root context");
      const [headerPairs, trailerPairs] = [
        decodePairs(vm.read(headers, headersSize)),
        decodePairs(vm.read(trailers, trailersSize)),
      ];
      if (headerPairs === undefined || trailerPairs === undefined)
        vm.misuse(WasmResult.Ok, "http_call: malformed pairs");
      vm.writeU32(tokenAt, 0);
      const result = host.httpCall(root, {
        cluster: toText(vm.read(cluster, clusterSize)),
        headers: new HeaderMap(headerPairs ?? []),
        body: Uint8Array.from(vm.read(body, bodySize)),
        trailers: new HeaderMap(trailerPairs ?? []),
        timeoutMs,
      });
      if (typeof result === "number") return result;
      vm.writeU32(tokenAt, result.token);
      return WasmResult.Ok;
    },
  };
}
