// What Envoy's router retries: the policy in force, and its verdict on each answer.

import type { HeaderMatcher, Retries, RetryPolicy, RouteAction } from "../model/index.js";
import { headerValue, type Answer, type ExplainedRequest } from "./request.js";
import { matchHeader, matchHeaderLines } from "./values.js";

/** What decides about retries and time for one request. Times are in milliseconds; 0: no limit. */
export interface RetryRules {
  /** Where the policy stands: `route`, `virtual host`, `cluster x`, or `none`. */
  readonly source: string;
  readonly conditions: ReadonlySet<string>;
  readonly statusCodes: readonly number[];
  readonly responseHeaders: readonly HeaderMatcher[];
  readonly retries: number;
  readonly refreshes: boolean;
  readonly perTryTimeout: number;
  readonly timeout: number;
  /** A slow attempt goes on beside its retry, which then stays on the cluster of attempt 1. */
  readonly hedges: boolean;
  /** A policy of which only Envoy knows the content. */
  readonly opaque: boolean;
}

/** Conditions that Envoy knows in `retry_on`. */
export const HTTP_CONDITIONS = [
  ...["5xx", "gateway-error", "reset", "reset-before-request", "connect-failure", "envoy-ratelimited"],
  ...["retriable-4xx", "refused-stream", "retriable-status-codes", "retriable-headers", "http3-post-connect-failure"],
];

/** And those about gRPC statuses, with their number. */
export const GRPC_CONDITIONS: Readonly<Record<string, number>> = {
  cancelled: 1,
  "deadline-exceeded": 4,
  "resource-exhausted": 8,
  internal: 13,
  unavailable: 14,
};

export const DEFAULT_TIMEOUT_MS = 15_000;

export interface RulesInput {
  readonly action: RouteAction;
  readonly retries: Retries | undefined;
  /** The policy of attempt 1's cluster, which stands in the place of the route's. */
  readonly clusterPolicy: RetryPolicy | undefined;
  readonly cluster: string;
  /** Whether the control headers of the request count: those of clients outside are removed. */
  readonly obeysHeaders: boolean;
  readonly request: ExplainedRequest;
}

/** The rules for one request: the policy in force, with what its control headers add. */
export function retryRules({ action, retries, clusterPolicy, cluster, obeysHeaders, request }: RulesInput): RetryRules {
  const policy = clusterPolicy ?? retries?.effective;
  const header = (name: string): string | undefined => (obeysHeaders ? headerValue(request, name) : undefined);
  const named = new Set([
    ...(isRetriable(policy, request) ? (policy?.retryOn?.value ?? []) : []),
    ...listOf(header("x-envoy-retry-on")),
    ...listOf(header("x-envoy-retry-grpc-on")),
  ]);
  const conditions = new Set([...named].filter(isCondition));
  const asked = numberOf(header("x-envoy-max-retries"));
  const timeout = numberOf(header("x-envoy-upstream-rq-timeout-ms")) ?? action.timeout?.value ?? DEFAULT_TIMEOUT_MS;
  const perTry = numberOf(header("x-envoy-upstream-rq-per-try-timeout-ms")) ?? policy?.perTryTimeout?.value ?? 0;
  return {
    source: sourceOf(retries, clusterPolicy, cluster),
    conditions,
    statusCodes: [
      ...(policy?.retriableStatusCodes?.value ?? []),
      ...listOf(header("x-envoy-retriable-status-codes")).map(Number),
    ],
    responseHeaders: policy?.retriableHeaders ?? [],
    retries: conditions.size === 0 ? 0 : (asked ?? policy?.numRetries?.value ?? 1),
    refreshes: policy?.refreshCluster?.value === true,
    // A time-out of one attempt that is no shorter than that of all of them never comes.
    perTryTimeout: timeout !== 0 && perTry >= timeout ? 0 : perTry,
    timeout,
    hedges: hedges(retries, header("x-envoy-hedge-on-per-try-timeout")),
    opaque: policy === undefined && retries?.typed !== undefined,
  };
}

/** Whether a word of `retry_on` is one that Envoy knows; others it passes over. */
export function isCondition(word: string): boolean {
  return HTTP_CONDITIONS.includes(word) || word in GRPC_CONDITIONS;
}

function hedges(retries: Retries | undefined, header: string | undefined): boolean {
  if (header !== undefined) return header === "true";
  return retries?.hedging?.onPerTryTimeout?.value === true;
}

function sourceOf(retries: Retries | undefined, clusterPolicy: RetryPolicy | undefined, cluster: string): string {
  if (clusterPolicy !== undefined) return `cluster ${cluster}`;
  if (retries?.route !== undefined) return "route";
  return retries?.virtualHost === undefined ? "none" : "virtual host";
}

function isRetriable(policy: RetryPolicy | undefined, request: ExplainedRequest): boolean {
  const matchers = policy?.retriableRequestHeaders ?? [];
  return matchers.length === 0 || matchers.some((matcher) => matchHeader(matcher, request).holds === true);
}

function listOf(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\+?\d+\s*$/.test(text) ? Number(text) : undefined;
}

/** Whether an answer is one that the policy retries, while retries are left; and which condition says so. */
export interface RetryVerdict {
  readonly retries: boolean;
  readonly because: string;
}

/** The router's verdict on the end of an attempt. */
export function wouldRetry(answer: Answer, rules: RetryRules): RetryVerdict {
  if (rules.conditions.size === 0) {
    return {
      retries: false,
      because: rules.source === "none" ? "there is no retry policy" : "retry_on names no condition",
    };
  }
  const condition = answer.kind === "response" ? conditionOf(answer, rules) : resetCondition(answer, rules);
  if (condition !== undefined) return { retries: true, because: `retry_on has ${condition}` };
  return { retries: false, because: whyNot(answer, rules) };
}

type Response = Extract<Answer, { kind: "response" }>;

function conditionOf(answer: Response, { conditions, statusCodes, responseHeaders }: RetryRules): string | undefined {
  const { status, headers } = answer;
  if (headers["x-envoy-ratelimited"] !== undefined) {
    return conditions.has("envoy-ratelimited") ? "envoy-ratelimited" : undefined;
  }
  if (conditions.has("5xx") && status >= 500 && status < 600) return "5xx";
  if (conditions.has("gateway-error") && status >= 502 && status <= 504) return "gateway-error";
  if (conditions.has("retriable-4xx") && status === 409) return "retriable-4xx";
  if (conditions.has("retriable-status-codes") && statusCodes.includes(status)) {
    return `retriable-status-codes with ${status}`;
  }
  const holds = (matcher: HeaderMatcher): boolean => {
    const value = matcher.name === ":status" ? String(status) : headers[matcher.name.toLowerCase()];
    return matchHeaderLines(matcher, value === undefined ? [] : [value]).holds === true;
  };
  if (conditions.has("retriable-headers") && responseHeaders.some(holds)) return "retriable-headers";
  const grpc = headers["grpc-status"];
  return Object.keys(GRPC_CONDITIONS).find((name) => conditions.has(name) && grpc === String(GRPC_CONDITIONS[name]));
}

function resetCondition(answer: Answer, { conditions }: RetryRules): string | undefined {
  const taking = ["reset", "5xx", "gateway-error"];
  if (answer.kind === "refused-stream") taking.push("refused-stream");
  // No connection: nothing of the request was sent.
  if (answer.kind === "refused") taking.push("connect-failure", "reset-before-request");
  return taking.find((name) => conditions.has(name));
}

function whyNot(answer: Answer, { conditions, statusCodes }: RetryRules): string {
  const list = [...conditions].join(",");
  if (answer.kind !== "response") return `retry_on (${list}) has no condition for ${NAMES[answer.kind]}`;
  if (answer.headers["x-envoy-ratelimited"] !== undefined) return "the answer carries x-envoy-ratelimited";
  if (answer.status < 400 && answer.headers["grpc-status"] === undefined) return "the answer is good";
  const missing = conditions.has("retriable-status-codes")
    ? `retriable_status_codes has ${statusCodes.join(", ") || "none"}`
    : `retry_on has ${list}`;
  return `${answer.status} is not retried: ${missing}`;
}

const NAMES: Readonly<Record<Exclude<Answer["kind"], "response">, string>> = {
  reset: "a reset",
  timeout: "a per-try time-out",
  refused: "a failed connection",
  "refused-stream": "a refused stream",
};
