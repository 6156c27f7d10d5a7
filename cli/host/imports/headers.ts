import { HeaderMapType, MAX_HEADER_MAP_TYPE, WasmResult } from "../abi.js";
import { fromByteString, toByteString } from "../bytes.js";
import { rootOf, type Context } from "../contexts.js";
import type { HeaderMap } from "../header-map.js";
import { decodePairs, encodePairs } from "../pairs.js";
import type { HostFunctions, Vm } from "../vm.js";
import type { HostEnvironment } from "./environment.js";

/** Header maps. A map that the phase does not offer is BadArgument (NotFound in on_log), and misuse in strict mode. */
export function headerFunctions({ vm }: HostEnvironment): HostFunctions {
  return { ...readers(vm), ...writers(vm) };
}

function readers(vm: Vm): HostFunctions {
  return {
    proxy_get_header_map_value: (type: number, key: number, keySize: number, valueAt: number, sizeAt: number) => {
      const context = vm.context;
      const name = toByteString(vm.read(key, keySize));
      const map = readable(context, type);
      if (map === undefined) {
        if (context.kind === "stream" && context.logging) return WasmResult.NotFound;
        return vm.misuse(WasmResult.BadArgument, `get_header_map_value: map ${type} is not available in this phase`);
      }
      // Envoy gives the first line only: use pairs, or the property request.headers, where several may come.
      const value = map.first(name);
      if (value === undefined) return WasmResult.NotFound;
      vm.give(fromByteString(value), valueAt, sizeAt);
      return WasmResult.Ok;
    },
    proxy_get_header_map_pairs: (type: number, pairsAt: number, sizeAt: number) => {
      if (outOfRange(type)) return vm.misuse(WasmResult.BadArgument, `get_header_map_pairs: type ${type}`);
      const map = readable(vm.context, type);
      if (map === undefined)
        vm.misuse(WasmResult.Ok, `get_header_map_pairs: map ${type} is not available in this phase`);
      const pairs = map?.pairs() ?? [];
      vm.give(pairs.length === 0 ? new Uint8Array(0) : encodePairs(pairs), pairsAt, sizeAt);
      return WasmResult.Ok;
    },
    proxy_get_header_map_size: (type: number, sizeAt: number) => {
      const map = writable(vm.context, type);
      if (map === undefined)
        return vm.misuse(WasmResult.BadArgument, `get_header_map_size: map ${type} is not available`);
      vm.writeU32(sizeAt, map.byteSize);
      return WasmResult.Ok;
    },
  };
}

function writers(vm: Vm): HostFunctions {
  const change = (name: string, type: number, apply: (map: HeaderMap) => void): number => {
    const context = vm.context;
    const map = writable(context, type);
    if (map === undefined)
      return vm.misuse(WasmResult.BadArgument, `${name}: map ${type} cannot be changed in this phase`);
    apply(map);
    if (type === HeaderMapType.RequestHeaders && context.kind === "stream") {
      context.stream.clearRouteCache("request_headers");
    }
    return WasmResult.Ok;
  };
  const text = (pointer: number, size: number) => toByteString(vm.read(pointer, size));
  return {
    proxy_add_header_map_value: (type: number, key: number, keySize: number, value: number, size: number) => {
      const [name, line] = [text(key, keySize), text(value, size)];
      return change("add_header_map_value", type, (map) => map.add(name, line));
    },
    proxy_replace_header_map_value: (type: number, key: number, keySize: number, value: number, size: number) => {
      const [name, line] = [text(key, keySize), text(value, size)];
      return change("replace_header_map_value", type, (map) => map.replace(name, line));
    },
    proxy_remove_header_map_value: (type: number, key: number, keySize: number) => {
      const name = text(key, keySize);
      return change("remove_header_map_value", type, (map) => map.remove(name));
    },
    proxy_set_header_map_pairs: (type: number, pairs: number, size: number) => {
      const decoded = decodePairs(vm.read(pairs, size));
      if (decoded === undefined) vm.misuse(WasmResult.Ok, "set_header_map_pairs: malformed pairs");
      return change("set_header_map_pairs", type, (map) => map.setAll(decoded ?? []));
    },
  };
}

function outOfRange(type: number): boolean {
  return type < 0 || type > MAX_HEADER_MAP_TYPE;
}

function writable(context: Context, type: number): HeaderMap | undefined {
  if (context.kind !== "stream" || context.logging) return undefined;
  if (type === HeaderMapType.RequestHeaders) return context.requestHeaders;
  return type === HeaderMapType.ResponseHeaders ? context.responseHeaders : undefined;
}

function readable(context: Context, type: number): HeaderMap | undefined {
  if (type === HeaderMapType.HttpCallResponseHeaders) return rootOf(context)?.callResponse?.headers;
  if (type === HeaderMapType.HttpCallResponseTrailers) return rootOf(context)?.callResponse?.trailers;
  if (context.kind !== "stream") return undefined;
  if (type === HeaderMapType.RequestHeaders) return context.requestHeaders;
  return type === HeaderMapType.ResponseHeaders ? context.responseHeaders : undefined;
}
