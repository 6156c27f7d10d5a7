import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { InputError } from "../../cli/findings.js";
import { ACCESS_LOG, nativeBootstrap, type AccessLogLine } from "./bootstrap.js";
import { listenersOf, type Case, type Expectation, type Outcome, type RequestSpec } from "./case.js";
import { send, type ClientResponse } from "./client.js";
import { EnvoyProcess, EnvoyStartError } from "../../tools/envoy/process.js";
import { awaitRound, PROBE_LISTENER } from "./availability.js";
import { REQUEST_ID_HEADER, Upstreams, type Hop } from "./upstreams.js";
import { waitFor } from "../../tools/wait.js";

/** One request as client and upstreams saw it, without what differs from run to run. */
export interface Trace {
  response: ClientResponse;
  hops: Hop[];
  log: AccessLogLine[];
}

/** What one Envoy did with all requests of a case. */
export interface LegResult {
  expect: Expectation[] | "rejected";
  stats: Record<string, number>;
  /** One list per request, with one trace per repetition. */
  traces: Trace[][];
  /** What Envoy logged, and the configuration it ran, for a failure's message. */
  log: string;
  config: string;
}

/** Turns the native bootstrap into the one to run; throws when the configuration is wrong. */
export type Transform = (bootstrap: string) => string | Promise<string>;

/** Runs a case on Envoy `version` with upstreams of its own. */
export async function runLeg(test: Case, version: string, transform?: Transform): Promise<LegResult> {
  const upstreams = await Upstreams.start(test.upstreams);
  try {
    const native = nativeBootstrap(test, upstreams);
    return test.expect === "rejected"
      ? await reject(version, native, transform)
      : await run(test, version, upstreams, (await transform?.(native)) ?? native);
  } finally {
    await upstreams.close();
  }
}

/** Whether Envoy refuses the native configuration, or `lower` does: an InputError, since anything else is a defect of ours. */
async function reject(version: string, native: string, transform: Transform | undefined): Promise<LegResult> {
  let config = native;
  try {
    config = (await transform?.(native)) ?? native;
    const envoy = await EnvoyProcess.start(version, config);
    await envoy.stop();
    return { expect: [], stats: {}, traces: [], log: `Envoy started:\n${envoy.log}`, config };
  } catch (error) {
    const isRefusal =
      transform === undefined ? error instanceof EnvoyStartError && error.refused : error instanceof InputError;
    if (!isRefusal) throw error;
    return { expect: "rejected", stats: {}, traces: [], log: (error as Error).message, config };
  }
}

async function run(test: Case, version: string, upstreams: Upstreams, config: string): Promise<LegResult> {
  const envoy = await EnvoyProcess.start(version, config);
  const responses: ClientResponse[][] = [];
  const stats: Record<string, number> = {};
  let lines: AccessLogLine[] = [];
  try {
    await knowsHosts(envoy, config);
    for (const [index, request] of test.requests.entries()) {
      responses.push(await sendAll(test, request, index, envoy, upstreams));
    }
    for (const name of test.observe?.stats ?? []) stats[name] = await envoy.admin.stat(name);
    await clientsAreGone(envoy, test);
  } finally {
    lines = (await envoy.stop(readAccessLog)) ?? [];
  }
  const traces = responses.map((list, i) => list.map((response, k) => traceOf(response, idOf(i, k), upstreams, lines)));
  const expect = traces.map((list, i) =>
    summarize(
      list.map((trace) => outcomeOf(trace, test, i)),
      test.requests[i],
    ),
  );
  return { expect, stats, traces, log: envoy.log, config };
}

/** Waits until the module, if it has to, has asked about every cluster. */
async function knowsHosts(envoy: EnvoyProcess, config: string): Promise<void> {
  if (config.includes(PROBE_LISTENER)) await awaitRound(envoy.admin);
}

/** Waits until Envoy has seen the clients close their connections, which the access log would otherwise blame on its end. */
async function clientsAreGone(envoy: EnvoyProcess, test: Case): Promise<void> {
  for (const { name } of listenersOf(test)) {
    await envoy.admin.waitForStat(`http.${name}.downstream_cx_active`, (count) => count === 0);
  }
}

async function sendAll(
  test: Case,
  request: RequestSpec,
  index: number,
  envoy: EnvoyProcess,
  upstreams: Upstreams,
): Promise<ClientResponse[]> {
  const port = envoy.port(request.listener ?? listenersOf(test)[0]?.name ?? "");
  const responses: ClientResponse[] = [];
  for (let k = 0; k < (request.repeat ?? 1); k++) {
    const id = idOf(index, k);
    responses.push(await send({ ...clientRequest(request, id), port }));
    const hops = request.await_hops ?? 0;
    await waitFor(`${hops} upstream requests`, () => upstreams.hopsOf(id).length >= hops);
  }
  return responses;
}

// A host without the listener's port, which is another one in each run.
const DEFAULT_HOST = "case.test";

function idOf(request: number, repetition: number): string {
  return `${request}-${repetition}`;
}

function clientRequest(spec: RequestSpec, id: string): Omit<Parameters<typeof send>[0], "port"> {
  const headers: Record<string, string | string[]> = { host: DEFAULT_HOST, [REQUEST_ID_HEADER]: id };
  for (const [name, value] of Object.entries(spec.headers ?? {})) {
    headers[name] = Array.isArray(value) ? value.map((line) => String(line ?? "")) : String(value ?? "");
  }
  const body = spec.body ?? "x".repeat(spec.body_size ?? 0);
  const protocol = spec.protocol ?? "http1";
  const isPost = body !== "" && protocol !== "websocket";
  return { protocol, method: spec.method ?? (isPost ? "POST" : "GET"), path: spec.path ?? "/", headers, body };
}

async function readAccessLog(directory: string): Promise<AccessLogLine[]> {
  const text = await readFile(join(directory, ACCESS_LOG), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as AccessLogLine);
}

function traceOf(response: ClientResponse, id: string, upstreams: Upstreams, lines: AccessLogLine[]): Trace {
  return { response, hops: upstreams.hopsOf(id), log: lines.filter((line) => line.id === id) };
}

function outcomeOf(trace: Trace, test: Case, index: number): Outcome {
  const { response, hops, log } = trace;
  const observe = test.observe ?? {};
  const isGrpc = test.requests[index]?.protocol === "grpc";
  const mirrored = hops.filter(isMirrored).map((hop) => hop.upstream);
  const direct = hops.filter((hop) => !isMirrored(hop));
  const outcome: Outcome = {
    status: response.status,
    served_by: response.headers["x-served-by"] ?? null,
    hops: direct.map((hop) => hop.upstream),
  };
  if (mirrored.length > 0) outcome.mirrored = mirrored.sort();
  if (response.error !== undefined) outcome.error = response.error;
  if (isGrpc) outcome.grpc_status = response.trailers["grpc-status"] ?? response.headers["grpc-status"] ?? "";
  if (observe.body === true) outcome.body = abridged(response.body);
  if (observe.flags === true) outcome.flags = log.map((line) => line.flags);
  if (observe.details === true) outcome.details = log.map((line) => line.details ?? "");
  if (observe.cluster === true) outcome.cluster = log.map((line) => line.cluster ?? "");
  if (observe.response_headers) outcome.response_headers = pick(response.headers, observe.response_headers);
  const names = observe.upstream_headers;
  if (names) outcome.upstream_headers = direct.map((hop) => pick(headersOf(hop), names));
  return outcome;
}

// Envoy marks a mirrored request by its authority.
function isMirrored(hop: Hop): boolean {
  return hop.headers.some(
    ([name, value]) => (name === "host" || name === ":authority") && /-shadow(:\d+)?$/.test(value),
  );
}

function headersOf(hop: Hop): Record<string, string> {
  const headers: Record<string, string> = { ":path": hop.path, ":method": hop.method };
  for (const [name, value] of hop.headers)
    headers[name] = headers[name] === undefined ? value : `${headers[name]},${value}`;
  return headers;
}

function pick(values: Record<string, string>, names: string[]): Record<string, string | null> {
  return Object.fromEntries(names.map((name) => [name, values[name] ?? null]));
}

function abridged(text: string): string {
  return text.length <= 80 ? text : `${text.length} bytes`;
}

function summarize(outcomes: Outcome[], request: RequestSpec | undefined): Expectation {
  const [first] = outcomes;
  if (first === undefined) throw new Error("repeat must be at least 1");
  if (request?.compare === "set") {
    const distinct = new Map(outcomes.map((outcome) => [JSON.stringify(outcome), outcome]));
    return { any_of: [...distinct.keys()].sort().map((key) => distinct.get(key) ?? first) };
  }
  return outcomes.every((outcome) => isDeepStrictEqual(outcome, first)) ? first : { each: outcomes };
}

// Written by clock or chance, or differently on purpose (the attempt header is how a lowered route learns the attempt).
const VOLATILE = new Set([
  "x-request-id",
  "date",
  "x-envoy-upstream-service-time",
  "x-envoy-expected-rq-timeout-ms",
  "x-envoy-attempt-count",
]);

// What `cluster_selection: HEADER` sends upstream on purpose.
const OWN_HEADERS = "x-attempt-router-";

/** The traces of a leg in a form that equal behaviour makes equal: bodies, headers, trailers and access log included. */
export function comparableTraces(test: Case, result: LegResult): unknown[] {
  const isSet = (index: number) => test.requests[index]?.compare === "set";
  return result.traces
    .filter((_, index) => !isSet(index))
    .flat()
    .map(comparableTrace);
}

function comparableTrace({ response, hops, log }: Trace): unknown {
  // The cluster only where a case records it: that of a redirected request differs.
  const lines = log.map((line) => ({
    ...line,
    cluster: undefined,
    route: line.route?.replace(/@ar-[0-9a-f]{32}$/, "") ?? "",
  }));
  const seen = hops.map(({ upstream, method, path, headers, body }) => {
    const kept = headers
      .filter(([name]) => !VOLATILE.has(name) && !name.startsWith(OWN_HEADERS))
      .map((field) => field.join(": "));
    return { upstream, method, path, headers: kept.sort(), body: abridged(body) };
  });
  const byName = (a: { upstream: string }, b: { upstream: string }) => (a.upstream < b.upstream ? -1 : 1);
  // A mirrored copy races with the request itself.
  const ordered = hops.some(isMirrored) ? seen.sort(byName) : seen;
  const headers = Object.entries(response.headers).filter(([name]) => !VOLATILE.has(name));
  return {
    ...response,
    headers: Object.fromEntries(headers),
    body: abridged(response.body),
    hops: ordered,
    log: lines,
  };
}
