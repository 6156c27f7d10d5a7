import { WasmResult } from "./abi.js";
import type { Context } from "./contexts.js";
import { VmContext } from "./contexts.js";
import { HostMisuseError, ModuleLoadError, WasmTrapError } from "./errors.js";

/** A host function: numbers (bigint for i64) in, a result code out. */
export type HostFunction = (...args: never[]) => number;
export type HostFunctions = Record<string, HostFunction>;

type ExportedFunction = (...args: (number | bigint)[]) => number | bigint | undefined;

/** A pointer of the module that does not lie in its memory. Becomes InvalidMemoryAccess where the run is not strict. */
class OutOfBounds extends Error {}

/** Host functions that `malloc` may call, and those that `_initialize` may call; any other traps, as in Envoy. */
const DURING_MALLOC: ReadonlySet<string> = new Set(["env.proxy_log"]);
const DURING_INITIALIZE: ReadonlySet<string> = new Set(["env.proxy_log", "wasi_snapshot_preview1.random_get"]);

/**
 * One instance of a module: its memory, its callbacks, and which context is being called.
 *
 * A trap marks the VM as failed; nothing is called any more after that.
 */
export class Vm {
  readonly contexts = new Map<number, Context>();
  readonly vmContext = new VmContext();
  /** Calls of each host function since the VM was made. */
  readonly hostCalls: Record<string, number> = {};
  failure: Error | undefined;
  /** Asked before each host call: a code to fail with, or undefined to do the call. */
  faults: ((name: string) => WasmResult | undefined) | undefined;
  /** Set by a local reply: the stream stops whatever the callback returns. Reset when the callback is done. */
  stopIteration = false;
  private instance: WebAssembly.Instance | undefined;
  private memory: WebAssembly.Memory | undefined;
  private bytes = new Uint8Array(0);
  private current: Context | undefined;
  private effectiveId = 0;
  private allowed: ReadonlySet<string> | undefined;
  private afterCall: (() => void)[] = [];
  private nextContextId = 1;

  constructor(readonly strict: boolean) {
    this.contexts.set(0, this.vmContext);
  }

  /** Instantiates and runs `_initialize`. */
  start(module: WebAssembly.Module, functions: { env: HostFunctions; wasi: HostFunctions }): void {
    this.instance = new WebAssembly.Instance(module, {
      env: this.guardAll("env", functions.env),
      wasi_snapshot_preview1: this.guardAll("wasi_snapshot_preview1", functions.wasi),
    });
    const memory = this.instance.exports["memory"];
    if (!(memory instanceof WebAssembly.Memory)) throw new ModuleLoadError("the module exports no memory");
    this.memory = memory;
    if (this.exported("malloc") === undefined && this.exported("proxy_on_memory_allocate") === undefined) {
      throw new ModuleLoadError("the module is missing a malloc function");
    }
    this.allowed = DURING_INITIALIZE;
    this.call("_initialize", this.vmContext);
    this.allowed = undefined;
  }

  allocateContextId(): number {
    return this.nextContextId++;
  }

  hasExport(name: string): boolean {
    return this.exported(name) !== undefined;
  }

  /** Bytes of linear memory. */
  get memorySize(): number {
    return this.memory?.buffer.byteLength ?? 0;
  }

  /**
   * Calls an exported callback on behalf of a context.
   *
   * @returns its result; undefined when it is not exported, returns nothing, or the VM has failed
   * @throws WasmTrapError, HostMisuseError in strict mode
   */
  call(name: string, context: Context, ...args: number[]): number | undefined {
    const callback = this.exported(name);
    if (callback === undefined || this.failure !== undefined) return undefined;
    const saved = { current: this.current, effectiveId: this.effectiveId };
    this.current = context;
    this.effectiveId = 0;
    try {
      const result = callback(...args);
      return result === undefined ? undefined : Number(result) >>> 0;
    } catch (error) {
      this.fail(name, error);
      return undefined;
    } finally {
      this.current = saved.current;
      this.effectiveId = saved.effectiveId;
    }
  }

  /** What Envoy does when it is back from a callback: deferred actions, in order. */
  finishCall(): void {
    this.stopIteration = false;
    for (let action = this.afterCall.shift(); action !== undefined; action = this.afterCall.shift()) action();
  }

  defer(action: () => void): void {
    this.afterCall.push(action);
  }

  /** The context that a host function acts on. */
  get context(): Context {
    const effective = this.effectiveId === 0 ? undefined : this.contexts.get(this.effectiveId);
    const context = effective ?? this.current;
    if (context === undefined) throw new HostMisuseError("host function called outside a callback");
    return context;
  }

  setEffectiveContext(id: number): boolean {
    if (!this.contexts.has(id)) return false;
    this.effectiveId = id;
    return true;
  }

  /** Bytes of the module's memory, valid until the module runs again. */
  read(pointer: number, size: number): Uint8Array {
    const start = pointer >>> 0;
    const end = start + (size >>> 0);
    if (end > this.view().length) throw new OutOfBounds(`${start}..${end} lies outside ${this.memorySize} bytes`);
    return this.bytes.subarray(start, end);
  }

  writeU32(pointer: number, value: number): void {
    const target = this.read(pointer, 4);
    new DataView(target.buffer, target.byteOffset, 4).setUint32(0, value, true);
  }

  writeU64(pointer: number, value: bigint): void {
    const target = this.read(pointer, 8);
    new DataView(target.buffer, target.byteOffset, 8).setBigUint64(0, BigInt.asUintN(64, value), true);
  }

  /** Hands bytes to the module through its own `malloc`. Nothing is allocated for an empty result: pointer 0, size 0. */
  give(bytes: Uint8Array, pointerAt: number, sizeAt: number): void {
    // The targets are checked first only where a failure is an error anyhow: Envoy would allocate before it looks.
    if (this.strict) [pointerAt, sizeAt].forEach((at) => this.read(at, 4));
    const pointer = bytes.length === 0 ? 0 : this.allocate(bytes);
    this.writeU32(pointerAt, pointer);
    this.writeU32(sizeAt, bytes.length);
  }

  /** Ends the call with an error in strict mode, else gives the code that Envoy returns. */
  misuse(code: WasmResult, message: string): WasmResult {
    if (this.strict) throw new HostMisuseError(message);
    return code;
  }

  private allocate(bytes: Uint8Array): number {
    const name = this.exported("malloc") === undefined ? "proxy_on_memory_allocate" : "malloc";
    const outer = this.allowed;
    this.allowed = DURING_MALLOC;
    const pointer = this.exported(name)?.(bytes.length);
    this.allowed = outer;
    if (pointer === undefined || Number(pointer) === 0)
      throw new OutOfBounds(`${name}(${bytes.length}) gave no memory`);
    this.read(Number(pointer), bytes.length).set(bytes);
    return Number(pointer) >>> 0;
  }

  private exported(name: string): ExportedFunction | undefined {
    const value = this.instance?.exports[name];
    return typeof value === "function" ? (value as ExportedFunction) : undefined;
  }

  private view(): Uint8Array {
    // Growth replaces the buffer, so a cached view must be checked each time.
    const buffer = this.memory?.buffer;
    if (buffer !== undefined && this.bytes.buffer !== buffer) this.bytes = new Uint8Array(buffer);
    return this.bytes;
  }

  private fail(callback: string, error: unknown): void {
    const cause = error instanceof Error ? error : new Error(String(error));
    this.failure = cause instanceof HostMisuseError ? cause : new WasmTrapError(callback, cause);
    if (cause instanceof HostMisuseError) cause.message = `${callback}: ${cause.message}`;
    if (this.strict || cause instanceof HostMisuseError) throw this.failure;
  }

  private guardAll(module: string, functions: HostFunctions): WebAssembly.ModuleImports {
    return Object.fromEntries(
      Object.entries(functions).map(([name, host]) => [name, this.guard(`${module}.${name}`, name, host)]),
    );
  }

  private guard(fullName: string, name: string, host: HostFunction): (...args: never[]) => number {
    return (...args) => {
      this.hostCalls[name] = (this.hostCalls[name] ?? 0) + 1;
      if (this.instance === undefined) throw new HostMisuseError(`${name} called from a start section crashes Envoy`);
      if (this.current === undefined) throw new HostMisuseError(`${name} called outside a callback`);
      if (this.allowed?.has(fullName) === false) throw new Error(`restricted_callback: ${name} is not allowed here`);
      const fault = this.faults?.(name);
      if (fault !== undefined) return fault;
      try {
        return host(...args);
      } catch (error) {
        if (!(error instanceof OutOfBounds)) throw error;
        return this.misuse(WasmResult.InvalidMemoryAccess, `${name}: ${error.message}`);
      }
    };
  }
}
