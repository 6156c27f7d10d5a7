// A world of chains on a real Envoy, compared with the model request by request.

import * as http from "node:http";
import { once } from "node:events";
import { isDeepStrictEqual } from "node:util";
import { InputError } from "../../../cli/findings.js";
import { EnvoyProcess } from "../../../tools/envoy/process.js";
import { nativeBootstrap } from "../../support/bootstrap.js";
import type { Config } from "../../support/case.js";
import { lua } from "../../support/config.js";
import { lowered } from "../../support/lowering.js";
import { REQUEST_ID_HEADER, Upstreams, type Hop as SeenHop } from "../../support/upstreams.js";
import type { World, WorldRequest } from "./generate.js";
import { AUDIT_HEADER, outcomes, seen, TIMEOUT_HEADER, UPSTREAMS, type Outcome } from "./outcome.js";

const CONCURRENT = 12;
/** Fields of metadata by the headers that the filter reads them from. */
const METADATA = `function envoy_on_request(h)
  local metadata = h:streamInfo():dynamicMetadata()
  local function read(name) return h:headers():get(name) end
  if read("x-m-tier") then metadata:set("app", "tier", read("x-m-tier")) end
  if read("x-m-n") then metadata:set("app", "n", tonumber(read("x-m-n"))) end
  if read("x-m-flag") then metadata:set("app", "flag", read("x-m-flag") == "true") end
  if read("x-m-deep") then metadata:set("app", "deep", {tier = read("x-m-deep")}) end
end`;

/** A request that did something that the model does not allow. */
export interface Difference {
  request: WorldRequest;
  expected: Outcome[];
  found: Outcome;
}

/** Upstreams for many worlds. */
export function startUpstreams(): Promise<Upstreams> {
  const reply = (status: number) => ({ status, headers: { "x-t": "up" } });
  return Upstreams.start(Object.fromEntries(Object.entries(UPSTREAMS).map(([name, status]) => [name, reply(status)])));
}

/** The bootstrap of a world. */
export function worldBootstrap(world: World, upstreams: Upstreams): string {
  const breakers = { thresholds: [{ max_retries: 1000 }] };
  return nativeBootstrap(
    {
      file: "specifiers.yaml",
      name: "specifiers",
      about: "",
      upstreams: upstreams.specs,
      cluster_settings: Object.fromEntries(
        Object.keys(UPSTREAMS).map((name) => [name, { circuit_breakers: breakers }]),
      ),
      listeners: world.configs.map((route_config, i) => ({
        name: `l${i}`,
        route_config,
        http_filters: [lua(METADATA)],
      })),
      requests: [],
    },
    upstreams,
  );
}

/** The world without the specifiers that `lower` refuses; `onRefusal` is given each reason. */
export function acceptedWorld(
  world: World,
  upstreams: Upstreams,
  onRefusal: (message: string) => void,
): [World, string] {
  for (let current = structuredClone(world); ; ) {
    try {
      return [current, lowered(worldBootstrap(current, upstreams), "specifiers.yaml")];
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      const places = error.findings.map(({ path, message }) => {
        onRefusal(message);
        return placeOf(path, error);
      });
      current = without(current, places);
    }
  }
}

type Place = [listener: number, ...path: (string | number)[]];

/** Where the refused specifier stands, from its listener on. */
function placeOf(path: string, error: InputError): Place {
  const found = /listeners\[(\d+)\].*?route_config\.(.*?route_specifiers\[\d+\])/.exec(path);
  if (found === null) throw error;
  const steps = (found[2] ?? "").split(/[.[\]]+/).filter((step) => step !== "");
  return [Number(found[1]), ...steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step))];
}

function without(world: World, places: Place[]): World {
  const copy = structuredClone(world);
  const distinct = [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
  // Later elements of a list first, so that the places of the others stay.
  for (const [listener, ...path] of distinct.sort((a, b) => Number(b.at(-1)) - Number(a.at(-1)))) {
    const list = path.slice(0, -1).reduce<unknown>((at, step) => (at as Config)[step], copy.configs[listener]);
    (list as unknown[]).splice(Number(path.at(-1)), 1);
  }
  return copy;
}

/** What an Envoy of that version did otherwise than the model. */
export async function runWorld(
  world: World,
  config: string,
  version: string,
  upstreams: Upstreams,
): Promise<Difference[]> {
  const envoy = await EnvoyProcess.start(version, config);
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENT });
  upstreams.hops.length = 0;
  try {
    const answers = await sendAll(world.requests, envoy, agent);
    const hops = new Map<string, SeenHop[]>();
    for (const hop of upstreams.hops) hops.set(hop.id, [...(hops.get(hop.id) ?? []), hop]);
    return world.requests.flatMap((request, i) => {
      const expected = outcomes(world.configs[request.listener] ?? {}, { ...request, seed: 0n });
      const found = outcomeOf(answers[i] as Answer, hops.get(`${i}`) ?? []);
      return expected.some((one) => isDeepStrictEqual(one, comparable(found, one)))
        ? []
        : [{ request, expected, found }];
    });
  } finally {
    agent.destroy();
    await envoy.stop();
  }
}

interface Answer {
  status: number;
  headers: [string, string][];
  body: string;
}

async function sendAll(requests: WorldRequest[], envoy: EnvoyProcess, agent: http.Agent): Promise<Answer[]> {
  const answers: Answer[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < requests.length; i = next++) {
      const request = requests[i] as WorldRequest;
      answers[i] = await send(request, `${i}`, envoy.port(`l${request.listener}`), agent);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, worker));
  return answers;
}

async function send(request: WorldRequest, id: string, port: number, agent: http.Agent): Promise<Answer> {
  const { method, path } = request;
  const headers = { ...request.headers, ...metadataHeaders(request), [REQUEST_ID_HEADER]: id };
  const call = http.request({ host: "127.0.0.1", port, agent, method, path, headers: single(headers) });
  call.end();
  const [response] = (await once(call, "response")) as [http.IncomingMessage];
  let body = "";
  for await (const chunk of response) body += String(chunk);
  return { status: response.statusCode ?? 0, headers: pairs(response.rawHeaders), body };
}

function single(headers: Record<string, string | string[]>): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.length === 1 ? (value[0] as string) : value]),
  );
}

function metadataHeaders({ metadata }: WorldRequest): Record<string, string> {
  const { tier, n, flag, deep } = (metadata["app"] ?? {}) as Config;
  const values = { tier, n, flag, deep: (deep as Config | undefined)?.["tier"] };
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [`x-m-${name}`, String(value)]),
  );
}

function pairs(raw: string[]): [string, string][] {
  return raw.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), raw[i + 1] ?? ""]] : []));
}

function outcomeOf({ status, headers, body }: Answer, hops: SeenHop[]): Outcome {
  const response = linesOf(headers);
  const [first] = hops;
  const told = first && linesOf(first.headers)[TIMEOUT_HEADER]?.[0];
  const location = response["location"]?.[0];
  return {
    status,
    ...(location !== undefined && { location }),
    body,
    hops: hops.map((hop) => ({ upstream: hop.upstream, path: hop.path, lines: seen(linesOf(hop.headers)) })),
    // What has passed since the request came is less than a second.
    ...(told !== undefined && { timeout: Math.ceil(Number(told) / 1000) * 1000 }),
    response: { ...seen(response), ...(response[AUDIT_HEADER] && { [AUDIT_HEADER]: response[AUDIT_HEADER] }) },
  };
}

/** Without the body where the model says nothing of it. */
function comparable(found: Outcome, expected: Outcome): Outcome {
  const { body, ...rest } = found;
  return expected.body === undefined ? rest : { ...rest, ...(body !== undefined && { body }) };
}

function linesOf(headers: [string, string][]): Record<string, string[]> {
  const lines: Record<string, string[]> = {};
  for (const [name, value] of headers) (lines[name] ??= []).push(value);
  return lines;
}
