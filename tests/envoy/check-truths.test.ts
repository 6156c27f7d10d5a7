// What a check says happens, happens on a real Envoy with the failing example of its page, and not with the mended one.

import http, { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { parse, stringify } from "yaml";
import { describe, expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { EnvoyProcess } from "../../tools/envoy/process.js";
import { bootstrapOf, pages } from "../check/examples.js";
import { send, type ClientRequest, type ClientResponse } from "../support/client.js";
import { ExtProcServer } from "../support/ext-proc/server.js";
import { WASM } from "../support/lowering.js";
import { CERTIFICATES, TlsProviders } from "../support/tls-providers.js";

type Fields = Record<string, unknown>;

interface Run {
  get: (request?: Partial<ClientRequest>) => Promise<ClientResponse>;
  /** What the upstreams saw. */
  seen: { cluster: string; request: IncomingMessage }[];
}

interface Setup {
  /** Laid over the example. */
  over?: Fields;
  upstreams?: Record<string, RequestListener>;
  /** Ports of clusters that somebody else serves. */
  ports?: Record<string, number>;
  /** What is done to the text of the bootstrap. */
  change?: (text: string) => string;
  /** The times of the example are divided by it. */
  faster?: number;
}

const { oracle, versions } = await envoyVersions();

const answer =
  (status: number, headers: Record<string, string> = {}): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status, headers).end(String(status));
  };
const good = answer(200);
const hang: RequestListener = (request) => void request.resume();
const hops = ({ seen }: Run): string[] => seen.map(({ cluster }) => cluster);

describe.each(versions)("Envoy %s", (version) => {
  /** Runs a check's failing and mended example. */
  async function both(code: string, setup: Setup, use: (run: Run, found: boolean) => Promise<void>): Promise<void> {
    const page = pages().find((one) => one.code === code);
    for (const found of [true, false]) {
      const example = (found ? page?.failing : page?.mended) ?? "";
      await serving(version, example, setup, (run) => use(run, found));
    }
  }

  test("retry-budget-of-chain", async () => {
    const waiting: ServerResponse[] = [];
    const overloaded: RequestListener = (_, response) => {
      waiting.push(response);
      if (waiting.length === 20) for (const one of waiting.splice(0)) one.writeHead(429).end();
    };
    await both("retry-budget-of-chain", { upstreams: { a: overloaded, b: good } }, async ({ get }, found) => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => get()));
      const failed = answers.filter(({ status }) => status === 429).length;
      expect(failed > 0, `${failed} of 20 failed`).toBe(found);
    });
  });

  test("idle-timeout-ends-attempts", async () => {
    const setup = { upstreams: { a: hang, b: good }, faster: 20 };
    await both("idle-timeout-ends-attempts", setup, async (run, found) => {
      const { status } = await run.get();
      expect([status, hops(run)]).toEqual(found ? [504, ["a"]] : [200, ["a", "b"]]);
    });
  });

  test("timeout-cuts-stream", async () => {
    const stream: RequestListener = (_, response) => {
      response.writeHead(200).write("begin");
      setTimeout(() => response.end("end"), 1200);
    };
    const setup = { upstreams: { a: stream, b: stream }, faster: 50 };
    await both("timeout-cuts-stream", setup, async ({ get }, found) => {
      const { status, body } = await get();
      expect([status, body]).toEqual(found ? [null, ""] : [200, "beginend"]);
    });
  });

  test("endless-stream", async () => {
    const silent: RequestListener = (_, response) => void response.writeHead(200).write("begin");
    const [failing, mended] = [pages().find(({ code }) => code === "endless-stream")].flatMap((page) => [
      page?.failing ?? "",
      page?.mended ?? "",
    ]);
    const setup = { upstreams: { a: silent, b: silent }, faster: 40 };
    await serving(version, failing ?? "", setup, async ({ get, seen }) => {
      let ended = false;
      void get().then(() => (ended = true));
      await serving(version, mended ?? "", setup, async (other) => {
        expect((await other.get()).status).toBe(null);
      });
      expect([ended, seen.length > 0]).toEqual([false, true]);
    });
  });

  test("small-buffer-filter", async () => {
    await both("small-buffer-filter", { upstreams: { a: good, b: good } }, async (run, found) => {
      const { status } = await run.get({ method: "POST", body: "x".repeat(10_000) });
      expect([status, hops(run)]).toEqual(found ? [413, []] : [200, ["a"]]);
    });
  });

  test("certificate-not-checked", async () => {
    // Its certificate is for b.example, and the cluster wants a.example.
    const providers = await TlsProviders.start(["b"]);
    const setup = {
      upstreams: { b: answer(299) },
      ports: { a: providers.port("b") },
      change: (text: string) => text.replace("/etc/ssl/certs/ca-certificates.crt", `${CERTIFICATES}authority.pem`),
    };
    await both("certificate-not-checked", setup, async ({ get }, found) => {
      const { status } = await get({ headers: { host: "test", "x-answers": "200" } });
      expect([status, providers.take().length]).toEqual(found ? [200, 1] : [299, 0]);
    });
    await providers.close();
  });

  test("redirect-takes-headers", async () => {
    const upstreams = { a: answer(302, { location: "http://elsewhere.test/internal" }), b: good, c: good };
    const setup = { upstreams, over: { clusters: { a: setting("authorization", "key of a") } } };
    await both("redirect-takes-headers", setup, async (run, found) => {
      const { status } = await run.get();
      const keys = run.seen.map(({ cluster, request }) => [cluster, request.headers.authorization]);
      expect([status, ...keys]).toEqual(found ? [200, ["a", "key of a"], ["c", "key of a"]] : [302, ["a", "key of a"]]);
    });
  });

  test("client-sent-attempt-count", async () => {
    const setup = { upstreams: { a: good, b: good }, over: { groups: { one: ["a", 1, "b", 1], two: ["c"] } } };
    await both("client-sent-attempt-count", setup, async (run, found) => {
      for (const count of ["0", "1"]) await run.get({ headers: headersOf({ "x-envoy-attempt-count": count }) });
      const [first, second] = hops(run);
      expect(first !== second).toBe(found);
    });
  });

  test("override-written-late", async () => {
    const processor = await ExtProcServer.start(() => ({ "my.groups": { priority_groups: [{ name: "two" }] } }));
    const setup = { upstreams: { a: good, b: good }, ports: { processor: processor.port } };
    await both("override-written-late", setup, async (run, found) => {
      await run.get({ method: "POST", body: "x" });
      expect(hops(run)).toEqual([found ? "a" : "b"]);
    });
    processor.stop();
  });
});

const headersOf = (headers: Record<string, string>): Record<string, string> => ({
  host: "test",
  "x-session": "1",
  ...headers,
});

/** Native on the version that has priority groups; lowered on the others, and where a filter chooses the chain without clearing the route cache. */
async function serving(
  version: string,
  example: string,
  setup: Setup,
  use: (run: Run) => Promise<void>,
): Promise<void> {
  const { over = {}, upstreams = {}, ports = {}, change = (text) => text, faster = 1 } = setup;
  const seen: Run["seen"] = [];
  const servers = await Promise.all(Object.entries(upstreams).map(([name, listener]) => listen(name, listener, seen)));
  const known = { ...Object.fromEntries(servers.map(({ name, port }) => [name, port])), ...ports };
  const native = local(change(bootstrapOf({ ...(parse(example) as Fields), ...over })), known, faster);
  const isNative = version === oracle && !native.includes("override_metadata_namespace");
  const text = isNative ? native : lower(native, { file: "example.yaml", wasm: WASM }).text;
  try {
    const envoy = await EnvoyProcess.start(version, text);
    const base = { protocol: "http1", method: "GET", path: "/v1", headers: headersOf({}), body: "" } as const;
    const get: Run["get"] = (request) => send({ ...base, port: envoy.port("in"), ...request });
    await use({ get, seen }).finally(() => envoy.stop());
  } finally {
    for (const { server } of servers) {
      server.close();
      server.closeAllConnections();
    }
  }
}

async function listen(
  name: string,
  listener: RequestListener,
  seen: Run["seen"],
): Promise<{ name: string; port: number; server: http.Server }> {
  const server = http.createServer((request, response) => {
    seen.push({ cluster: name, request });
    listener(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { name, port: (server.address() as AddressInfo).port, server };
}

interface Bootstrap {
  admin: Fields;
  static_resources: { listeners: Fields[]; clusters: { name: string; load_assignment: Fields }[] };
}

const TIMES = /^(timeout|idle_timeout|stream_idle_timeout|per_try_timeout)$/;

/** Free ports, those of the upstreams, and shorter times. */
function local(text: string, ports: Record<string, number>, faster: number): string {
  const config = parse(text, (key, value: unknown) => {
    const time = typeof value === "string" && TIMES.test(String(key)) && /^\d+s$/.test(value);
    return time ? `${parseInt(value) / faster}s` : value;
  }) as Bootstrap;
  const at = (port_value: number): Fields => ({ socket_address: { address: "127.0.0.1", port_value } });
  config.admin = { address: at(0) };
  for (const listener of config.static_resources.listeners) listener["address"] = at(0);
  for (const { name, load_assignment } of config.static_resources.clusters) {
    const port = ports[name];
    if (port !== undefined) load_assignment["endpoints"] = [{ lb_endpoints: [{ endpoint: { address: at(port) } }] }];
  }
  return stringify(config, { aliasDuplicateObjects: false });
}

/** Fields of a cluster whose upstream filter sets a header. */
function setting(key: string, value: string): Fields {
  const type = "type.googleapis.com/envoy.extensions";
  const append = { header: { key, value }, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" };
  const mutation = {
    "@type": `${type}.filters.http.header_mutation.v3.HeaderMutation`,
    mutations: { request_mutations: [{ append }] },
  };
  const codec = { "@type": `${type}.filters.http.upstream_codec.v3.UpstreamCodec` };
  return {
    typed_extension_protocol_options: {
      "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": `${type}.upstreams.http.v3.HttpProtocolOptions`,
        explicit_http_config: { http_protocol_options: {} },
        http_filters: [
          { name: "set", typed_config: mutation },
          { name: "codec", typed_config: codec },
        ],
      },
    },
  };
}
