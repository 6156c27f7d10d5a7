import { createHash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { WasmHost, type SimulatedRequest } from "../../cli/host/index.js";
import { SeededRandom } from "../../cli/host/random.js";
import { finalRoute, transformed, weightedPick, type ModelRequest, type ModelRoute } from "./route-specifiers.model.js";
import { MODULE } from "./routes.js";
import { specifiedRequest, specifier, type Levels } from "./specifier-routes.js";

const CHAINS = 2_000;
const REQUESTS = 10;
const HOST_SEED = 7;

const random = new SeededRandom(20_000);
const chance = (of: number): boolean => random.next() % of === 0;
const below = (limit: number): number => random.next() % limit;
const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
const some = <T>(make: () => T, most = 2): T[] => Array.from({ length: 1 + below(most) }, make);

const HEADERS = ["x-a", "x-b", "x-tenant"];
const WORDS = ["gold", "Gold", "go", "old", "a,b", "silver"];
const PATHS = ["/", "/api", "/api/v1", "/web?x=/api", "/a#frag", "/api?q=gold&q=go", "/?Q=1&q&x=old"];

function textMatch(words: readonly string[], canFold: boolean): JsonObject {
  const fold = canFold && chance(3) ? { ignore_case: true } : {};
  return { [pick(["exact", "prefix", "suffix", "contains"])]: pick(words), ...fold };
}

function headerMatcher(): JsonObject {
  const match = chance(3) ? (chance(2) ? {} : { present_match: chance(2) }) : { string_match: textMatch(WORDS, true) };
  return {
    name: pick(HEADERS),
    ...match,
    ...(chance(3) ? { invert_match: true } : {}),
    ...(chance(3) ? { treat_missing_header_as_empty: true } : {}),
  };
}

function parameterMatcher(): JsonObject {
  const match = chance(3) ? (chance(2) ? {} : { present_match: chance(2) }) : { string_match: textMatch(WORDS, true) };
  return { name: pick(["q", "x", "Q", "y"]), ...match };
}

function metadataMatcher(): JsonObject {
  const value = pick<() => JsonObject>([
    () => ({ string_match: textMatch(WORDS, true) }),
    () => ({ bool_match: chance(2) }),
    () => ({ double_match: chance(2) ? { exact: below(3) } : { range: { start: 0, end: 1 + below(2) } } }),
    () => ({ present_match: chance(2) }),
  ])();
  const path = pick([["tier"], ["n"], ["flag"], ["deep", "tier"], ["deep"], ["nil"], ["absent", "x"]]);
  return { namespace: pick(["app", "other"]), path, value, ...(chance(3) ? { invert: true } : {}) };
}

function condition(depth = 0): JsonObject {
  const parts: JsonObject = {};
  if (chance(4)) parts["route_resolved"] = chance(2);
  if (chance(4)) parts["methods"] = some(() => pick(["GET", "POST"]));
  if (chance(4)) parts["path"] = textMatch(["/", "/api", "/web", "v1", "/a"], false);
  if (chance(3)) parts["headers"] = some(headerMatcher);
  if (chance(4)) parts["query_parameters"] = some(parameterMatcher);
  if (chance(3)) parts["metadata"] = some(metadataMatcher);
  if (chance(4))
    parts["fraction"] = { numerator: below(120), denominator: pick(["HUNDRED", "TEN_THOUSAND", "MILLION"]) };
  if (depth < 2 && chance(5)) parts["any_of"] = some(() => condition(depth + 1));
  if (depth < 2 && chance(5)) parts["not"] = condition(depth + 1);
  return parts;
}

const ACTIONS = ["APPEND_IF_EXISTS_OR_ADD", "ADD_IF_ABSENT", "OVERWRITE_IF_EXISTS_OR_ADD", "OVERWRITE_IF_EXISTS"];

// One name an action: what one specifier does to one header twice is the order in which Envoy evaluates, not the chain's.
function headerTransforms(kind: "request" | "response"): JsonObject {
  const names = ["x-t", "x-u", "x-a"].filter(() => chance(2));
  const add = names.map((key) => ({
    header: { key, value: `v${below(9)}` },
    ...(chance(3) ? {} : { append_action: pick(ACTIONS) }),
  }));
  return {
    ...(add.length > 0 ? { [`${kind}_headers_to_add`]: add } : {}),
    ...(chance(3) ? { [`${kind}_headers_to_remove`]: [pick(["x-t", "x-b", "x-gone"])] } : {}),
  };
}

const weighted = () => some(() => ({ name: pick(["c1", "c2", "c3"]), weight: 1 + below(4) }), 3);
const groups = () =>
  some(() => ({ name: "g", clusters: weighted().map(({ name, weight }) => ({ cluster_name: name, weight })) }), 3);

function override(): JsonObject {
  const cluster = pick<() => JsonObject>([
    () => ({}),
    () => ({ cluster: pick(["c1", "c2"]) }),
    () => ({ weighted_clusters: weighted() }),
    () => ({ cluster_header: pick(HEADERS) }),
    () => ({ cluster_metadata: { namespace: "app", path: pick([["tier"], ["deep", "tier"], ["n"]]) } }),
    () => ({ priority_groups: groups() }),
  ])();
  const fields = {
    ...cluster,
    ...(chance(3) ? { timeout: pick(["0s", "0.25s", "1.5s"]) } : {}),
    ...(chance(3)
      ? { retry_policy: { retry_on: "5xx", num_retries: below(4), retriable_status_codes: [429, 503] } }
      : {}),
    ...headerTransforms("request"),
    ...headerTransforms("response"),
  };
  return Object.keys(fields).length > 0 ? fields : { timeout: "2s" };
}

let templates = 0;
function anySpecifier(): { type: string; config: JsonObject } {
  const common = { ...(chance(3) ? {} : { when: condition() }), ...(chance(5) ? { final: true } : {}) };
  const type = pick(["RouteOverride", "RouteOverride", "RouteTemplate", "DropRoute", "Audit"]);
  if (type === "RouteOverride") return { type, config: { ...common, ...override() } };
  if (type !== "RouteTemplate") return { type, config: common };
  const route = {
    pin: `template ${++templates}`,
    ...(chance(3) ? { no_entry: true } : {}),
    ...(chance(2) ? { match: condition(2) } : {}),
  };
  const decoy = { template_id: "decoy", route: { pin: "never" } };
  return { type, config: { ...common, template_id: "t", templates: [decoy, { template_id: "t", route }] } };
}

function anyRequest(): Omit<ModelRequest, "seed"> {
  const lines = HEADERS.filter(() => chance(2)).map(
    (name) => [name, some(() => (chance(6) ? "" : pick(WORDS)))] as const,
  );
  const value = () => pick<unknown>(["gold", "silver", true, false, 0, 1, 2, null, ["gold"]]);
  const metadata = chance(3)
    ? {}
    : { app: { tier: value(), n: value(), flag: value(), nil: null, deep: chance(2) ? { tier: value() } : value() } };
  const headers = { ...Object.fromEntries(lines), "x-forwarded-proto": ["http"] };
  return { method: pick(["GET", "POST"]), path: pick(PATHS), headers, metadata };
}

/** The module's internal values: SplitMix64, from the host's first random bytes. */
function* seeds(): Generator<bigint> {
  const bytes = new Uint8Array(8);
  new SeededRandom(HOST_SEED).fill(bytes);
  let state = new DataView(bytes.buffer).getBigUint64(0, true);
  const u64 = (value: bigint) => BigInt.asUintN(64, value);
  for (;;) {
    state = u64(state + 0x9e3779b97f4a7c15n);
    let z = u64((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = u64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    yield z ^ (z >> 31n);
  }
}

const CONTROL = {
  "x-envoy-upstream-rq-timeout-ms": (route: ModelRoute) => route.timeout,
  "x-envoy-retry-on": (route: ModelRoute) => route.retry?.["retry_on"],
  "x-envoy-retry-grpc-on": (route: ModelRoute) => route.retry?.["retry_on"],
  "x-envoy-max-retries": (route: ModelRoute) => route.retry && String(route.retry["num_retries"]),
  "x-envoy-retriable-status-codes": (route: ModelRoute) => route.retry && "429,503",
  "x-attempt-router-cluster": (route: ModelRoute) => route.cluster,
};

/** Pin, slots, request headers and response headers that the model's final route leads to. */
function expectedEffects(given: ModelRoute | null, route: ModelRoute | null, request: ModelRequest) {
  if (route === null) {
    const { "x-forwarded-proto": proto = [], ...rest } = request.headers;
    return {
      pin: undefined,
      slots: {},
      headers: given === null ? { ...rest, "x-forwarded-proto": proto } : rest,
      response: { "x-t": ["up"] },
    };
  }
  const response = transformed({ "x-t": ["up"] }, route.transforms.response);
  if (route === given) return { pin: undefined, slots: {}, headers: request.headers, response: { "x-t": ["up"] } };
  const suffix = (route.cluster === undefined ? "" : "#c") + (route.groups ? "#g" : "") + (route.retry ? "#r" : "");
  const control: Record<string, string[]> = {};
  for (const [name, value] of Object.entries(CONTROL)) {
    if (value(route) !== undefined) control[name] = [value(route) as string];
  }
  const headers = transformed({ ...request.headers, ...control }, route.transforms.request);
  return { pin: route.pin + suffix, slots: slotsOf(route, request.seed), headers, response };
}

function slotsOf(route: ModelRoute, seed: bigint): Record<string, string> {
  const chain = route.groups as { clusters: { cluster_name: string; weight: number }[] }[] | undefined;
  if (chain === undefined) return {};
  const clusterOf = (attempt: number) =>
    weightedPick(
      (chain[Math.min(attempt, chain.length) - 1]?.clusters ?? []).map((one) => ({
        name: one.cluster_name,
        weight: one.weight,
      })),
      seed,
    );
  return { 1: clusterOf(1), 2: clusterOf(2), 3: clusterOf(3) };
}

function actualEffects(request: SimulatedRequest) {
  const slots: Record<string, string | undefined> = request.slots;
  const pin = slots["route"];
  delete slots["route"];
  delete slots["response"];
  const lines = byName(request.headers.pairs().filter(([name]) => !name.startsWith(":")));
  const response = byName(request.respond({ status: 200, headers: { "x-t": "up" } }).headers.pairs());
  delete response[":status"];
  return { pin, slots, headers: lines, response };
}

function byName(pairs: readonly (readonly [string, string])[]): Record<string, string[]> {
  const lines: Record<string, string[]> = {};
  for (const [name, value] of pairs) (lines[name] ??= []).push(value);
  return lines;
}

test(`the module and the model agree on ${CHAINS * REQUESTS} random chains and requests`, () => {
  const host = WasmHost.load(MODULE, {
    seed: HOST_SEED,
    plugins: [{ name: "attempt_router", rootId: "downstream" }],
  });
  const values = seeds();
  const seen = { unchanged: 0, dropped: 0, changed: 0 };
  for (let c = 0; c < CHAINS; c++) {
    const level = () => Array.from({ length: below(4) }, anySpecifier);
    const chain = { route_configuration: level(), virtual_host: level(), route: level() };
    const resolved = chance(4) ? null : { name: "r", pin: "given", ...(chance(5) ? { no_entry: true } : {}) };
    const run = resolved === null ? { ...chain, route: [] } : chain;
    const levels = Object.fromEntries(
      Object.entries(run).map(([name, list]) => [name, list.map(({ type, config }) => specifier(type, config))]),
    ) as Levels;
    const spec = specifiedRequest(levels, resolved);
    for (let r = 0; r < REQUESTS; r++) {
      const input = anyRequest();
      const request = { ...input, seed: values.next().value as bigint };
      const given: ModelRoute | null = resolved && {
        pin: "given",
        entry: !("no_entry" in resolved),
        transforms: { request: [], response: [] },
      };
      const route = finalRoute(Object.values(run).flat(), given, request);
      const actual = host.request({
        ...spec,
        headers: { ":method": input.method, ":path": input.path, ...input.headers },
        dynamicMetadata: { filter_metadata: input.metadata as Record<string, JsonObject> },
      });
      const expected = expectedEffects(given, route, request);
      const digest = createHash("sha256").update(JSON.stringify(levels)).digest("hex").slice(0, 8);
      expect(actualEffects(actual), `${digest} ${JSON.stringify({ levels, input, resolved })}`).toEqual(expected);
      actual.end();
      seen[route === given ? "unchanged" : route === null ? "dropped" : "changed"]++;
    }
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(CHAINS);
}, 120_000);
