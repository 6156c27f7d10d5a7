// The request that is explained, and what upstreams answer.

import type { JsonMessage } from "../model/index.js";

/** A request as it reaches the connection manager. */
export interface ExplainedRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** `host` or `:authority`. */
  readonly authority: string;
  readonly scheme: string;
  /** Lower-case names; a name may stand in several lines. No pseudo headers. */
  readonly headers: readonly (readonly [string, string])[];
  /** Dynamic metadata that filters have written, by namespace; a value with `@type` is typed metadata. */
  readonly metadata: Readonly<Record<string, JsonMessage>>;
  /** Envoy's random value of the request, where it is given. */
  readonly random: bigint | undefined;
  /** Address of the client, without port. */
  readonly client: string;
}

/** How an upstream ends an attempt. */
export type Answer =
  | { readonly kind: "response"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  /** The connection or stream is reset after the request was sent. */
  | { readonly kind: "reset" }
  /** Nothing comes. */
  | { readonly kind: "timeout" }
  /** No connection can be made. */
  | { readonly kind: "refused" }
  /** An HTTP/2 upstream refuses the stream. */
  | { readonly kind: "refused-stream" };

/** What an answer is called in options, test files and results. */
export function answerName(answer: Answer): number | string {
  return answer.kind === "response" ? answer.status : answer.kind;
}

/** Reads `429`, `reset`, `timeout`, `refused` or `refused-stream`; undefined for anything else. */
export function readAnswer(value: unknown): Answer | undefined {
  const text = String(value);
  if (/^[1-5]\d\d$/.test(text)) return response(Number(text));
  if (text === "reset" || text === "timeout" || text === "refused" || text === "refused-stream") return { kind: text };
  return undefined;
}

export function response(status: number, headers: Readonly<Record<string, string>> = {}): Answer {
  return { kind: "response", status, headers };
}

/** Gives answers as attempts ask for them. */
export interface Answers {
  next(cluster: string): Answer;
  /** One that has given as many answers, and goes on by itself. */
  fork(): Answers;
}

const OK = response(200);

/** The answers of all clusters in one order; the last one repeats, and without any it is 200. */
export function inOrder(list: readonly Answer[], given = 0): Answers {
  let count = given;
  return {
    next: () => list[Math.min(count++, list.length - 1)] ?? OK,
    fork: () => inOrder(list, count),
  };
}

/** The answers of each cluster in order; the last one repeats, and a cluster without any answers 200. */
export function byCluster(
  lists: ReadonlyMap<string, readonly Answer[]>,
  before: ReadonlyMap<string, number> = new Map(),
): Answers {
  const given = new Map(before);
  return {
    next: (cluster) => {
      const count = given.get(cluster) ?? 0;
      given.set(cluster, count + 1);
      const list = lists.get(cluster) ?? [];
      return list[Math.min(count, list.length - 1)] ?? OK;
    },
    fork: () => byCluster(lists, given),
  };
}

/** The values of a header, in order. */
export function headerLines(request: ExplainedRequest, name: string): string[] {
  const pseudo: Readonly<Record<string, string>> = {
    ":path": request.path,
    ":method": request.method,
    ":authority": request.authority,
    host: request.authority,
    ":scheme": request.scheme,
  };
  const key = name.toLowerCase();
  const known = pseudo[key];
  if (known !== undefined) return [known];
  return request.headers.filter((line) => line[0] === key).map((line) => line[1]);
}

/** The value that a matcher sees: several lines are joined with a comma. */
export function headerValue(request: ExplainedRequest, name: string): string | undefined {
  const lines = headerLines(request, name);
  return lines.length === 0 ? undefined : lines.join(",");
}

/** The path without query and fragment. */
export function pathOf(request: ExplainedRequest): string {
  return /^[^?#]*/.exec(request.path)?.[0] ?? "";
}

/** The value of a query parameter, the first of that name, undecoded as Envoy compares it; undefined where it is absent. */
export function queryParameter(request: ExplainedRequest, name: string): string | undefined {
  const query = /\?([^#]*)/.exec(request.path)?.[1] ?? "";
  const pair = query.split("&").find((part) => (part.split("=")[0] ?? "") === name && part !== "");
  return pair === undefined ? undefined : pair.slice(name.length + 1);
}

/** The value of a cookie; undefined where it is absent. */
export function cookie(request: ExplainedRequest, name: string): string | undefined {
  const pairs = headerLines(request, "cookie").flatMap((line) => line.split(";"));
  const pair = pairs.map((part) => part.trim()).find((part) => part.startsWith(`${name}=`));
  return pair?.slice(name.length + 1).replace(/^"(.*)"$/, "$1");
}
