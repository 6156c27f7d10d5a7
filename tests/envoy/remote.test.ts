import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { lower, type FailurePolicy } from "../../cli/lower.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { localize } from "../../tools/envoy/localize.js";
import { afterEach, describe, expect, test } from "vitest";
import { WASM } from "../support/lowering.js";
import { Serving } from "../support/serving.js";

const NATIVE = readFileSync(
  fileURLToPath(new URL("../../envoy-config/cross-provider-fallback/native.yaml", import.meta.url)),
  "utf8",
);
const MODULE = readFileSync(WASM);
const SHA256 = createHash("sha256").update(MODULE).digest("hex");
const REPLIES = { "provider-a-model-1": 429, "provider-a-model-2": 503, "provider-b": 503, "provider-c": 200 };
const REQUESTS = 30;
const { versions } = await envoyVersions();
const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

/** An HTTP server that holds the module. */
class Store {
  fetches = 0;
  port = 0;
  /** Whether it closes every connection at once. It keeps its port, which somebody else would take. */
  down = false;
  private readonly server = createServer((_, response) => {
    this.fetches += 1;
    response.end(MODULE);
  });

  static async start(): Promise<Store> {
    const store = new Store();
    store.server.on("connection", (socket) => {
      if (store.down) socket.destroy();
    });
    store.server.listen(0, "127.0.0.1");
    await once(store.server, "listening");
    store.port = (store.server.address() as AddressInfo).port;
    open.push(store);
    return store;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

/** A file from which Envoy takes its listeners, as a DiscoveryResponse, whenever it is replaced. */
class ListenerFile {
  first: unknown;
  private version = 0;
  private readonly folder = mkdtempSync(join(tmpdir(), "attempt-router-lds-"));
  private readonly file = join(this.folder, "lds.json");

  /** Moves the listener of a bootstrap into the file. */
  take(text: string): string {
    const { static_resources: resources, ...rest } = parse(text) as {
      static_resources: { listeners: object[]; clusters: object[] };
    };
    this.first = { "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", ...resources.listeners[0] };
    this.write([this.first]);
    const lds_config = { path_config_source: { path: this.file }, resource_api_version: "V3" };
    const node = { id: "test", cluster: "test" };
    const static_resources = { clusters: resources.clusters };
    return JSON.stringify({ ...rest, node, dynamic_resources: { lds_config }, static_resources });
  }

  /** Envoy watches for a file that is moved into the place. */
  write(resources: unknown[]): void {
    const next = `${this.file}.next`;
    writeFileSync(next, JSON.stringify({ version_info: String(++this.version), resources }));
    renameSync(next, this.file);
  }

  stop(): void {
    rmSync(this.folder, { recursive: true });
  }
}

interface Options {
  sha256?: string;
  failurePolicy?: FailurePolicy;
  /** How often the module is asked for again; else as `lower` writes it. */
  retries?: number;
  /** Where the listener comes from; else from the bootstrap. */
  listeners?: ListenerFile;
}

/** Envoy with a config that fetches the module from the store on `port`. */
async function serve(version: string, port: number, options: Options = {}): Promise<Serving> {
  const { sha256 = SHA256, failurePolicy = "FAIL_OPEN", listeners, retries = 10 } = options;
  const { text } = lower(NATIVE, { wasmRemote: { url: "http://store/attempt-router.wasm", sha256 }, failurePolicy });
  const serving = await Serving.start(version, REPLIES, (upstreams) => {
    const hosts = Object.fromEntries(Object.keys(REPLIES).map((name) => [name, upstreams.port(name)]));
    const quick = text.replace("num_retries: 10", `num_retries: ${retries}`);
    const local = localize(quick, { hosts: { ...hosts, store: port } });
    return listeners?.take(local) ?? local;
  });
  open.push(serving);
  return serving;
}

/** The status of a number of requests, which is the same for all, and the providers that got their first attempts. */
async function outcome(serving: Serving): Promise<{ status: number | null; firsts: string[] }> {
  const statuses = new Set<number | null>();
  const firsts = new Set<string>();
  for (let i = 0; i < REQUESTS; i++) {
    const { response, hops } = await serving.get("/v1/messages");
    statuses.add(response.status);
    if (hops[0] !== undefined) firsts.add(hops[0]);
  }
  expect(statuses.size).toBe(1);
  return { status: [...statuses][0] ?? null, firsts: [...firsts].sort() };
}

// The second model is picked by the module only: without it, every first attempt takes the default.
const WITH_MODULE = { status: 200, firsts: ["provider-a-model-1", "provider-a-model-2"] };
const STATIC_CHAIN = { status: 200, firsts: ["provider-a-model-1"] };
const NO_SERVICE = { status: 503, firsts: [] };
const FAILURES: [FailurePolicy, typeof STATIC_CHAIN | typeof NO_SERVICE][] = [
  ["FAIL_OPEN", STATIC_CHAIN],
  ["FAIL_CLOSED", NO_SERVICE],
];

describe.each(versions)("Envoy %s", (version) => {
  test("fetches the module before it serves the first request", async () => {
    const store = await Store.start();
    const serving = await serve(version, store.port);
    expect(store.fetches).toBe(1);
    expect(await outcome(serving)).toEqual(WITH_MODULE);
    expect(store.fetches).toBe(1);
  });

  test("waits at start for a store that is late", async () => {
    const store = await Store.start();
    store.down = true;
    // Longer than Envoy's own two tries within a second.
    const opening = setTimeout(() => (store.down = false), 2_500);
    const serving = await serve(version, store.port);
    clearTimeout(opening);
    expect(await outcome(serving)).toEqual(WITH_MODULE);
  });

  test("fetches it again for no listener that comes later", async () => {
    const store = await Store.start();
    const listeners = new ListenerFile();
    open.push(listeners);
    const serving = await serve(version, store.port, { listeners });
    expect(await outcome(serving)).toEqual(WITH_MODULE);
    const { first } = listeners;
    listeners.write([first, { ...(first as object), name: "second" }]);
    await serving.envoy.admin.waitForStat("listener_manager.total_listeners_active", (count) => count === 2);
    expect(await serving.envoy.admin.stat("wasm.remote_load_cache_hits")).toBeGreaterThan(0);
    expect(store.fetches).toBe(1);
  });

  test.each(FAILURES)("takes no module of another digest: %s", async (failurePolicy, expected) => {
    const store = await Store.start();
    const serving = await serve(version, store.port, { sha256: "ab".repeat(32), failurePolicy, retries: 1 });
    expect(store.fetches).toBeGreaterThan(0);
    expect(await serving.envoy.admin.stat("wasm.remote_load_fetch_failures")).toBe(1);
    expect(await outcome(serving)).toEqual(expected);
  });

  test.each(FAILURES)("gives up at start while the store is down: %s", async (failurePolicy, expected) => {
    const store = await Store.start();
    store.down = true;
    const serving = await serve(version, store.port, { failurePolicy, retries: 1 });
    expect(serving.envoy.log).toContain("Retry limit exceeded");
    expect(await outcome(serving)).toEqual(expected);
    // Nothing asks again, not even when the store is back.
    store.down = false;
    expect(await outcome(serving)).toEqual(expected);
    expect(store.fetches).toBe(0);
  });
});
