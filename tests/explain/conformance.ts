import { explain, type Question } from "../../cli/explain/explain.js";
import type { ModulePicks } from "../../cli/explain/module-picks.js";
import { byCluster, response, type Answer, type Answers, type ExplainedRequest } from "../../cli/explain/request.js";
import type { Explanation } from "../../cli/explain/explanation.js";
import type { JsonMessage, Program } from "../../cli/model/index.js";
import { readProgram } from "../../cli/read/program.js";
import { nativeBootstrap } from "../support/bootstrap.js";
import { listenersOf, type Case, type RequestSpec } from "../support/case.js";
import { Upstreams, type Script, type UpstreamSpec } from "../support/upstreams.js";

/** The config of a case as `explain` reads it; its upstreams need not run. */
export function programOfCase(test: Case): Program {
  const upstreams = { specs: test.upstreams, port: () => 8080 } as unknown as Upstreams;
  return readProgram(`${test.name}.yaml`, nativeBootstrap(test, upstreams));
}

/** The scripts of a case's upstreams as answers, used up over all of its requests. */
export function answersOf(test: Case): Answers {
  return byCluster(new Map(Object.entries(test.upstreams).map(([name, spec]) => [name, scriptAnswers(spec)])));
}

function scriptAnswers(spec: UpstreamSpec): Answer[] {
  const isGrpc = typeof spec === "object" && "protocol" in spec && spec.protocol === "grpc";
  const script: Script = typeof spec === "object" && "protocol" in spec ? spec.script : spec;
  return (Array.isArray(script) ? script : [script]).map((reply): Answer => {
    if (reply === "refuse") return { kind: "refused" };
    if (reply === "hang") return { kind: "timeout" };
    if (reply === "reset") return { kind: "reset" };
    const { status, headers = {} } = typeof reply === "number" ? { status: reply } : reply;
    return isGrpc ? response(200, { ...headers, "grpc-status": String(status) }) : response(status, headers);
  });
}

/** Explains a case's request; `metadata` is what its Lua filter writes. */
export function explainRequest(
  program: Program,
  test: Case,
  spec: RequestSpec,
  answers: Answers,
  module: ModulePicks,
): Explanation {
  const listener = spec.listener ?? listenersOf(test)[0]?.name;
  const question: Question = { listener, request: requestOf(test, spec), answers };
  return explain(program, question, module);
}

function requestOf(test: Case, spec: RequestSpec): ExplainedRequest {
  const lines = Object.entries(spec.headers ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, string] => [
      name.toLowerCase(),
      String(one ?? "").trim(),
    ]),
  );
  const host = lines.find(([name]) => name === "host")?.[1] ?? "case.test";
  const grpc: [string, string][] = spec.protocol === "grpc" ? [["content-type", "application/grpc"]] : [];
  const client = lines
    .find(([name]) => name === "x-forwarded-for")?.[1]
    .split(",")
    .at(-1)
    ?.trim();
  return {
    method: spec.method ?? (spec.body === undefined && spec.body_size === undefined ? "GET" : "POST"),
    path: spec.path ?? "/",
    authority: host,
    scheme: "http",
    headers: [...grpc, ...lines.filter(([name]) => name !== "host")],
    metadata: luaMetadata(test),
    random: undefined,
    client: client ?? "127.0.0.1",
  };
}

/** What the simple Lua filters of the cases write: one table, whatever the request. */
export function luaMetadata(test: Case): Record<string, JsonMessage> {
  const text = JSON.stringify(listenersOf(test).map(({ http_filters }) => http_filters ?? []));
  // What stands in the end counts.
  const last = text.slice(Math.max(0, text.lastIndexOf("dynamicMetadata")));
  const source = JSON.parse(`"${/^dynamicMetadata\(\):set\(((?:[^\\]|\\.)*?)\)\\n/.exec(last)?.[1] ?? ""}"`) as string;
  const match = /^"([^"]*)",\s*"([^"]*)",\s*([^]*)$/.exec(source);
  if (match === null) return {};
  const value = luaTable(match[3] ?? "");
  return value === undefined ? {} : { [match[1] ?? ""]: { [match[2] ?? ""]: value } };
}

/** A literal of Lua as JSON: `{{name = "a"}, 1}`; undefined for anything else. */
function luaTable(text: string): JsonMessage[string] | undefined {
  const keyed = text.replace(
    /(?:\["(\w+)"\]|\b(\w+))\s*=\s*/g,
    (_, quoted = "", plain = "") => `"${quoted || plain}": `,
  );
  // A table with keys is an object, one without is a list: the innermost first.
  let json = keyed;
  for (let before = ""; before !== json; ) {
    before = json;
    json = json.replace(/\{([^{}]*)\}/, (_, inner: string) => {
      const isMap = /^\s*"\w+": /.test(inner);
      return isMap || inner.trim() === "" ? `\u0001${inner}\u0002` : `[${inner}]`;
    });
  }
  try {
    return JSON.parse(json.replace(/\u0001/g, "{").replace(/\u0002/g, "}")) as JsonMessage[string];
  } catch {
    return undefined;
  }
}

/** Why a case is no question for `explain`; undefined for those that it has to predict. */
export function notAsked(test: Case): string | undefined {
  const text = JSON.stringify({ ...test, about: "", expect: undefined });
  if (!Array.isArray(test.expect)) return "Envoy does not start with it";
  if (test.expect.some((one) => "any_of" in one)) return "the internal random value decides";
  const found = NOT_ASKED.find(([pattern]) => pattern.test(text));
  return found?.[1] ?? luaReason(test);
}

const NOT_ASKED: readonly [RegExp, string][] = [
  [/internal_redirect_policy/, "redirects are followed, which is not shown"],
  [/upstream_http_filters|"http_filters":\[[^\]]*upstream_codec/, "upstream filters write metadata"],
  [/scoped_route/, "which route configuration counts hangs on the scope"],
  [/health_checks|health_status/, "health of hosts"],
  [/regex_rewrite":\{"pattern".*hash|hash.*"regex_rewrite/, "a hash that the module cannot see"],
  [/"clusters":null/, "the model leaves null out"],
  [/"body_size"/, "bodies are not part of the question"],
  [/#|%00/, "a path that Envoy refuses"],
  [/filters\.http\.(?!lua|set_metadata|router)\w+/, "another filter changes the request"],
];

/** Lua is understood where it writes one literal and clears the route cache. */
function luaReason(test: Case): string | undefined {
  for (const filter of listenersOf(test).flatMap(({ http_filters }) => http_filters ?? [])) {
    const config = filter["typed_config"] as { default_source_code?: { inline_string?: string } } | undefined;
    const source = config?.default_source_code?.inline_string ?? "";
    const rest = source
      .replace(/h:streamInfo\(\):dynamicMetadata\(\):set\(.*\)\n/g, "")
      .replace(/function envoy_on_request\(h\)|h:clearRouteCache\(\)|end/g, "");
    if (rest.trim() !== "") return "Lua that is more than a literal";
    const writes = source.includes("dynamicMetadata") || filter["name"] === "envoy.filters.http.set_metadata";
    if (writes && !JSON.stringify(test).includes("clearRouteCache"))
      return "metadata counts from attempt 2 on, natively";
    if (source.includes("dynamicMetadata") && Object.keys(luaMetadata(test)).length === 0)
      return "not read by this test";
  }
  return undefined;
}
