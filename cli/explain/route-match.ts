// Whether a request is for a route: envoy.config.route.v3.RouteMatch.

import type { Fraction, Json, MetadataMatcher, PathMatch, Route, RouteMatch } from "../model/index.js";
import { fullMatch } from "./regex.js";
import { cookie, headerValue, pathOf, queryParameter, type ExplainedRequest } from "./request.js";
import { matchHeader, matchNamed, matchValue } from "./values.js";
import { allOf, inverted, no, unknown, yes, type Verdict } from "./verdict.js";

/** Whether a route's match holds for a request. The path is looked at first: it rules out most routes. */
export function matchRoute(match: RouteMatch, request: ExplainedRequest): Verdict {
  const path = match.path === undefined ? no("the match has no path") : matchPath(match.path, request);
  if (path.holds === false) return path;
  return allOf([path, ...otherVerdicts(match, request)], "");
}

function otherVerdicts(match: RouteMatch, request: ExplainedRequest): Verdict[] {
  const { grpc, tls } = match;
  return [
    ...(grpc ? [matchGrpc(request)] : []),
    ...match.headers.map((matcher) => matchHeader(matcher, request)),
    ...match.queryParameters.map((matcher) =>
      matchNamed(matcher, queryParameter(request, matcher.name), `query parameter ${matcher.name}`),
    ),
    ...match.cookies.map((matcher) => matchNamed(matcher, cookie(request, matcher.name), `cookie ${matcher.name}`)),
    ...match.dynamicMetadata.map((matcher) => matchMetadata(matcher, request)),
    ...match.filterState.map(({ key }) => unknown(`filter state ${key} is not known here`)),
    ...(tls === undefined ? [] : [unknown("the client's certificate is not known here")]),
    ...match.others.map(({ origin }) => unknown(`${origin.path.split(".").at(-1) ?? ""} cannot be decided here`)),
    ...(match.runtimeFraction === undefined ? [] : [matchFraction(match.runtimeFraction, request)]),
  ];
}

function matchPath(match: PathMatch, request: ExplainedRequest): Verdict {
  const path = pathOf(request);
  if (match.type === "path_match_policy") return unknown("path_match_policy cannot be decided here");
  if (match.type === "connect_matcher") {
    const holds = request.method === "CONNECT";
    return { holds, because: `the method is ${holds ? "" : "not "}CONNECT` };
  }
  const text = JSON.stringify(match.text);
  if (match.type === "safe_regex") {
    const holds = fullMatch(match.text, path);
    if (holds === undefined) return unknown(`path: the expression ${text} is one that only RE2 can decide`);
    return { holds, because: `path ${holds ? "matches" : "does not match"} the expression ${text}` };
  }
  const [wanted, found] = match.caseSensitive ? [match.text, path] : [match.text.toLowerCase(), path.toLowerCase()];
  if (match.type === "path")
    return { holds: found === wanted, because: `path is ${found === wanted ? "" : "not "}${text}` };
  const starts = found.startsWith(wanted);
  const holds = starts && (match.type === "prefix" || found.length === wanted.length || found[wanted.length] === "/");
  return { holds, because: `path ${holds ? "starts with" : "does not start with"} ${text}` };
}

function matchGrpc(request: ExplainedRequest): Verdict {
  const type = headerValue(request, "content-type") ?? "";
  const holds = /^application\/grpc([+;].*)?$/.test(type);
  return { holds, because: `the content type is ${holds ? "" : "not "}that of gRPC` };
}

function matchMetadata(matcher: MetadataMatcher, request: ExplainedRequest): Verdict {
  const what = `metadata ${[matcher.filter, ...matcher.path].join(".")}`;
  let value: Json | undefined = request.metadata[matcher.filter];
  for (const step of matcher.path) {
    value = value !== null && typeof value === "object" && !Array.isArray(value) ? value[step] : undefined;
  }
  // Filters run after the first match; what they write counts once one of them clears the route cache.
  return inverted(matchValue(matcher.value, value, what), matcher.invert);
}

function matchFraction(fraction: Fraction, { random }: ExplainedRequest): Verdict {
  const share = Math.min(1, fraction.numerator / fraction.denominator);
  const text = `runtime_fraction takes ${Number((share * 100).toFixed(4))} % of the requests`;
  if (share >= 1) return yes(text);
  if (share <= 0) return no(text);
  if (random === undefined) return { ...unknown(text), probability: share };
  const holds = random % BigInt(fraction.denominator) < BigInt(fraction.numerator);
  return { holds, because: `${text}, and this one is ${holds ? "" : "not "}among them` };
}

/** A route that was looked at. */
export interface Considered {
  readonly route: Route;
  readonly verdict: Verdict;
}

export interface RouteChoice {
  /** Undefined: none, so the request gets 404. */
  readonly route: Route | undefined;
  readonly because: string;
  /** The routes before it that may take the request instead, since what is given does not decide. */
  readonly undecided: readonly Considered[];
  /** How many of the requests like this one the route takes, where only chance decides: 0 to 1. */
  readonly probability: number;
}

/**
 * The first route that takes a request. One that cannot be decided is passed over and noted; one that chance decides is
 * taken where it takes at least half of the requests.
 */
export function chooseRoute(routes: readonly Route[], request: ExplainedRequest): RouteChoice {
  const undecided: Considered[] = [];
  let rest = 1;
  for (const route of routes) {
    const verdict = matchRoute(route.match, request);
    const { holds, probability, because } = verdict;
    if (holds === false) continue;
    if (holds === true) return { route, because, undecided, probability: rest };
    if (probability !== undefined && probability >= 0.5) {
      return { route, because, undecided, probability: rest * probability };
    }
    if (probability !== undefined) rest *= 1 - probability;
    undecided.push({ route, verdict });
  }
  return { route: undefined, because: "no route of the virtual host matches", undecided, probability: rest };
}
