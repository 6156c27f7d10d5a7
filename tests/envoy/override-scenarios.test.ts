import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { localize } from "../../tools/envoy/localize.js";
import { EnvoyProcess } from "../../tools/envoy/process.js";
import { send } from "../support/client.js";
import { ExtProcServer } from "../support/ext-proc/server.js";
import { WASM } from "../support/lowering.js";
import { REQUEST_ID_HEADER, Upstreams } from "../support/upstreams.js";

const { oracle, versions } = await envoyVersions();
const legs = [
  { name: `native ${oracle}`, version: oracle, native: true },
  ...versions.map((version) => ({ name: `lowered ${version}`, version, native: false })),
];

let upstreams: Upstreams;
let processor: ExtProcServer;
let requests = 0;

beforeAll(async () => {
  upstreams = await Upstreams.start({ provider_a: 503, provider_b: 503, provider_b_backup: 503 });
  processor = await ExtProcServer.start(chainFor);
});

afterAll(async () => {
  processor.stop();
  await upstreams.close();
});

const PREFERS_B = [/^provider_b(_backup)?$/, /^provider_a$/];
const CONFIGURED = [/^provider_a$/, /^provider_b$/];

describe.each(legs)("$name", ({ version, native }) => {
  test("per-request-chain-lua: a Lua filter reads the chain from a header", async () => {
    await onEnvoy("per-request-chain-lua", version, native, async (envoy) => {
      await expectHops(envoy, { headers: { "x-prefer": "provider_b" } }, PREFERS_B);
      await expectHops(envoy, {}, CONFIGURED);
    });
  });

  test("per-request-chain-ext-proc: an external processor answers with the chain", async () => {
    await onEnvoy("per-request-chain-ext-proc", version, native, async (envoy) => {
      await expectHops(envoy, { headers: { "x-tenant": "prefers-b" } }, PREFERS_B);
      await expectHops(envoy, { headers: { "x-tenant": "other" } }, CONFIGURED);
      await expectHops(envoy, { headers: { "x-tenant": "broken" } }, CONFIGURED);
    });
  });

  test("per-request-chain-by-model: the model of a JSON body chooses the chain", async () => {
    await onEnvoy("per-request-chain-by-model", version, native, async (envoy) => {
      await expectHops(envoy, json({ model: "large-2" }), PREFERS_B);
      await expectHops(envoy, json({ model: "small" }), [/^provider_a$/, /^provider_a$/]);
      await expectHops(envoy, json({ model: "other" }), CONFIGURED);
      await expectHops(envoy, json({ messages: [] }), CONFIGURED);
      await expectHops(envoy, { headers: { "content-type": "application/json" }, body: "{" }, CONFIGURED);
    });
  });
});

/** The chain of a tenant; a broken answer must leave the configured one. */
function chainFor(headers: ReadonlyMap<string, string>) {
  const clusters = [
    { cluster_name: "provider_b", weight: 20 },
    { cluster_name: "provider_b_backup", weight: 80 },
  ];
  switch (headers.get("x-tenant")) {
    case "prefers-b":
      return { "envoy.my_filter": { priority_groups: [{ name: "provider_b", clusters }, { name: "provider_a" }] } };
    case "broken":
      return { "envoy.my_filter": { priority_groups: "provider_b" } };
    default:
      return undefined;
  }
}

async function onEnvoy(
  scenario: string,
  version: string,
  native: boolean,
  run: (envoy: EnvoyProcess) => Promise<void>,
): Promise<void> {
  const file = new URL(`../../envoy-config/${scenario}/native.yaml`, import.meta.url);
  const text = readFileSync(file, "utf8");
  const config = native ? text : lower(text, { file: file.pathname, wasm: WASM }).text;
  const envoy = await EnvoyProcess.start(version, localize(config, { hosts: hosts() }));
  try {
    await run(envoy);
  } finally {
    await envoy.stop();
  }
}

function hosts(): Record<string, number> {
  const names = Object.keys(upstreams.specs);
  const ports = names.map((name) => [name.replaceAll("_", "-"), upstreams.port(name)] as const);
  return { ...Object.fromEntries(ports), "chain-chooser": processor.port };
}

interface Request {
  headers?: Record<string, string>;
  body?: string;
}

function json(body: object): Request {
  return { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

async function expectHops(envoy: EnvoyProcess, request: Request, expected: RegExp[]): Promise<void> {
  const id = String(++requests);
  const headers = { host: "gateway.test", [REQUEST_ID_HEADER]: id, ...request.headers };
  const body = request.body ?? "";
  const method = body === "" ? "GET" : "POST";
  const sent = { port: envoy.port("ingress"), protocol: "http1", method, path: "/v1/messages", headers, body } as const;
  const response = await send(sent);
  expect(response.status).toBe(503);
  const hops = upstreams.hopsOf(id).map((hop) => hop.upstream);
  expect(hops).toEqual(expected.map((name) => expect.stringMatching(name) as unknown));
  expect(upstreams.hopsOf(id).every((hop) => hop.body === body)).toBe(true);
}
