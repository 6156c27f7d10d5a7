import asc from "assemblyscript/asc";

/** What a puppet's source starts with: the ABI marker, memory, and short names for the host calls that tests use. */
const PRELUDE = `
@external("env", "proxy_log") declare function proxy_log(level: u32, p: usize, n: usize): u32;
@external("env", "proxy_get_property") declare function proxy_get_property(p: usize, n: usize, vp: usize, vn: usize): u32;
@external("env", "proxy_set_property") declare function proxy_set_property(p: usize, n: usize, v: usize, vn: usize): u32;
@external("env", "proxy_get_header_map_value") declare function proxy_get_header_map_value(t: u32, p: usize, n: usize, vp: usize, vn: usize): u32;
@external("env", "proxy_get_header_map_pairs") declare function proxy_get_header_map_pairs(t: u32, vp: usize, vn: usize): u32;
@external("env", "proxy_add_header_map_value") declare function proxy_add_header_map_value(t: u32, p: usize, n: usize, v: usize, vn: usize): u32;
@external("env", "proxy_replace_header_map_value") declare function proxy_replace_header_map_value(t: u32, p: usize, n: usize, v: usize, vn: usize): u32;
@external("env", "proxy_remove_header_map_value") declare function proxy_remove_header_map_value(t: u32, p: usize, n: usize): u32;
@external("env", "proxy_get_buffer_bytes") declare function proxy_get_buffer_bytes(t: u32, s: u32, l: u32, vp: usize, vn: usize): u32;
@external("env", "proxy_call_foreign_function") declare function proxy_call_foreign_function(p: usize, n: usize, a: usize, an: usize, rp: usize, rn: usize): u32;
@external("env", "proxy_define_metric") declare function proxy_define_metric(t: u32, p: usize, n: usize, id: usize): u32;
@external("env", "proxy_increment_metric") declare function proxy_increment_metric(id: u32, offset: i64): u32;
@external("env", "proxy_record_metric") declare function proxy_record_metric(id: u32, value: u64): u32;
@external("env", "proxy_get_metric") declare function proxy_get_metric(id: u32, value: usize): u32;
@external("env", "proxy_get_shared_data") declare function proxy_get_shared_data(p: usize, n: usize, vp: usize, vn: usize, cas: usize): u32;
@external("env", "proxy_set_shared_data") declare function proxy_set_shared_data(p: usize, n: usize, v: usize, vn: usize, cas: u32): u32;
@external("env", "proxy_set_tick_period_milliseconds") declare function proxy_set_tick_period_milliseconds(p: u32): u32;
@external("env", "proxy_http_call") declare function proxy_http_call(c: usize, cn: usize, h: usize, hn: usize, b: usize, bn: usize, t: usize, tn: usize, timeout: u32, token: usize): u32;
@external("env", "proxy_send_local_response") declare function proxy_send_local_response(s: u32, d: usize, dn: usize, b: usize, bn: usize, h: usize, hn: usize, grpc: u32): u32;
@external("env", "proxy_get_current_time_nanoseconds") declare function proxy_get_current_time_nanoseconds(p: usize): u32;
@external("env", "proxy_get_status") declare function proxy_get_status(c: usize, vp: usize, vn: usize): u32;
@external("env", "proxy_get_log_level") declare function proxy_get_log_level(p: usize): u32;
@external("env", "proxy_set_effective_context") declare function proxy_set_effective_context(id: u32): u32;
@external("env", "proxy_continue_stream") declare function proxy_continue_stream(t: u32): u32;
@external("env", "proxy_done") declare function proxy_done(): u32;
@external("wasi_snapshot_preview1", "random_get") declare function random_get(p: usize, n: usize): u32;

const out = memory.data(16);
const out2: usize = out + 4;
function utf8(text: string): ArrayBuffer { return String.UTF8.encode(text); }
function at(bytes: ArrayBuffer): usize { return changetype<usize>(bytes); }
function given(): string { return String.UTF8.decodeUnsafe(load<usize>(out), load<usize>(out2)); }
function log(text: string): void { const b = utf8(text); proxy_log(2, at(b), b.byteLength); }
function answer(code: u32): string { return code.toString() + (code == 0 ? ":" + given() : ""); }
function property(path: string): string { const p = utf8(path); return answer(proxy_get_property(at(p), p.byteLength, out, out2)); }
function setProperty(key: string, value: string): u32 { const k = utf8(key), v = utf8(value); return proxy_set_property(at(k), k.byteLength, at(v), v.byteLength); }
function header(type: u32, name: string): string { const n = utf8(name); return answer(proxy_get_header_map_value(type, at(n), n.byteLength, out, out2)); }
function foreign(name: string): u32 { const n = utf8(name); return proxy_call_foreign_function(at(n), n.byteLength, 0, 0, 0, 0); }
function buffer(type: u32, start: u32, length: u32): string { return answer(proxy_get_buffer_bytes(type, start, length, out, out2)); }
export function proxy_abi_version_0_2_1(): void {}
function aborted(message: usize, file: usize, line: u32, column: u32): void { unreachable(); }
`;

const MALLOC = "export function malloc(size: usize): usize { return heap.alloc(size); }";

/** Compiles a tiny module from AssemblyScript. The prelude's `log`, `property`, `header` … report what the host said. */
export async function puppet(source: string, malloc = MALLOC): Promise<Uint8Array> {
  let binary: Uint8Array | undefined;
  const options = [
    "main.ts",
    "-o",
    "main.wasm",
    "--exportStart",
    "_initialize",
    "--use",
    "abort=main/aborted",
    "--debug",
  ];
  const { error } = await asc.main(options, {
    readFile: (name) => (name === "main.ts" ? PRELUDE + malloc + source : null),
    writeFile: (name, contents) => {
      if (name === "main.wasm" && typeof contents !== "string") binary = contents;
    },
    listFiles: () => [],
  });
  if (error !== null || binary === undefined) throw error ?? new Error("asc wrote no module");
  return binary;
}
