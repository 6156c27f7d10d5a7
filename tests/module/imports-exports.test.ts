import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { MODULE_PATH } from "./routes.js";

/** Every export and why it is there; each proxy_on_* costs a call into the module, so none is there without a use. */
const EXPORTS: Readonly<Record<string, string>> = {
  memory: "the host reads arguments from it and writes results to it",
  _initialize: "runs the top-level code; a start section would crash Envoy",
  malloc: "the host asks for the memory of its results",
  proxy_abi_version_0_2_1: "Envoy refuses a module without it",
  proxy_on_context_create: "learns which role the next stream has",
  proxy_on_vm_start: "seeds the random values and defines the counters",
  proxy_on_configure: "learns the role of a plugin from its root_id, and what to watch",
  proxy_on_request_headers: "both roles",
  proxy_on_response_headers: "header transforms of route specifiers, and Envoy's answers that a cluster has no host",
  proxy_on_tick: "asks which clusters have a host",
  proxy_on_http_call_response: "gets the answers",
};
/** Of the module that holds answers, which has those of bodies and trailers, too. */
const HOLD_EXPORTS: Readonly<Record<string, string>> = {
  memory: "as above",
  _initialize: "as above",
  malloc: "as above",
  proxy_abi_version_0_2_1: "as above",
  proxy_on_context_create: "learns the settings of the next stream",
  proxy_on_vm_start: "defines the counters",
  proxy_on_configure: "reads the settings of a plugin",
  proxy_on_request_headers: "HEAD and CONNECT have no content",
  proxy_on_response_headers: "holds them, and gives a changed status back",
  proxy_on_response_body: "looks for the first content",
  proxy_on_response_trailers: "where there was none; the status of gRPC",
  proxy_on_delete: "forgets a stream that ended while it was held",
};
const REQUIRED = ["memory", "_initialize", "malloc", "proxy_abi_version_0_2_1", "proxy_on_request_headers"];
const START_SECTION = 8;
const HOLD_MODULE_PATH = MODULE_PATH.replace(/\.wasm$/, "-hold.wasm");

describe.each([
  { what: "the built module", path: MODULE_PATH, exports: EXPORTS, maxBytes: 64 * 1024 },
  { what: "the module that holds answers", path: HOLD_MODULE_PATH, exports: HOLD_EXPORTS, maxBytes: 32 * 1024 },
])("$what", ({ path, exports, maxBytes }) => {
  let bytes: Buffer;
  let module: WebAssembly.Module;

  beforeAll(() => {
    bytes = readFileSync(path);
    module = new WebAssembly.Module(bytes);
  });

  it("imports only env.proxy_* and random_get", () => {
    const imports = WebAssembly.Module.imports(module).map((one) => `${one.kind} ${one.module}.${one.name}`);
    const allowed = /^function (env\.proxy_\w+|wasi_snapshot_preview1\.random_get)$/;
    expect(imports.filter((one) => !allowed.test(one))).toEqual([]);
  });

  it("exports only what Envoy or the module uses", () => {
    const exported = WebAssembly.Module.exports(module).map(({ name }) => name);
    expect(exported.filter((name) => !Object.hasOwn(exports, name))).toEqual([]);
    expect(exported).toEqual(expect.arrayContaining(REQUIRED));
  });

  it(`is smaller than ${maxBytes} bytes`, () => {
    expect(bytes.length).toBeLessThan(maxBytes);
  });

  it("has no start section", () => {
    expect(sectionIds(bytes)).not.toContain(START_SECTION);
  });
});

/** Ids of a module's sections: after the 8-byte header each has an id, a LEB128 size and its content. */
function sectionIds(bytes: Uint8Array): number[] {
  const ids: number[] = [];
  for (let at = 8; at < bytes.length; ) {
    ids.push(bytes[at] ?? 0);
    let size = 0;
    let byte = 0x80;
    for (let shift = 0; byte >= 0x80; shift += 7) {
      byte = bytes[++at] ?? 0;
      size += (byte & 0x7f) * 2 ** shift;
    }
    at += 1 + size;
  }
  return ids;
}
