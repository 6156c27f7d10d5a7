// What a client and the upstreams see of a request whose final route is known.

import { transformed, type ModelRequest } from "../../module/route-specifiers.model.js";
import type { Config } from "../../support/case.js";
import { isGrpc, matchedLength, pathOf } from "./matching.js";
import { clusterOf, finalRoute, type Chance, type FinalRoute } from "./model.js";

/** The status with which each cluster answers. */
export const UPSTREAMS: Record<string, number> = { a: 200, b: 200, c: 200, d: 200, x: 503, y: 503, z: 429 };
/** The headers that are compared. */
export const SEEN = ["x-t", "x-u", "x-own"];
export const AUDIT_HEADER = "x-audit";
export const TIMEOUT_HEADER = "x-envoy-expected-rq-timeout-ms";
const DEFAULT_TIMEOUT = 15_000;
/** As many as tell all weights and fractions of a generated chain apart. */
const SEEDS = 100n;
/** Clusters of a native weighted route. */
const PICKS = 2;

type Lines = Record<string, string[]>;

export interface Hop {
  upstream: string;
  path: string;
  lines: Lines;
}

/** What is compared of a request. */
export interface Outcome {
  status: number;
  location?: string;
  body?: string;
  hops: Hop[];
  /** Milliseconds that the first hop was told. */
  timeout?: number;
  response: Lines;
}

/** Everything that may become of a request under a route configuration, for each value that chance may have. */
export function outcomes(config: Config, request: ModelRequest): Outcome[] {
  const found = new Map<string, Outcome>();
  let seeds = 1n;
  let picks = 1;
  for (let seed = 0n; seed < seeds; seed++) {
    for (let pick = 0; pick < picks; pick++) {
      const one = outcomeOf(config, request, {
        get seed() {
          seeds = SEEDS;
          return seed;
        },
        get pick() {
          picks = PICKS;
          return pick;
        },
      });
      found.set(JSON.stringify(one), one);
    }
  }
  return [...found.values()];
}

function outcomeOf(config: Config, request: ModelRequest, chance: Chance): Outcome {
  const { route, audits } = finalRoute(config, request, chance);
  const withAudits = (lines: Lines): Lines => ({
    ...seen(route === null ? lines : transformed(lines, route.transforms.response)),
    ...(audits.length > 0 && { [AUDIT_HEADER]: audits }),
  });
  // Envoy answers a gRPC request itself with 200 and a grpc-status.
  const local = (status: number): number => (isGrpc(request) ? 200 : status);
  if (route === null) return { status: local(404), hops: [], response: withAudits({}) };
  const own = ownLines(route.route["response_headers_to_add"]);
  const answer = route.route["direct_response"] as Config | undefined;
  if (answer !== undefined) {
    const { inline_string: body } = answer["body"] as { inline_string: string };
    const said = isGrpc(request) ? {} : { body };
    return { status: local(answer["status"] as number), ...said, hops: [], response: withAudits(own) };
  }
  const redirect = route.route["redirect"] as Config | undefined;
  if (redirect !== undefined) {
    const location = `http://${request.headers["host"]?.[0] ?? ""}${redirect["path_redirect"] as string}`;
    return { status: local(301), location, hops: [], response: withAudits(own) };
  }
  return forwarded(route, request, chance, withAudits);
}

function forwarded(
  route: FinalRoute,
  request: ModelRequest,
  chance: Chance,
  withAudits: (lines: Lines) => Lines,
): Outcome {
  const lines = seen(transformed(request.headers, route.transforms.request));
  const own = ownLines(route.route["request_headers_to_add"]);
  const response = ownLines(route.route["response_headers_to_add"]);
  const names: string[] = [];
  for (let attempt = 1; ; attempt++) {
    const name = clusterOf(route, attempt, request, chance) ?? "";
    const status = UPSTREAMS[name];
    if (status !== undefined) names.push(name);
    if (status !== undefined && retries(route, status, attempt)) continue;
    const path = rewritten(route.route, request);
    const hops = names.map((upstream) => ({ upstream, path, lines: { ...lines, ...own } }));
    const time = timeoutOf(route);
    const told = hops.length > 0 && time > 0 ? { timeout: time } : {};
    const base: Lines = status === undefined ? {} : { "x-t": ["up"] };
    return {
      status: status ?? (isGrpc(request) ? 200 : 503),
      hops,
      ...told,
      response: withAudits({ ...base, ...response }),
    };
  }
}

function retries({ route, retry }: FinalRoute, status: number, attempt: number): boolean {
  const policy = retry ?? ((route["route"] as Config)["retry_policy"] as Config | undefined) ?? {};
  const conditions = ((policy["retry_on"] ?? "") as string).split(",");
  const codes = (policy["retriable_status_codes"] ?? []) as number[];
  const isRetriable =
    (conditions.includes("5xx") && status >= 500) ||
    (conditions.includes("retriable-status-codes") && codes.includes(status));
  return isRetriable && attempt <= ((policy["num_retries"] ?? 1) as number);
}

function timeoutOf({ route, timeout, retry }: FinalRoute): number {
  const action = route["route"] as Config;
  const whole = milliseconds(timeout ?? action["timeout"]) ?? DEFAULT_TIMEOUT;
  const policy = retry ?? (action["retry_policy"] as Config | undefined);
  const each = milliseconds(policy?.["per_try_timeout"]) ?? 0;
  return each > 0 && (whole === 0 || each < whole) ? each : whole;
}

function milliseconds(duration: unknown): number | undefined {
  return duration === undefined ? undefined : parseFloat(duration as string) * 1000;
}

function rewritten(route: Config, request: ModelRequest): string {
  const prefix = (route["route"] as Config)["prefix_rewrite"] as string | undefined;
  if (prefix === undefined) return request.path;
  return prefix + request.path.slice(matchedLength(route["match"] as Config, pathOf(request)));
}

/** Lines that a route adds itself, all of them under names of their own. */
function ownLines(options: unknown): Lines {
  const list = (options ?? []) as { header: { key: string; value: string } }[];
  return Object.fromEntries(list.map(({ header }) => [header.key, [header.value]]));
}

/** Those of the headers that are compared. */
export function seen(lines: Lines): Lines {
  return Object.fromEntries(
    Object.entries(lines)
      .filter(([name]) => SEEN.includes(name))
      .sort(),
  );
}
