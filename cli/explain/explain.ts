// What happens to one request, from the virtual host to the answer that the client gets.

import { messageOf } from "../model/json.js";
import type { Action, Program, Route, RouteAction } from "../model/index.js";
import { withAnswers } from "./answers.js";
import { walk, type Walk } from "./attempts.js";
import { ClusterFacts } from "./clusters.js";
import { coolDownNote } from "./cool-down.js";
import { destinationOf, type Destination } from "./destination.js";
import type { Candidate, Explanation, ExplainedAttempt, Path } from "./explanation.js";
import { isInternal } from "./internal.js";
import type { ModulePicks } from "./module-picks.js";
import type { Answer, Answers, ExplainedRequest } from "./request.js";
import { resolve, type Place, type Resolved } from "./resolve.js";
import { retryRules, type RetryRules } from "./retry-rules.js";
import { runSpecifiers, type SpecifierResult } from "./specifiers.js";
import { writtenMetadata } from "./written-metadata.js";

export interface Question extends Place {
  readonly request: ExplainedRequest;
  readonly answers: Answers;
  /** Clusters without a healthy host. */
  readonly down?: readonly string[];
}

/**
 * Follows one request through a program: the route by Envoy's rules, the picks by the module, the retries by the
 * router's rules.
 * @throws PlaceError where the question names a listener or route configuration that is not there
 */
export function explain(program: Program, question: Question, module: ModulePicks): Explanation {
  const request = { ...question.request };
  const before = resolve(program, request, question);
  const metadata = { ...writtenMetadata(before.manager), ...request.metadata };
  const known = { ...request, metadata };
  const resolved = resolve(program, known, question);
  const specified = runSpecifiers(resolved, known, module);
  const base = baseOf(resolved, specified);
  const { route } = specified;
  if (route === undefined) return ended(base, 404, whyNoRoute(resolved));
  const redirect = tlsRedirect(resolved, known);
  if (redirect !== undefined) return ended(base, 301, redirect);
  if (route.action.kind !== "route") return ended(base, ...answerOf(route.action));
  return explainAttempts(program, { ...question, request: known }, resolved, route, route.action.route, base, module);
}

type Base = Omit<Explanation, "retries" | "attempts" | "paths" | "sampled" | "result">;

function whyNoRoute({ route, routeBecause, virtualHostBecause }: Resolved): string {
  if (route !== undefined) return "a route specifier dropped the route";
  return routeBecause || virtualHostBecause;
}

function baseOf(resolved: Resolved, { runs, route, undecided }: SpecifierResult): Base {
  const { virtualHost } = resolved;
  const at = route?.origin;
  return {
    virtual_host: virtualHost === undefined ? null : (virtualHost.name?.value ?? ""),
    route: route === undefined ? null : (route.name?.value ?? ""),
    route_at: at === undefined ? null : `${at.file}:${at.line}:${at.column}`,
    because: { virtual_host: resolved.virtualHostBecause, route: resolved.routeBecause },
    undecided: [...resolved.undecided, ...undecided, ...redirectNote(route)],
    specifiers: runs,
  };
}

function redirectNote(route: Route | undefined): string[] {
  if (route?.action.kind !== "route" || route.action.route.internalRedirects === undefined) return [];
  return [
    "the route follows redirects by itself (internal_redirect_policy): what such a request does then is not shown",
  ];
}

function ended(base: Base, status: number | null, because: string): Explanation {
  return {
    ...base,
    retries: null,
    attempts: [],
    paths: [],
    sampled: false,
    result: { status, cluster: null, because },
  };
}

function tlsRedirect({ virtualHost }: Resolved, { scheme }: ExplainedRequest): string | undefined {
  if (virtualHost?.requireTls?.value !== "ALL" || scheme === "https") return undefined;
  return "the virtual host has require_tls: ALL, and the request is not https";
}

const REDIRECTS: Readonly<Record<string, number>> = {
  MOVED_PERMANENTLY: 301,
  FOUND: 302,
  SEE_OTHER: 303,
  TEMPORARY_REDIRECT: 307,
  PERMANENT_REDIRECT: 308,
};

function answerOf(action: Exclude<Action, { kind: "route" }>): [number | null, string] {
  if (action.kind === "direct_response") return [action.status, "the route has a direct_response"];
  if (action.kind === "redirect") {
    const message = messageOf(action.redirect.value);
    const code = message["response_code"] ?? message["responseCode"];
    return [typeof code === "string" ? (REDIRECTS[code] ?? 301) : 301, "the route is a redirect"];
  }
  return [null, "the route does not forward requests"];
}

const NOT_FOUND_STATUS: Readonly<Record<string, number>> = { NOT_FOUND: 404, INTERNAL_SERVER_ERROR: 500 };

function explainAttempts(
  program: Program,
  question: Question,
  resolved: Resolved,
  route: Route,
  action: RouteAction,
  base: Base,
  module: ModulePicks,
): Explanation {
  const { request } = question;
  const clusters = new ClusterFacts(program, new Set(question.down ?? []));
  const rulesFor = (cluster: string): RetryRules =>
    retryRules({
      action,
      retries: route.retries,
      clusterPolicy: clusters.get(cluster)?.protocolOptions?.retryPolicy,
      cluster,
      obeysHeaders: isInternal(resolved.manager, request),
      request,
    });
  const most = Math.max(...["", ...clusters.withRetryPolicy].map((name) => rulesFor(name).retries)) + 1;
  const settings = withAnswers(
    messageOf(route.ownSettings?.value),
    resolved.virtualHost?.ownSettings?.value,
    rulesFor(""),
  );
  const destination = destinationOf(route, action, request, most, module, settings);
  if (destination.undecided !== undefined) return ended(base, null, destination.undecided);
  const notFound = messageOf(action.json)["cluster_not_found_response_code"];
  const walkWith = (
    picks: Parameters<typeof walk>[0]["picks"],
    answers: Answers,
  ): { walk: Walk; rules: RetryRules } => {
    const first = picks.cluster(1);
    const rules = rulesFor(first);
    const rest = {
      ...picks,
      cluster: (n: number) => (n === 1 ? first : picks.cluster(n)),
    };
    const notFoundStatus = (typeof notFound === "string" ? NOT_FOUND_STATUS[notFound] : undefined) ?? 503;
    const { behind } = destination;
    const note = (answer: Answer, cluster: string) => coolDownNote(route.picking.coolDown, answer, cluster);
    const around = { notFoundStatus, behind, coolDownNote: note };
    const input = { picks: rest, rules, clusters, answers, priority: action.priority, ...around };
    return { walk: walk(input), rules };
  };
  const all = destination.space.points.map(({ random, probability }) => ({
    probability,
    ...walkWith(destination.picks(random), question.answers.fork()),
  }));
  const picks =
    request.random === undefined ? destination.decided : (destination.decided ?? destination.picks(request.random));
  const chosen = picks === undefined ? undefined : walkWith(picks, question.answers);
  return assemble(base, destination, all, chosen);
}

interface Weighted {
  readonly probability: number;
  readonly walk: Walk;
  readonly rules: RetryRules;
}

function assemble(
  base: Base,
  destination: Destination,
  all: readonly Weighted[],
  chosen: { walk: Walk; rules: RetryRules } | undefined,
): Explanation {
  const paths = pathsOf(all);
  const likely = all.reduce((best, one) => (one.probability > best.probability ? one : best));
  const told = chosen ?? likely;
  const only = chosen !== undefined || paths.length === 1;
  const longest = only ? told.walk.attempts.length : Math.max(...all.map(({ walk: one }) => one.attempts.length));
  const attempts = Array.from({ length: longest }, (_, index) => attemptOf(index, destination, all, told, only));
  const statuses = new Set(all.map(({ walk: one }) => one.result.status));
  const served = new Set(all.map(({ walk: one }) => one.result.cluster));
  const { result } = told.walk;
  return {
    ...base,
    retries: retriesOf(told.rules),
    attempts,
    paths: chosen === undefined ? paths : pathsOf([{ ...chosen, probability: 1 }]),
    sampled: destination.space.sampled,
    result: only
      ? result
      : {
          status: statuses.size === 1 ? result.status : null,
          cluster: served.size === 1 ? result.cluster : null,
          because: statuses.size === 1 ? result.because : "it hangs on the random value of the request",
        },
  };
}

function attemptOf(
  index: number,
  destination: Destination,
  all: readonly Weighted[],
  told: { walk: Walk },
  only: boolean,
): ExplainedAttempt {
  const coming = all.filter(({ walk: one }) => one.attempts[index] !== undefined);
  const probability = coming.reduce((sum, one) => sum + one.probability, 0);
  const candidates = new Map<string, number>();
  for (const one of coming) {
    const { cluster, picked } = one.walk.attempts[index] ?? { picked: "" };
    const name = cluster ?? picked;
    candidates.set(name, (candidates.get(name) ?? 0) + one.probability);
  }
  const typical = told.walk.attempts[index] ?? coming[0]?.walk.attempts[index];
  if (typical === undefined) throw new Error("an attempt that no walk has");
  const agreed = only || candidates.size === 1;
  const answers = new Set(coming.map(({ walk: one }) => one.attempts[index]?.answer));
  const override = destination.override(index + 1);
  return {
    attempt: index + 1,
    group: destination.group(typical.group ?? index + 1),
    candidates: candidatesOf(candidates, probability),
    cluster: agreed ? (typical.cluster ?? null) : null,
    answer: only || answers.size === 1 ? typical.answer : null,
    next: typical.next,
    because: typical.because,
    probability: only ? 1 : rounded(probability),
    ...(override === undefined ? {} : { override }),
    ...(typical.skipped.length === 0 ? {} : { skipped: typical.skipped }),
  };
}

function candidatesOf(shares: ReadonlyMap<string, number>, all: number): Candidate[] {
  const list = [...shares].map(([cluster, share]) => ({ cluster, probability: rounded(share / all) }));
  return list.sort((a, b) => b.probability - a.probability);
}

function pathsOf(all: readonly Weighted[]): Path[] {
  const paths = new Map<string, Path>();
  for (const { probability, walk: one } of all) {
    const clusters = one.attempts.map(({ cluster }) => cluster ?? null);
    const key = JSON.stringify([clusters, one.result.status]);
    const before = paths.get(key)?.probability ?? 0;
    paths.set(key, { probability: before + probability, clusters, status: one.result.status });
  }
  const list = [...paths.values()].map((path) => ({ ...path, probability: rounded(path.probability) }));
  return list.sort((a, b) => b.probability - a.probability);
}

function rounded(probability: number): number {
  return Number(probability.toFixed(9));
}

function retriesOf(rules: RetryRules): Explanation["retries"] {
  return {
    source: rules.source,
    conditions: [...rules.conditions],
    num_retries: rules.retries,
    refresh_cluster_on_retry: rules.refreshes,
    timeout_ms: rules.timeout,
    per_try_timeout_ms: rules.perTryTimeout,
  };
}
