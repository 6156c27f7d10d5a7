import { LOG_LEVELS, WasmResult, type LogLevel } from "./abi.js";
import { toBytes, type Bytes } from "./bytes.js";
import { RootContext, StreamContext, type PluginConfig, type StreamHost } from "./contexts.js";
import { ModuleLoadError } from "./errors.js";
import { HeaderMap } from "./header-map.js";
import type { HttpCallOutcome, HttpCallRequest, HttpCallResponder } from "./http-calls.js";
import { dataFunctions } from "./imports/data.js";
import type { ForeignFunction, HostEnvironment } from "./imports/environment.js";
import { generalFunctions } from "./imports/general.js";
import { headerFunctions } from "./imports/headers.js";
import { Metrics } from "./metrics.js";
import { SeededRandom } from "./random.js";
import { SimulatedRequest, type RequestSpec } from "./request.js";
import { SharedData } from "./shared-data.js";
import { Vm, type HostFunctions } from "./vm.js";

export interface HostOptions {
  /** Misuse and traps throw (default). Otherwise they give Envoy's codes and mark the VM as failed. */
  strict?: boolean;
  /** Seed of random_get; default 1. */
  seed?: bigint | number;
  vmId?: string;
  vmConfiguration?: Bytes;
  /** Started in this order; default: attempt_router with root ids `downstream` and `upstream`. */
  plugins?: readonly PluginConfig[];
  /** What a module that has failed does to later requests; default true: it is skipped. */
  failOpen?: boolean;
  /** Level that get_log_level reports; default trace. Every line is recorded whatever it is. */
  logLevel?: LogLevel;
  /** Nanoseconds since the epoch at the start. */
  now?: bigint;
  sharedData?: SharedData;
  httpCalls?: HttpCallResponder;
  /** Further foreign functions by name; `clear_route_cache` is built in. */
  foreignFunctions?: Readonly<Record<string, ForeignFunction>>;
}

export interface LogLine {
  level: LogLevel;
  message: string;
}

interface PendingCall {
  root: RootContext;
  token: number;
  outcome: HttpCallOutcome;
}

const DEFAULT_PLUGINS: readonly PluginConfig[] = [
  { name: "attempt_router", rootId: "downstream" },
  { name: "attempt_router", rootId: "upstream" },
];
const START_TIME = 1_700_000_000_000_000_000n;

/** A proxy-wasm host (ABI 0.2.1) that drives a module the way Envoy does. One host is one VM. */
export class WasmHost {
  readonly logs: LogLine[] = [];
  readonly metrics = new Metrics();
  readonly sharedData: SharedData;
  /** Every HTTP call that was made, in order. */
  readonly httpCallLog: HttpCallRequest[] = [];
  httpResponder: HttpCallResponder | undefined;
  private readonly vm: Vm;
  private readonly roots: RootContext[] = [];
  private readonly pendingDone = new Set<RootContext>();
  private pendingCalls: PendingCall[] = [];
  private lastCallToken = 0;
  private clock: bigint;

  private constructor(private readonly options: HostOptions) {
    this.vm = new Vm(options.strict ?? true);
    this.clock = options.now ?? START_TIME;
    this.sharedData = options.sharedData ?? new SharedData();
    this.httpResponder = options.httpCalls;
  }

  /**
   * Loads a module, runs `_initialize`, then starts and configures its plugins.
   *
   * @throws ModuleLoadError when the module does not fit the ABI or turns its configuration down
   */
  static load(bytes: Uint8Array, options: HostOptions = {}): WasmHost {
    return WasmHost.instantiate(compile(bytes), options);
  }

  /** As `load`, for a module that is compiled already. */
  static instantiate(module: WebAssembly.Module, options: HostOptions = {}): WasmHost {
    assertAbi(module);
    const host = new WasmHost(options);
    host.vm.start(module, hostFunctions(module, host.environment()));
    for (const plugin of options.plugins ?? DEFAULT_PLUGINS) host.startPlugin(plugin);
    return host;
  }

  /** Creates a root context: on_context_create(root, 0), on_vm_start, on_configure. */
  startPlugin(plugin: PluginConfig): RootContext {
    const root = new RootContext(this.vm.allocateContextId(), plugin);
    this.vm.contexts.set(root.id, root);
    this.vm.call("proxy_on_context_create", root, root.id, 0);
    this.requireTrue("proxy_on_vm_start", root, toBytes(this.options.vmConfiguration).length);
    root.configuring = true;
    this.requireTrue("proxy_on_configure", root, toBytes(plugin.configuration).length);
    root.configuring = false;
    this.roots.push(root);
    return root;
  }

  /** @throws Error when no plugin has that root id */
  root(rootId: string): RootContext {
    const root = this.roots.find((candidate) => candidate.plugin.rootId === rootId);
    if (root === undefined) throw new Error(`no plugin with root id "${rootId}" was started`);
    return root;
  }

  /** Runs the downstream role on the headers of a request, and leaves the request open for attempts. */
  request(spec: RequestSpec = {}): SimulatedRequest {
    return new SimulatedRequest(this, spec);
  }

  /** From now on asks `faults` before each host call: a code to fail with, or undefined to do the call. */
  set faults(faults: ((name: string) => WasmResult | undefined) | undefined) {
    this.vm.faults = faults;
  }

  /** The error that made the VM fail: a WasmTrapError, or undefined. */
  get failure(): Error | undefined {
    return this.vm.failure;
  }

  get failOpen(): boolean {
    return this.options.failOpen ?? true;
  }

  /** Bytes of the module's linear memory. */
  get memorySize(): number {
    return this.vm.memorySize;
  }

  /** Live contexts, the VM's and the root contexts included. */
  get contextCount(): number {
    return this.vm.contexts.size;
  }

  /** Host calls by name since the module was loaded. */
  get hostCalls(): Readonly<Record<string, number>> {
    return this.vm.hostCalls;
  }

  hasExport(name: string): boolean {
    return this.vm.hasExport(name);
  }

  /** Nanoseconds since the epoch. */
  get now(): bigint {
    return this.clock;
  }

  advance(milliseconds: number): void {
    this.clock += BigInt(Math.round(milliseconds * 1e6));
  }

  /** Calls on_tick once for every root context that set a tick period. */
  tick(): void {
    for (const root of this.roots) if (root.tickPeriodMs > 0) this.callRoot("proxy_on_tick", root);
  }

  /** Delivers the HTTP calls in flight to their root contexts, in the order in which they were made. */
  deliverHttpCalls(): void {
    const calls = this.pendingCalls;
    this.pendingCalls = calls.filter((call) => call.outcome === "silence");
    for (const call of calls) if (call.outcome !== "silence") this.deliver(call);
  }

  get httpCallsInFlight(): number {
    return this.pendingCalls.length;
  }

  /** Ends the plugins: on_done, and on_delete where that is done at once. */
  shutdown(): void {
    for (const root of this.roots.splice(0)) {
      const done = this.callRoot("proxy_on_done", root);
      if (done === 0 && this.vm.hasExport("proxy_on_done")) this.pendingDone.add(root);
      else this.deleteRoot(root);
    }
  }

  /** For drivers: a stream context of a root. Nothing is called yet. */
  openStream(root: RootContext, stream: StreamHost): StreamContext {
    const context = new StreamContext(this.vm.allocateContextId(), root, stream);
    this.vm.contexts.set(context.id, context);
    return context;
  }

  /** For drivers: on_context_create where it was not called yet, as Envoy does at the first header callback. */
  createStream(context: StreamContext): void {
    if (context.created) return;
    context.created = true;
    this.vm.call("proxy_on_context_create", context, context.id, context.root.id);
    this.vm.finishCall();
  }

  /** For drivers: a callback of a stream; its result with the local-reply flag, as Envoy reads both. */
  callStream(name: string, context: StreamContext, ...args: number[]): { returned: number; stopped: boolean } {
    const returned = this.vm.call(name, context, context.id, ...args) ?? 0;
    const stopped = this.vm.stopIteration;
    this.vm.finishCall();
    return { returned, stopped };
  }

  closeStream(context: StreamContext): void {
    this.vm.contexts.delete(context.id);
  }

  private callRoot(name: string, root: RootContext, ...args: number[]): number | undefined {
    const result = this.vm.call(name, root, root.id, ...args);
    this.vm.finishCall();
    return result;
  }

  private requireTrue(name: string, root: RootContext, size: number): void {
    if (this.callRoot(name, root, size) === 0) {
      throw new ModuleLoadError(`${name} of root context "${root.plugin.rootId}" returned false`);
    }
  }

  private deleteRoot(root: RootContext): void {
    this.callRoot("proxy_on_delete", root);
    this.vm.contexts.delete(root.id);
  }

  private environment(): HostEnvironment {
    return {
      vm: this.vm,
      vmId: this.options.vmId ?? "",
      vmConfiguration: toBytes(this.options.vmConfiguration),
      metrics: this.metrics,
      sharedData: this.sharedData,
      random: new SeededRandom(this.options.seed ?? 1),
      foreignFunctions: { ...this.options.foreignFunctions, clear_route_cache: clearRouteCache },
      log: (level, message) => this.logs.push({ level, message }),
      logLevel: () => this.options.logLevel ?? LOG_LEVELS[0],
      now: () => this.clock,
      rootDone: (root) => this.rootDone(root),
      httpCall: (root, request) => this.startHttpCall(root, request),
    };
  }

  private rootDone(root: RootContext): boolean {
    if (!this.pendingDone.delete(root)) return false;
    this.vm.defer(() => this.deleteRoot(root));
    return true;
  }

  private startHttpCall(root: RootContext, request: HttpCallRequest): { token: number } | WasmResult {
    if (request.timeoutMs < 0) return WasmResult.BadArgument;
    this.httpCallLog.push(request);
    const outcome = this.httpResponder?.(request) ?? "unknown-cluster";
    if (outcome === "unknown-cluster") return WasmResult.BadArgument;
    const required = [":method", ":path", ":authority"];
    if (required.some((name) => request.headers.first(name) === undefined)) return WasmResult.BadArgument;
    this.lastCallToken += 4;
    if (outcome === "no-hosts") return WasmResult.InternalFailure;
    this.pendingCalls.push({ root, token: this.lastCallToken, outcome });
    return { token: this.lastCallToken };
  }

  private deliver({ root, token, outcome }: PendingCall): void {
    if (typeof outcome === "string") {
      root.status = { code: WasmResult.BrokenConnection, message: "reset" };
      this.callRoot("proxy_on_http_call_response", root, token, 0, 0, 0);
      root.status.message = "";
      return;
    }
    const headers = new HeaderMap(outcome.headers ?? []);
    headers.replace(":status", String(outcome.status));
    const body = toBytes(outcome.body);
    root.callResponse = { headers, body, trailers: new HeaderMap() };
    this.callRoot("proxy_on_http_call_response", root, token, headers.size, body.length, 0);
    root.callResponse = undefined;
  }
}

const clearRouteCache: ForeignFunction = (_argument, context) => {
  if (context.kind === "stream") context.stream.clearRouteCache("clear_route_cache");
  return WasmResult.Ok;
};

function compile(bytes: Uint8Array): WebAssembly.Module {
  try {
    return new WebAssembly.Module(Uint8Array.from(bytes));
  } catch (error) {
    throw new ModuleLoadError(`not a valid wasm module: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function assertAbi(module: WebAssembly.Module): void {
  const exported = new Set(WebAssembly.Module.exports(module).map(({ name }) => name));
  if (!exported.has("proxy_abi_version_0_2_1")) throw new ModuleLoadError("the module lacks proxy_abi_version_0_2_1");
}

/** The functions that a module imports; one that this host does not have is an error that names it. */
function hostFunctions(module: WebAssembly.Module, host: HostEnvironment): { env: HostFunctions; wasi: HostFunctions } {
  const env = { ...generalFunctions(host), ...headerFunctions(host), ...dataFunctions(host) };
  const wasi = { random_get: randomGet(host) };
  const known: Record<string, HostFunctions> = { env, wasi_snapshot_preview1: wasi };
  const missing = WebAssembly.Module.imports(module).filter(
    ({ module: from, name }) => known[from]?.[name] === undefined,
  );
  if (missing.length > 0) {
    const names = missing.map(({ module: from, name }) => `${from}.${name}`).join(", ");
    throw new ModuleLoadError(`the module imports what this host does not offer: ${names}`);
  }
  return { env, wasi };
}

function randomGet({ vm, random }: HostEnvironment): (pointer: number, size: number) => number {
  const [wasiInvalid, wasiSuccess] = [28, 0];
  return (pointer, size) => {
    if (size >>> 0 > 64 * 1024) return vm.strict ? vm.misuse(WasmResult.BadArgument, "random_get: size") : wasiInvalid;
    random.fill(vm.read(pointer, size));
    return wasiSuccess;
  };
}
