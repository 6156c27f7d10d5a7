// What the instructions of a request are drawn against: sizes of the configuration.

import { bothForms, chain, route, type Group, type Route, type Run } from "./configs.js";
import { FAILS, HOLDS, SINGLE, timeoutOverrides, WEIGHTED } from "../scenarios.js";

const GROUP_COUNTS = [1, 2, 4, 16, 64];
const CLUSTER_COUNTS = [1, 2, 16, 64, 256];
const ROUTE_COUNTS = [1, 3, 30, 300, 3_000, 10_000];
const SPECIFIER_COUNTS = [1, 4, 8, 16, 32];

export const RUNS: readonly Run[] = [
  ...bothForms("groups", "80/20 in every group", GROUP_COUNTS, (x) => [route(chain(groups(x, WEIGHTED)))]),
  ...bothForms("groups", "single clusters", GROUP_COUNTS, (x) => [route(chain(groups(x, SINGLE)))]),
  ...[
    ...bothForms("clusters", "80 % to the first", CLUSTER_COUNTS, (x) => [threeGroups(firstTakesMost(x))]),
    ...bothForms("clusters", "equal weights", CLUSTER_COUNTS, (x) => [threeGroups(weighted(x, () => 1))]),
  ].map((run) => ({ ...run, warmUpByX: 32 })),
  ...bothForms("routes", "a chain each", ROUTE_COUNTS, routesWithChains).map(atBothEnds),
  ...bothForms("routes", "one chain", ROUTE_COUNTS, (x) => routes(x, () => 0))
    .map(atBothEnds)
    .filter(({ form }) => form === "lowered"),
  specifiers("that hold", () => HOLDS),
  specifiers("that fail at one header", () => FAILS),
  specifiers("that fail at a header each", (i) => ({ headers: [{ name: `x-absent-${i}`, present_match: true }] })),
  {
    curve: "specifiers",
    form: "native",
    xs: [1],
    routes: () => [route({ cluster: "a1" })],
    paths: { "a plain route": () => "/" },
  },
];

function groups(count: number, clusters: Group["clusters"]): Group[] {
  return Array.from({ length: count }, (_, i) => ({ name: `g${i + 1}`, clusters }));
}

function threeGroups(first: Group["clusters"]) {
  return route(chain([{ name: "first", clusters: first }, ...groups(2, SINGLE)]));
}

function weighted(count: number, weight: (index: number) => number): Group["clusters"] {
  return Array.from({ length: count }, (_, i) => ({ cluster_name: `a${i + 1}`, weight: weight(i) }));
}

/** 80 % to the first cluster; the others share the rest. */
function firstTakesMost(count: number): Group["clusters"] {
  return weighted(count, (i) => (i === 0 ? 4 * Math.max(1, count - 1) : 1));
}

/** As many routes, on `/0/`, `/1/` and so on, each with a chain that no other has. */
export function routesWithChains(count: number): Route[] {
  return routes(count, (i) => i);
}

/** Two groups, the first with two clusters. Only the names of the groups depend on the number. */
export function numberedGroups(chainNumber: number): Group[] {
  return [WEIGHTED, SINGLE].map((clusters, i) => ({ name: `g${chainNumber}-${i + 1}`, clusters }));
}

function routes(count: number, chainOf: (index: number) => number): Route[] {
  return Array.from({ length: count }, (_, i) =>
    route(chain(numberedGroups(chainOf(i))), { match: { prefix: `/${i}/` } }),
  );
}

function atBothEnds(run: Run): Run {
  const [name = ""] = Object.keys(run.paths);
  const paths = { [`${name}, first route`]: () => "/0/", [`${name}, last route`]: (x: number) => `/${x - 1}/` };
  return { ...run, paths };
}

function specifiers(what: string, when: (index: number) => object): Run {
  const one = (index: number) => timeoutOverrides(1, { ...when(index) }).map((it) => ({ ...it, name: `s${index}` }));
  const listed = (x: number) => Array.from({ length: x }, (_, i) => one(i)).flat();
  return {
    curve: "specifiers",
    form: "lowered",
    xs: SPECIFIER_COUNTS,
    routes: (x) => [route({ cluster: "a1" }, { route_specifiers: listed(x) })],
    paths: { [`specifiers ${what}`]: () => "/" },
  };
}
