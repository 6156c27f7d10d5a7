import { toBytes } from "../cli/host/bytes.js";
import { encodePairs } from "../cli/host/pairs.js";

const OK = 0;
const NOT_FOUND = 1;
const PLUGIN_CONFIGURATION = 7;
const RESPONSE_HEADERS = 2;
const CALL_HEADERS = 6;

/** What the proxy answers to the module. Paths of attributes have dots where the ABI has NULs. */
export interface Answers {
  properties?: Readonly<Record<string, string | Uint8Array>>;
  /** Request headers; the attributes `request.headers.<name>` follow from them. */
  headers?: Readonly<Record<string, string>>;
}

interface Given {
  /** Bytes of the values by address of the key: the module's keys stay where they are. */
  properties: Map<number, Uint8Array | null>;
  headers: Map<number, Uint8Array | null>;
  pairs: Uint8Array;
}

type Callback = (...args: number[]) => number;

/**
 * The least proxy that a module runs on: it answers from prepared values and does nothing else, so that what is measured
 * is the module. Writes are recorded on demand.
 */
export class StubProxy {
  /** Filter state that was written, and request headers that were replaced, while `isRecording`. */
  readonly written = new Map<string, string>();
  isRecording = false;
  /** Host calls since the module was made. */
  calls = 0;

  private readonly exports: Record<string, Callback> & { memory: WebAssembly.Memory };
  private bytes: Uint8Array;
  private words: Int32Array;
  private given: Given = { properties: new Map(), headers: new Map(), pairs: new Uint8Array(0) };
  private answers: Answers = {};
  private context = 10;
  private tokens: number[] = [];
  private readonly malloc: Callback;
  private readonly onContextCreate: Callback;
  private readonly onRequestHeaders: Callback;
  private readonly onResponseHeaders: Callback;

  /** Starts a plugin of this role with this configuration; its root context is 1. */
  constructor(
    module: WebAssembly.Module,
    private readonly configuration: Uint8Array = new Uint8Array(0),
    private readonly role = "downstream",
  ) {
    const random_get = (pointer: number, size: number) => (this.view().fill(7, pointer, pointer + size), OK);
    const instance = new WebAssembly.Instance(module, {
      env: this.functions(),
      wasi_snapshot_preview1: { random_get },
    });
    this.exports = instance.exports as typeof this.exports;
    this.bytes = new Uint8Array(this.exports.memory.buffer);
    this.words = new Int32Array(this.exports.memory.buffer);
    this.malloc = this.export("malloc");
    this.onContextCreate = this.export("proxy_on_context_create");
    this.onRequestHeaders = this.export("proxy_on_request_headers");
    this.onResponseHeaders = this.export("proxy_on_response_headers");
    this.export("_initialize")();
    this.answer({});
    this.export("proxy_on_context_create")(1, 0);
    this.export("proxy_on_vm_start")(1, 0);
    this.export("proxy_on_configure")(1, configuration.length);
  }

  /** From now on this is what requests are like. */
  answer(answers: Answers): void {
    this.answers = { ...answers, properties: { plugin_root_id: this.role, ...answers.properties } };
    const headers = Object.entries(answers.headers ?? {});
    this.given = { properties: new Map(), headers: new Map(), pairs: encodePairs(headers) };
  }

  /** One request, as Envoy calls the module for it. */
  request(): void {
    const context = this.context++;
    this.onContextCreate(context, 1);
    this.onRequestHeaders(context, 8, 1);
    this.onResponseHeaders(context, 4, 1);
  }

  /** One tick, at which every question whether a cluster has a host is answered with yes. */
  tick(): void {
    this.export("proxy_on_tick")(1);
    for (const token of this.tokens.splice(0)) this.export("proxy_on_http_call_response")(1, token, 1, 0, 0);
  }

  /** What an instrumented build has allocated since the last call: managed objects, and their bytes. */
  allocated(): { objects: number; bytes: number } {
    return { objects: this.export("allocatedObjects")(), bytes: this.export("allocatedBytes")() };
  }

  private export(name: string): Callback {
    const callback = this.exports[name];
    if (callback === undefined) throw new Error(`the module exports no ${name}`);
    return callback;
  }

  private functions(): Record<string, Callback> {
    const ok = () => (this.calls++, OK);
    const write = (pointer: number, size: number, value: number, valueSize: number) => {
      this.calls++;
      if (this.isRecording) this.written.set(this.text(pointer, size), this.text(value, valueSize));
      return OK;
    };
    return {
      proxy_get_property: (path, size, outPtr, outSize) => this.giveProperty(path, size, outPtr, outSize),
      proxy_get_header_map_value: (map, name, size, outPtr, outSize) =>
        this.giveHeader(map, name, size, outPtr, outSize),
      proxy_get_header_map_pairs: (_map, outPtr, outSize) => this.give(this.given.pairs, outPtr, outSize),
      proxy_get_buffer_bytes: (buffer, _start, _size, outPtr, outSize) =>
        this.give(buffer === PLUGIN_CONFIGURATION ? this.configuration : null, outPtr, outSize),
      proxy_set_property: write,
      proxy_replace_header_map_value: (_map, name, size, value, valueSize) => write(name, size, value, valueSize),
      proxy_add_header_map_value: ok,
      proxy_remove_header_map_value: ok,
      proxy_call_foreign_function: ok,
      proxy_define_metric: ok,
      proxy_increment_metric: ok,
      proxy_log: ok,
      proxy_get_current_time_nanoseconds: ok,
      proxy_get_shared_data: () => (this.calls++, NOT_FOUND),
      proxy_set_shared_data: ok,
      proxy_set_tick_period_milliseconds: ok,
      proxy_http_call: (...args) => {
        this.tokens.push(++this.calls);
        this.setWord(args[9] ?? 0, this.calls);
        return OK;
      },
    };
  }

  private giveProperty(path: number, size: number, outPtr: number, outSize: number): number {
    let value = this.given.properties.get(path);
    if (value === undefined) {
      const name = this.text(path, size).replaceAll("\0", ".");
      const header = /^request\.headers\.(.*)/.exec(name)?.[1];
      value = bytesOf(header === undefined ? this.answers.properties?.[name] : this.answers.headers?.[header]);
      this.given.properties.set(path, value);
    }
    return this.give(value, outPtr, outSize);
  }

  private giveHeader(map: number, name: number, size: number, outPtr: number, outSize: number): number {
    if (map === CALL_HEADERS) return this.give(FORBIDDEN, outPtr, outSize);
    if (map === RESPONSE_HEADERS) return this.give(SUCCESS, outPtr, outSize);
    let value = this.given.headers.get(name);
    if (value === undefined) {
      value = bytesOf(this.answers.headers?.[this.text(name, size)]);
      this.given.headers.set(name, value);
    }
    return this.give(value, outPtr, outSize);
  }

  private give(value: Uint8Array | null, outPtr: number, outSize: number): number {
    this.calls++;
    if (value === null) return NOT_FOUND;
    const pointer = value.length === 0 ? 0 : this.malloc(value.length);
    this.view().set(value, pointer);
    this.setWord(outPtr, pointer);
    this.setWord(outSize, value.length);
    return OK;
  }

  private setWord(pointer: number, value: number): void {
    this.view();
    this.words[pointer >> 2] = value;
  }

  private text(pointer: number, size: number): string {
    return Buffer.from(this.view().subarray(pointer, pointer + size)).toString();
  }

  // Growth replaces the buffer.
  private view(): Uint8Array {
    const { buffer } = this.exports.memory;
    if (this.bytes.buffer !== buffer) {
      this.bytes = new Uint8Array(buffer);
      this.words = new Int32Array(buffer);
    }
    return this.bytes;
  }
}

const SUCCESS = toBytes("200");
/** The status by which the probe says that a cluster has a host. */
const FORBIDDEN = toBytes("403");

function bytesOf(value: string | Uint8Array | undefined): Uint8Array | null {
  return value === undefined ? null : toBytes(value);
}
