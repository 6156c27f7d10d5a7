// Runs the tests of a file on a real Envoy, with the lowered config and stand-ins for its upstreams.

import http from "node:http";
import { stringify, parse } from "yaml";
import { lower } from "../lower.js";
import type { Json, JsonMessage } from "../model/index.js";
import { differences, type Observed } from "./compare.js";
import { TestEnvoy } from "./envoy-process.js";
import type { RouteTest, TestFile } from "./file.js";
import { localConfig, upstreamsOf } from "./local-config.js";
import type { TestResult } from "./run.js";
import { StandIns, TEST_HEADER } from "./stand-ins.js";

/** Stands in configs whose module asks which clusters have a host. */
const PROBE = "attempt_router_probe";

/** Requests for the shares of attempt 1. */
const SAMPLES = 500;

/**
 * The results of a file's tests; `text` is the native config.
 * @throws InputError where the config cannot be lowered
 * @throws EnvoyError where Envoy does not start with it
 */
export async function runOnEnvoy(binary: string, { file, tests }: TestFile, text: string): Promise<TestResult[]> {
  const results: TestResult[] = [];
  for (const group of groupsOf(tests)) results.push(...(await runGroup(binary, file, group, text)));
  const order = new Map(tests.map((test, index) => [test.line, index]));
  return results.sort((a, b) => (order.get(a.line) ?? 0) - (order.get(b.line) ?? 0));
}

/** Tests with the same clusters down and the same metadata share an Envoy. */
function groupsOf(tests: readonly RouteTest[]): RouteTest[][] {
  const groups = new Map<string, RouteTest[]>();
  for (const test of tests) {
    const key = JSON.stringify([reasonToSkip(test) !== undefined, test.down, test.request.metadata]);
    groups.set(key, [...(groups.get(key) ?? []), test]);
  }
  return [...groups.values()];
}

function reasonToSkip({ answers, request, skipEnvoy }: RouteTest): string | undefined {
  if (skipEnvoy !== undefined) return skipEnvoy;
  if (request.random !== undefined) return "Envoy takes no random value from outside";
  const refused = [...answers.values()].some((list) => list.some(({ kind }) => kind === "refused"));
  return refused ? "a stand-in cannot refuse single connections" : undefined;
}

async function runGroup(
  binary: string,
  file: string,
  tests: readonly RouteTest[],
  text: string,
): Promise<TestResult[]> {
  const [first] = tests;
  if (first === undefined) return [];
  const reason = reasonToSkip(first);
  if (reason !== undefined) {
    return tests.map((test) => ({
      file,
      line: test.line,
      name: test.name,
      failures: [],
      skipped: reasonToSkip(test) ?? reason,
    }));
  }
  const native = withMetadata(text, first.request.metadata);
  const lowered = lower(native, { file }).text;
  const standIns = new StandIns();
  const ports = new Map<string, number>();
  for (const { name, usesHttp2 } of upstreamsOf(lowered)) ports.set(name, await standIns.listen(name, usesHttp2));
  const down = new Set(first.down);
  const config = (admin: string): string => localConfig(lowered, { port: (name) => ports.get(name), down, admin });
  const envoy = await TestEnvoy.start(binary, config).catch(async (error: unknown) => {
    await standIns.close();
    throw error;
  });
  try {
    if (lowered.includes(PROBE)) await envoy.knowsHosts();
    const results: TestResult[] = [];
    for (const test of tests) results.push(await runOne(file, test, envoy, standIns));
    return results;
  } finally {
    await envoy.stop();
    await standIns.close();
  }
}

async function runOne(file: string, test: RouteTest, envoy: TestEnvoy, standIns: StandIns): Promise<TestResult> {
  const place = { file, line: test.line, name: test.name };
  const named = test.listener ?? [...envoy.ports.keys()].find((name) => !name.startsWith("attempt_router"));
  const port = envoy.ports.get(named ?? "");
  if (port === undefined) return { ...place, failures: [`Envoy has no listener ${JSON.stringify(named ?? "")}`] };
  const send = async (id: string): Promise<Observed> => {
    standIns.begin(id, test.answers);
    const status = await sendRequest(test, port, id);
    return { status, attempts: standIns.attemptsOf(id) };
  };
  const observed = await send(`${test.line}`);
  if (test.expect.firstAttempt === undefined) return { ...place, failures: differences(test.expect, observed) };
  const counts = new Map<string, number>();
  for (let i = 0; i < SAMPLES; i++) {
    const first = (await send(`${test.line}/${i}`)).attempts?.[0] ?? "";
    counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  const firstAttempt = Object.fromEntries([...counts].map(([name, count]) => [name, count / SAMPLES]));
  // Five standard deviations of a share of one half.
  const tolerance = 2.5 / Math.sqrt(SAMPLES);
  return { ...place, failures: differences(test.expect, { ...observed, firstAttempt, tolerance }) };
}

function sendRequest({ request }: RouteTest, port: number, id: string): Promise<number> {
  const { method, path, host, body } = request;
  const headers: Record<string, string | string[]> = { host, [TEST_HEADER]: id };
  for (const [name, value] of request.headers) {
    const before = headers[name];
    headers[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
  }
  return new Promise((resolve, reject) => {
    const sent = http.request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode ?? 0));
      answer.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const FILTERS = "type.googleapis.com/envoy.extensions.filters.http";

/** Lets stock filters write the metadata of a test, where the config has no filter that could write it itself. */
function withMetadata(text: string, metadata: Readonly<Record<string, JsonMessage>>): string {
  const entries = Object.entries(metadata);
  if (entries.length === 0) return text;
  const root = parse(text) as Json;
  const filters = [
    {
      name: "test_metadata",
      typed_config: {
        "@type": `${FILTERS}.set_metadata.v3.Config`,
        metadata: entries.map(([metadata_namespace, value]) => ({
          metadata_namespace,
          ...("@type" in value ? { typed_value: value } : { value }),
        })),
      },
    },
    {
      name: "test_clear",
      typed_config: {
        "@type": `${FILTERS}.lua.v3.Lua`,
        default_source_code: { inline_string: "function envoy_on_request(h) h:clearRouteCache() end" },
      },
    },
  ];
  visit(root, (message) => {
    const list = message["http_filters"];
    if (Array.isArray(list) && list.length === 1 && "route_config" in message)
      message["http_filters"] = [...filters, ...list];
  });
  return stringify(root, { aliasDuplicateObjects: false, compat: "yaml-1.1" });
}

function visit(value: Json, change: (message: JsonMessage) => void): void {
  if (value === null || typeof value !== "object") return;
  if (!Array.isArray(value)) change(value);
  for (const child of Object.values(value)) visit(child, change);
}
