// Random requests, and matches and conditions that some of them fulfil.

import type { Random } from "../../fuzz/random.js";
import type { Config } from "../../support/case.js";
import type { WorldRequest } from "./generate.js";

export const HOSTS = ["one.test", "two.test"];
const HEADERS = ["x-a", "x-b", "x-tenant"];
const WORDS = ["gold", "Gold", "go", "old", "a,b", "silver", "12", "7"];
const PATHS = ["", "/", "/api", "/API", "/api/v1", "/apix"];
const QUERIES = ["", "", "?q=yes", "?q=no&q=yes", "?x=1&q=yes", "?q", "?q=", "?Q=yes", "?xq=yes", "?q=Yes&y"];

/** To a path of the route with that index. */
export function randomRequest(random: Random, host: string, route: number): Omit<WorldRequest, "listener"> {
  const headers: Record<string, string[]> = { host: [host], "x-pick": [`${random.below(10)}`] };
  for (const name of HEADERS) {
    if (random.chance(0.5)) headers[name] = Array.from({ length: random.pick([1, 1, 2]) }, () => random.pick(WORDS));
  }
  if (random.chance(0.5)) headers["x-to"] = [random.pick(["a", "c", "x", "nowhere"])];
  if (random.chance(0.2)) headers["content-type"] = [random.pick(["application/grpc", "application/grpc+x", "text/x"])];
  if (random.chance(0.4)) headers["x-t"] = ["sent"];
  const app: Config = {};
  if (random.chance(0.5)) app["tier"] = random.pick(["gold", "Gold", "a", "nowhere"]);
  if (random.chance(0.5)) app["n"] = random.below(3);
  if (random.chance(0.5)) app["flag"] = random.chance(0.5);
  if (random.chance(0.5)) app["deep"] = { tier: random.pick(["gold", "c"]) };
  return {
    method: random.pick(["GET", "DELETE"]),
    path: `/r${route}${random.pick(PATHS)}${random.pick(QUERIES)}`,
    headers,
    metadata: Object.keys(app).length > 0 ? { app } : {},
  };
}

/** The match of a template: often one that holds for all. */
export function templateMatch(random: Random): Config {
  const fold = random.chance(0.25) ? { case_sensitive: false } : {};
  const route = `/${Object.keys(fold).length > 0 ? "R" : "r"}${random.below(7)}`;
  const path = random.pick<Config>([
    { prefix: "/" },
    { prefix: "/" },
    { prefix: route, ...fold },
    { path: `${route}/api`, ...fold },
    { path_separated_prefix: route, ...fold },
    { safe_regex: { regex: "/r[0-3].*" } },
  ]);
  return {
    ...path,
    ...(random.chance(0.25) && { headers: headerMatchers(random) }),
    ...(random.chance(0.2) && { query_parameters: parameterMatchers(random) }),
    ...(random.chance(0.05) && { grpc: {} }),
    ...(random.chance(0.1) && { dynamic_metadata: [nativeMetadataMatcher(random)] }),
  };
}

function textMatch(random: Random, words: readonly string[]): Config {
  const fold = random.chance(0.3) ? { ignore_case: true } : {};
  return { [random.pick(["exact", "prefix", "suffix", "contains"])]: random.pick(words), ...fold };
}

/** Native matchers of every kind. */
export function headerMatchers(random: Random): Config[] {
  return Array.from({ length: 1 + random.below(2) }, () => ({
    name: random.pick(HEADERS),
    ...headerComparison(random),
    ...(random.chance(0.3) && { invert_match: true }),
    ...(random.chance(0.3) && { treat_missing_header_as_empty: true }),
  }));
}

function headerComparison(random: Random): Config {
  const dice = random.below(10);
  if (dice < 2) return { present_match: random.chance(0.5) };
  if (dice === 2) return { range_match: { start: 5, end: 10 } };
  if (dice === 3) return { string_match: { safe_regex: { regex: "go.*" } } };
  if (dice === 4) return { [`${random.pick(["exact", "prefix", "suffix", "contains"])}_match`]: random.pick(WORDS) };
  return { string_match: textMatch(random, WORDS) };
}

export function parameterMatchers(random: Random): Config[] {
  const compare = random.chance(0.3)
    ? { present_match: random.chance(0.7) }
    : { string_match: textMatch(random, ["yes", "no", "Yes", "y"]) };
  return [{ name: random.pick(["q", "q", "x", "y"]), ...compare }];
}

function nativeMetadataMatcher(random: Random): Config {
  const { namespace: filter, path, value, ...rest } = metadataMatcher(random);
  return { filter, path: (path as string[]).map((key) => ({ key })), value, ...rest };
}

/** A `when`. */
export function condition(random: Random, depth = 0): Config {
  const some = (make: () => Config) => Array.from({ length: 1 + random.below(2) }, make);
  const resolved = random.chance(0.25) && { route_resolved: random.chance(0.6) };
  return {
    ...resolved,
    ...(random.chance(0.15) && { methods: [random.pick(["GET", "DELETE"])] }),
    ...(random.chance(0.25) && { path: textMatch(random, ["/r1", "/api", "/r", "v1", "/r2/api"]) }),
    ...(random.chance(0.25) && { headers: some(() => conditionHeader(random)) }),
    ...(random.chance(0.12) && { query_parameters: parameterMatchers(random) }),
    ...(random.chance(0.2) && { metadata: some(() => metadataMatcher(random)) }),
    ...(random.chance(0.12) && { fraction: { numerator: random.pick([0, 50, 100]) } }),
    ...(depth < 2 && random.chance(0.15) && { any_of: some(() => condition(random, depth + 1)) }),
    ...(depth < 2 && random.chance(0.15) && { not: condition(random, depth + 1) }),
  };
}

function conditionHeader(random: Random): Config {
  return {
    name: random.pick(HEADERS),
    ...(random.chance(0.3) ? { present_match: random.chance(0.5) } : { string_match: textMatch(random, WORDS) }),
    ...(random.chance(0.3) && { invert_match: true }),
    ...(random.chance(0.3) && { treat_missing_header_as_empty: true }),
  };
}

function metadataMatcher(random: Random): Config {
  const value = random.pick<() => Config>([
    () => ({ string_match: textMatch(random, WORDS) }),
    () => ({ bool_match: random.chance(0.5) }),
    () => ({ double_match: random.chance(0.5) ? { exact: random.below(3) } : { range: { start: 0, end: 2 } } }),
    () => ({ present_match: true }),
  ])();
  const path = random.pick([["tier"], ["n"], ["flag"], ["deep", "tier"], ["deep"], ["absent", "x"]]);
  return { namespace: "app", path, value, ...(random.chance(0.3) && { invert: true }) };
}
