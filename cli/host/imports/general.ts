import { LOG_LEVELS, WasmResult, type LogLevel } from "../abi.js";
import { toByteString, toBytes, toText } from "../bytes.js";
import { rootOf, StreamContext, type Context } from "../contexts.js";
import { decodePairs } from "../pairs.js";
import { isNode, serializeProperty, splitPath, type PropertyValue } from "../properties.js";
import type { HostFunctions } from "../vm.js";
import type { HostEnvironment } from "./environment.js";

/** Properties, log, time, status, foreign functions, stream control. */
export function generalFunctions(host: HostEnvironment): HostFunctions {
  return { ...propertyFunctions(host), ...streamFunctions(host), ...logFunctions(host), ...systemFunctions(host) };
}

function propertyFunctions({ vm, ...host }: HostEnvironment): HostFunctions {
  return {
    proxy_get_property: (path: number, pathSize: number, valueAt: number, sizeAt: number) => {
      const value = findProperty(splitPath(vm.read(path, pathSize)), vm.context, host.vmId);
      if (value === undefined) return WasmResult.NotFound;
      const bytes = serializeProperty(value);
      if (bytes === undefined) return WasmResult.SerializationFailure;
      vm.give(bytes, valueAt, sizeAt);
      return WasmResult.Ok;
    },
    proxy_set_property: (path: number, pathSize: number, value: number, size: number) => {
      const context = vm.context;
      const [key, bytes] = [toText(vm.read(path, pathSize)), Uint8Array.from(vm.read(value, size))];
      if (context.kind !== "stream") return vm.misuse(WasmResult.NotFound, "set_property without a stream");
      context.stream.setProperty(key, bytes);
      return WasmResult.Ok;
    },
  };
}

function findProperty(path: string[], context: Context, vmId: string): PropertyValue | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return { child: () => undefined, serialize: () => undefined };
  let value = topLevel(first, context, vmId);
  for (const part of rest) value = value !== undefined && isNode(value) ? value.child(part) : undefined;
  return value;
}

function topLevel(name: string, context: Context, vmId: string): PropertyValue | undefined {
  if (name === "plugin_vm_id") return vmId;
  if (name === "plugin_root_id") return rootOf(context)?.plugin.rootId ?? "";
  if (name === "plugin_name") return rootOf(context)?.plugin.name;
  return context.kind === "stream" ? context.stream.property(name) : undefined;
}

function streamFunctions({ vm }: HostEnvironment): HostFunctions {
  return {
    proxy_continue_stream: (type: number) => {
      if (type < 0 || type > 3) return vm.misuse(WasmResult.BadArgument, `continue_stream: type ${type}`);
      if (type === 3) return WasmResult.Unimplemented;
      const context = vm.context;
      if (context.kind !== "stream")
        return vm.misuse(WasmResult.Ok, "continue_stream without a stream: set_effective_context first");
      continueStream(context);
      return WasmResult.Ok;
    },
    proxy_close_stream: (type: number) => {
      if (type < 0 || type > 3) return vm.misuse(WasmResult.BadArgument, `close_stream: type ${type}`);
      const context = vm.context;
      if (context.kind !== "stream") return vm.misuse(WasmResult.Ok, "close_stream without a stream");
      vm.defer(() => (context.closed = true));
      return WasmResult.Ok;
    },
    proxy_send_local_response: (...args: number[]) => {
      const [status = 0, details = 0, detailsSize = 0, body = 0, bodySize = 0] = args;
      const [headers = 0, headersSize = 0, grpcStatus = -1] = args.slice(5);
      const context = vm.context;
      const pairs = decodePairs(vm.read(headers, headersSize));
      if (pairs === undefined) vm.misuse(WasmResult.Ok, "send_local_response: malformed header pairs");
      if (context.kind !== "stream") return vm.misuse(WasmResult.Ok, "send_local_response without a stream");
      const reply = {
        status,
        details: toByteString(vm.read(details, detailsSize)).replaceAll(/\s/g, "_"),
        body: Uint8Array.from(vm.read(body, bodySize)),
        headers: pairs ?? [],
        grpcStatus: grpcStatus >= 0 && grpcStatus <= 16 ? grpcStatus : undefined,
      };
      vm.stopIteration = true;
      vm.defer(() => (context.localReply ??= reply));
      return WasmResult.Ok;
    },
  };
}

/** Envoy takes the request maps away as soon as the stream goes on. */
function continueStream(context: StreamContext): void {
  context.continued = true;
  context.requestHeaders = undefined;
  context.requestBody = undefined;
}

function logFunctions({ vm, ...host }: HostEnvironment): HostFunctions {
  return {
    proxy_log: (level: number, message: number, size: number) => {
      const name: LogLevel | undefined = LOG_LEVELS[level];
      if (name === undefined) return vm.misuse(WasmResult.BadArgument, `log: level ${level}`);
      host.log(name, toText(vm.read(message, size)));
      return WasmResult.Ok;
    },
    proxy_get_log_level: (levelAt: number) => {
      vm.writeU32(levelAt, LOG_LEVELS.indexOf(host.logLevel()));
      return WasmResult.Ok;
    },
  };
}

function systemFunctions({ vm, ...host }: HostEnvironment): HostFunctions {
  return {
    proxy_get_current_time_nanoseconds: (timeAt: number) => {
      vm.writeU64(timeAt, host.now());
      return WasmResult.Ok;
    },
    proxy_get_status: (codeAt: number, messageAt: number, sizeAt: number) => {
      const status = rootOf(vm.context)?.status ?? { code: 0, message: "" };
      vm.writeU32(codeAt, status.code);
      vm.give(toBytes(status.message), messageAt, sizeAt);
      return WasmResult.Ok;
    },
    proxy_set_tick_period_milliseconds: (period: number) => {
      const root = rootOf(vm.context);
      if (root === undefined) return vm.misuse(WasmResult.Ok, "set_tick_period without a root context");
      root.tickPeriodMs = period >>> 0;
      return WasmResult.Ok;
    },
    proxy_set_effective_context: (id: number) => {
      if (vm.setEffectiveContext(id)) return WasmResult.Ok;
      return vm.misuse(WasmResult.BadArgument, `set_effective_context: no context ${id}`);
    },
    proxy_done: () => {
      const root = rootOf(vm.context);
      if (root !== undefined && host.rootDone(root)) return WasmResult.Ok;
      return vm.misuse(WasmResult.NotFound, "done: no pending on_done of that context");
    },
    proxy_call_foreign_function: (
      name: number,
      nameSize: number,
      argument: number,
      size: number,
      resultAt: number,
      resultSizeAt: number,
    ) => {
      const call = host.foreignFunctions[toText(vm.read(name, nameSize))];
      const bytes = vm.read(argument, size);
      if (call === undefined) return WasmResult.NotFound;
      const code = call(Uint8Array.from(bytes), vm.context);
      if (resultAt !== 0) vm.writeU32(resultAt, 0);
      if (resultSizeAt !== 0) vm.writeU32(resultSizeAt, 0);
      return code;
    },
  };
}
