import { beforeAll, describe, expect, it } from "vitest";
import {
  HostMisuseError,
  ModuleLoadError,
  SharedData,
  WasmHost,
  WasmTrapError,
  type HostOptions,
  type HttpCallOutcome,
} from "../../cli/host/index.js";
import { puppet } from "./puppet.js";

const messages = (host: WasmHost): string[] => host.logs.map(({ message }) => message);

describe("life cycle", () => {
  let bytes: Uint8Array;
  beforeAll(async () => {
    bytes = await puppet(`
      log("initialize");
      export function proxy_on_context_create(c: u32, r: u32): void { log("create " + c.toString() + " " + r.toString()); }
      export function proxy_on_vm_start(c: u32, n: u32): u32 { log("start " + c.toString() + " " + buffer(6, 0, 100)); return 1; }
      export function proxy_on_configure(c: u32, n: u32): u32 { log("configure " + c.toString() + " " + buffer(7, 1, 3)); return n == 3 ? 0 : 1; }
      export function proxy_on_request_headers(c: u32, n: u32, e: u32): u32 { log("request " + c.toString() + " " + n.toString() + " " + e.toString()); return 0; }
      export function proxy_on_response_headers(c: u32, n: u32, e: u32): u32 { log("response " + c.toString() + " " + header(2, ":status") + " " + (property("response\\0code") != "1" ? load<usize>(out2) : 0).toString()); return 0; }
      export function proxy_on_done(c: u32): u32 { log("done " + c.toString()); return 1; }
      export function proxy_on_log(c: u32): void { log("log " + c.toString() + " " + header(0, ":path") + " " + header(2, ":status")); }
      export function proxy_on_delete(c: u32): void { log("delete " + c.toString()); }
    `);
  });

  it("is Envoy's: measured on 1.40.0", () => {
    const plugins = [
      { name: "p", rootId: "downstream", configuration: "abcdef" },
      { name: "p", rootId: "upstream", configuration: "ghijkl" },
    ];
    const host = WasmHost.load(bytes, { plugins, vmConfiguration: "vm" });
    const request = host.request();
    request.attempt(1, { response: { status: 503 } });
    request.attempt(2, { response: { status: 200 } });
    request.respond({ status: 200 });
    request.end();
    expect(messages(host)).toEqual([
      "initialize",
      ...["create 1 0", "start 1 0:vm", "configure 1 0:bcd", "create 2 0", "start 2 0:vm", "configure 2 0:hij"],
      ...["create 3 1", "request 3 4 1"],
      ...["create 4 2", "request 4 4 1", "response 4 0:503 0", "done 4", "delete 4"],
      ...["create 5 2", "request 5 4 1", "response 5 0:200 0", "done 5", "delete 5"],
      ...["response 3 0:200 8", "log 3 0:/ 0:200", "done 3", "delete 3"],
    ]);
    expect(host.contextCount).toBe(3);
    host.shutdown();
    expect(messages(host).slice(-4)).toEqual(["done 1", "delete 1", "done 2", "delete 2"]);
  });

  it("fails to load when on_configure returns false", () => {
    const plugins = [{ name: "p", rootId: "downstream", configuration: "abc" }];
    expect(() => WasmHost.load(bytes, { plugins })).toThrow(ModuleLoadError);
  });

  it("rejects what is no module of the ABI", async () => {
    expect(() => WasmHost.load(Uint8Array.of(1, 2, 3))).toThrow(ModuleLoadError);
    expect(() => WasmHost.load(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0))).toThrow(/proxy_abi_version_0_2_1/);
    await expect(puppet("", "").then((without) => WasmHost.load(without))).rejects.toThrow(/malloc/);
    const strange = await puppet(`@external("env", "strange") declare function strange(): void; strange();`);
    expect(() => WasmHost.load(strange)).toThrow(/env\.strange/);
  });
});

/** Loads a puppet whose on_request_headers runs `body` (which returns a number). */
async function withRequest(body: string, rest = ""): Promise<(options?: HostOptions) => WasmHost> {
  const bytes = await puppet(`${rest}
    export function proxy_on_request_headers(c: u32, n: u32, e: u32): u32 { ${body} }`);
  return (options) => WasmHost.load(bytes, options);
}

describe("headers", () => {
  it("gives the first line, all pairs, and nothing allocated for an empty value", async () => {
    const load = await withRequest(`
      log(header(0, "X-Two")); log(header(0, "x-none")); log(header(0, "x-empty") + "@" + load<usize>(out).toString());
      log(property("request\\0headers\\0x-two"));
      proxy_get_header_map_pairs(0, out, out2); log(load<u32>(load<usize>(out)).toString() + " " + load<usize>(out2).toString());
      return 0;`);
    const host = load();
    host.request({
      headers: [
        ["x-two", "1"],
        ["X-Two", "2"],
        ["x-empty", ""],
      ],
    });
    expect(messages(host).slice(0, 4)).toEqual(["0:1", "1", "0:@0", "0:1,2"]);
    // 4 + 7 × 8 for the lengths, then every text with a NUL behind it.
    const texts = ":authority localhost :path / :method GET :scheme http x-two 1 x-two 2 x-empty  ";
    expect(messages(host)[4]).toBe(`7 ${60 + texts.length}`);
  });

  it("records changes, and clears the route cache for them downstream only", async () => {
    const load = await withRequest(`
      const name = utf8("x-a"), value = utf8("new"), gone = utf8("x-b"), more = utf8("x-c");
      proxy_replace_header_map_value(0, at(name), 3, at(value), 3);
      proxy_remove_header_map_value(0, at(gone), 3);
      proxy_add_header_map_value(0, at(more), 3, at(value), 3);
      return 0;`);
    const request = load().request({ headers: { "x-a": ["1", "2"], "x-b": "1" } });
    expect(request.headerChanges).toEqual({ added: { "x-c": ["new"] }, removed: ["x-b"], changed: { "x-a": ["new"] } });
    expect(request.routeCacheClears).toEqual(["request_headers", "request_headers", "request_headers"]);
    request.attempt(1);
    expect(request.routeCacheClears).toHaveLength(3);
    expect(request.headers.getAll("x-c")).toEqual(["new", "new"]);
  });

  it("are not available in the other phase", async () => {
    const load = await withRequest(`log(header(2, ":status")); return 0;`);
    expect(() => load().request()).toThrow(HostMisuseError);
    const lax = load({ strict: false });
    lax.request();
    expect(messages(lax)).toEqual(["2"]);
  });
});

describe("properties", () => {
  let load: (options?: HostOptions) => WasmHost;
  beforeAll(async () => {
    load = await withRequest(`
      const paths = header(0, "x-paths").slice(2).split(" ");
      for (let i = 0; i < paths.length; i++) log(property(paths[i].split("/").join("\\0")));
      if (header(0, "x-set") == "0:1") { log(setProperty("k", "v" + c.toString()).toString()); log(property("k")); log(foreign("clear_route_cache").toString() + foreign("other").toString()); }
      return 0;`);
  });

  it("answers as Envoy does", () => {
    const host = load({ vmId: "v" });
    const paths =
      "xds/route_name xds/route_metadata xds xds/nothing nothing plugin_root_id plugin_name plugin_vm_id source/address request/path request/query metadata/filter_metadata/ns/text metadata/filter_metadata/ns/none filter_state upstream_filter_state metadata/filter_metadata/ns/list/1";
    host.request({
      routeName: "r",
      headers: { "x-paths": paths, ":path": "/a?b=c" },
      dynamicMetadata: { filter_metadata: { ns: { text: "hello", list: ["x", "y"] } } },
    });
    expect(messages(host)).toEqual([
      ...[
        "0:r",
        "0:",
        "3",
        "1",
        "1",
        "0:downstream",
        "0:attempt_router",
        "0:v",
        "0:127.0.0.1:50000",
        "0:/a?b=c",
        "0:b=c",
      ],
      ...["0:hello", "1", "3", "1", "0:y"],
    ]);
  });

  it("has no route attributes without a route", () => {
    const host = load();
    host.request({
      route: false,
      virtualHostName: "vh",
      headers: { "x-paths": "xds/route_name xds/route_metadata xds/virtual_host_name" },
    });
    expect(messages(host)).toEqual(["1", "1", "0:vh"]);
  });

  it("shares filter state between the downstream role and all attempts", () => {
    const host = load();
    const request = host.request({ headers: { "x-set": "1", "x-paths": "k filter_state/wasm.k" } });
    expect(request.writes).toEqual([{ key: "wasm.k", value: "v3" }]);
    expect(request.routeCacheClears).toEqual(["clear_route_cache"]);
    expect(request.logs.map(({ message }) => message)).toEqual(["1", "1", "0", "0:v3", "01"]);
    const attempt = request.attempt(1);
    expect(attempt.logs.map(({ message }) => message)).toEqual(["0:v3", "0:v3", "0", "0:v4", "01"]);
    expect(request.routeCacheClears).toEqual(["clear_route_cache"]);
  });

  it("counts host calls per request", () => {
    const request = load().request({ headers: { "x-paths": "a b" } });
    expect(request.hostCalls).toEqual({ proxy_get_header_map_value: 2, proxy_get_property: 2, proxy_log: 2 });
  });

  it("counts attempts as a 64-bit number", async () => {
    const counting = await withRequest(`
      property("upstream\\0request_attempt_count"); log(load<usize>(out2).toString() + " " + load<u64>(load<usize>(out)).toString()); return 0;`);
    const host = counting();
    host.request().attempt(3);
    expect(messages(host)).toEqual(["8 0", "8 3"]);
  });
});

describe("data", () => {
  it("keeps metrics", async () => {
    const load = await withRequest(`
      const name = utf8("m");
      for (let type: u32 = 0; type < 3; type++) { proxy_define_metric(type, at(name), 1, out); log(load<u32>(out).toString()); }
      log([proxy_increment_metric(4, 5), proxy_increment_metric(4, 0), proxy_increment_metric(4, -1), proxy_record_metric(4, 2), proxy_increment_metric(8, 1)].join());
      log([proxy_increment_metric(5, 9), proxy_increment_metric(5, -4), proxy_record_metric(6, 7), proxy_increment_metric(6, 7), proxy_get_metric(6, out)].join());
      log(proxy_get_metric(4, out).toString() + " " + load<u64>(out).toString() + " " + proxy_get_metric(5, out).toString() + " " + load<u64>(out).toString());
      return 0;`);
    const host = load();
    host.request();
    expect(messages(host)).toEqual(["4", "5", "6", "0,2,2,0,1", "0,0,0,2,2", "0 7 0 5"]);
    expect(host.metrics.value("m")).toBe(7n);
    expect(host.metrics.samples("m")).toEqual([7n]);
  });

  it("keeps shared data with compare-and-swap, also between hosts", async () => {
    const load = await withRequest(`
      const key = utf8("k"), value = utf8("v");
      const first = proxy_get_shared_data(at(key), 1, out, out2, out + 8);
      const set = proxy_set_shared_data(at(key), 1, at(value), 1, 0);
      log([first, set, proxy_set_shared_data(at(key), 1, at(value), 1, 99)].join());
      log(answer(proxy_get_shared_data(at(key), 1, out, out2, out + 8)) + " " + load<u32>(out + 8).toString());
      log(proxy_set_shared_data(at(key), 1, at(value), 1, load<u32>(out + 8)).toString());
      return 0;`);
    const sharedData = new SharedData();
    const host = load({ sharedData });
    host.request();
    expect(messages(host)).toEqual(["1,0,8", "0:v 1", "0"]);
    const other = load({ sharedData });
    other.request();
    expect(messages(other)).toEqual(["0,0,8", "0:v 3", "0"]);
  });

  it("repeats random values by seed and moves its clock when told", async () => {
    const load = await withRequest(`
      random_get(out, 8); log(load<u64>(out).toString());
      proxy_get_current_time_nanoseconds(out); log(load<u64>(out).toString());
      proxy_get_log_level(out); log(load<u32>(out).toString());
      return 0;`);
    const run = (seed: number) => {
      const host = load({ seed, now: 5n, logLevel: "warn" });
      host.advance(2);
      host.request();
      return messages(host);
    };
    expect(run(1)).toEqual(run(1));
    expect(run(1)[0]).not.toBe(run(2)[0]);
    expect(run(1).slice(1)).toEqual(["2000005", "3"]);
  });
});

describe("calls out", () => {
  let bytes: Uint8Array;
  beforeAll(async () => {
    bytes = await puppet(`
      export function proxy_on_configure(c: u32, n: u32): u32 { proxy_set_tick_period_milliseconds(50); return 1; }
      function pairs(): ArrayBuffer {
        const texts = [":method", "GET", ":path", "/", ":authority", "h"];
        const text = utf8(texts.join("\\0") + "\\0");
        const all = new ArrayBuffer(4 + 24 + text.byteLength);
        store<u32>(at(all), 3);
        for (let i = 0; i < 6; i++) store<u32>(at(all) + 4 + 4 * i, texts[i].length);
        memory.copy(at(all) + 28, at(text), text.byteLength);
        return all;
      }
      let withHeaders = true;
      export function proxy_on_tick(c: u32): void {
        const cluster = utf8("probe"), headers = pairs();
        const code = proxy_http_call(at(cluster), 5, withHeaders ? at(headers) : 0, withHeaders ? headers.byteLength : 0, 0, 0, 0, 0, 100, out);
        withHeaders = false;
        log("called " + code.toString() + " " + load<u32>(out).toString());
      }
      export function proxy_on_http_call_response(c: u32, token: u32, headers: u32, body: u32, trailers: u32): void {
        log([c, token, headers, body, trailers].join());
        proxy_get_status(out + 8, out, out2); const status = load<u32>(out + 8).toString() + given();
        log(headers == 0 ? status : header(6, ":status") + " " + buffer(4, 0, 100));
      }
      export function proxy_on_request_headers(c: u32, n: u32, e: u32): u32 {
        const text = utf8("some details"), body = utf8("body");
        proxy_send_local_response(429, at(text), 12, at(body), 4, 0, 0, -1); return 0;
      }`);
  });
  const plugins = [{ name: "p", rootId: "downstream" }];

  it.each<[HttpCallOutcome, string[]]>([
    ["unknown-cluster", ["called 2 0"]],
    ["no-hosts", ["called 10 0"]],
    ["silence", ["called 0 4"]],
    ["reset", ["called 0 4", "1,4,0,0,0", "11reset"]],
    [{ status: 403, headers: { a: "b" }, body: "denied" }, ["called 0 4", "1,4,2,6,0", "0:403 0:denied"]],
  ])("delivers the outcome %j to the root context", (outcome, expected) => {
    const host = WasmHost.load(bytes, { plugins, httpCalls: () => outcome });
    host.tick();
    host.deliverHttpCalls();
    expect(messages(host)).toEqual(expected);
    expect(host.httpCallLog[0]?.headers.first(":authority")).toBe("h");
    expect(host.httpCallsInFlight).toBe(outcome === "silence" ? 1 : 0);
  });

  it("refuses a call without its pseudo headers", () => {
    const host = WasmHost.load(bytes, { plugins, httpCalls: () => "silence" });
    host.tick();
    host.tick();
    expect(messages(host)).toEqual(["called 0 4", "called 2 0"]);
  });

  it("records a local reply, which stops the stream", () => {
    const request = WasmHost.load(bytes, { plugins }).request();
    expect(request.action).toBe("stop-all-and-watermark");
    expect(request.localReply).toMatchObject({ status: 429, details: "some_details", grpcStatus: undefined });
  });
});

describe("misuse", () => {
  it.each([
    ["a key outside memory", "proxy_get_header_map_value(0, 0xfffffff0, 8, out, out2);", /lies outside/],
    ["a length that overflows", "proxy_log(2, 16, 0xfffffff8);", /lies outside/],
    [
      "a result pointer outside memory",
      'const p = utf8("plugin_root_id"); proxy_get_property(at(p), 14, 0xfffffff0, out2);',
      /lies outside/,
    ],
    ["an unknown context", "proxy_set_effective_context(99);", /no context 99/],
    ["an unknown header map", "proxy_get_header_map_pairs(8, out, out2);", /type 8/],
    ["the plugin configuration at the wrong time", "buffer(7, 0, 1);", /no buffer 7/],
    ["a log level past critical", "proxy_log(6, 0, 0);", /level 6/],
    ["done without a pending on_done", "proxy_done();", /pending on_done/],
    ["an unknown metric type", "proxy_define_metric(3, 0, 0, out);", /type 3/],
  ])("fails the run: %s", async (_name, body, message) => {
    const load = await withRequest(`${body} return 0;`);
    const host = load();
    expect(() => host.request()).toThrow(message);
    expect(host.failure).toBeInstanceOf(HostMisuseError);
    const lax = load({ strict: false });
    expect(lax.request().action).toBe("continue");
    expect(lax.failure).toBeUndefined();
  });

  it("gives Envoy's code for a bad pointer when it is not strict", async () => {
    const load = await withRequest(
      "log(proxy_get_header_map_value(0, 0xfffffff0, 8, out, out2).toString()); return 0;",
    );
    const host = load({ strict: false });
    host.request();
    expect(messages(host)).toEqual(["6"]);
  });

  it("traps on a host call that malloc or _initialize may not make", async () => {
    const malloc = `export function malloc(n: usize): usize { proxy_done(); return heap.alloc(n); }`;
    const bytes = await puppet(
      `export function proxy_on_request_headers(c: u32, n: u32, e: u32): u32 { header(0, ":path"); return 0; }`,
      malloc,
    );
    expect(() => WasmHost.load(bytes).request()).toThrow(/restricted_callback: proxy_done/);
    const early = await puppet(`property("plugin_root_id");`);
    expect(() => WasmHost.load(early)).toThrow(/restricted_callback: proxy_get_property/);
  });

  it("shows memory that grows", async () => {
    const load = await withRequest("memory.grow(1); log(header(0, ':path')); return 0;");
    const host = load();
    const before = host.memorySize;
    host.request({ headers: { ":path": "/x" } });
    expect(host.memorySize).toBe(before + 65536);
    expect(messages(host)).toEqual(["0:/x"]);
  });
});

describe("a trap", () => {
  let load: (options?: HostOptions) => WasmHost;
  beforeAll(async () => {
    load = await withRequest(
      `if (header(0, "x-trap") == "0:1") deep(); log("served"); return 0;`,
      "function deep(): void { unreachable(); }",
    );
  });

  it("is reported with the wasm stack and marks the VM as failed", () => {
    const host = load();
    let error: unknown;
    try {
      host.request({ headers: { "x-trap": "1" } });
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(WasmTrapError);
    expect((error as WasmTrapError).message).toMatch(/proxy_on_request_headers trapped: unreachable/);
    expect((error as WasmTrapError).wasmStack[0]).toMatch(/deep/);
    expect(host.failure).toBe(error);
  });

  it.each([[true], [false]])("answers that request with 503; with failOpen %s later ones accordingly", (failOpen) => {
    const host = load({ strict: false, failOpen });
    const open = host.request();
    const trapped = host.request({ headers: { "x-trap": "1" } });
    expect(trapped.localReply).toMatchObject({ status: 503, details: "wasm_fail_stream" });
    const later = host.request();
    expect(later.localReply?.status).toBe(failOpen ? undefined : 503);
    expect(later.hostCalls).toEqual({});
    open.end();
    expect(messages(host)).toEqual(["served"]);
  });
});
