import type { Check, Found } from "../check.js";
import { routeConfigurationsOf, type Route, type RouteMatch } from "../../model/index.js";

export const unreachableRoute: Check = {
  code: "unreachable-route",
  severity: "warning",
  title: "a route that never gets a request",
  why: "Envoy takes the first route that matches: one whose requests all match a route before it is never used",
  find(context) {
    return routeConfigurationsOf(context.program).flatMap(({ virtualHosts }) =>
      virtualHosts.flatMap(({ routes, matcher }) => {
        if (matcher !== undefined) return [];
        const found: Found[] = [];
        const open = new Prefixes();
        for (const route of routes) {
          const before = open.covering(route.match);
          if (before !== undefined) {
            const message = `the route on line ${before.origin.line} takes every request of this one`;
            found.push({ at: route, message, fix: "move the more specific route before it" });
          }
          if (isUnconditional(route.match)) open.add(route);
        }
        return found;
      }),
    );
  },
};

/** Whether only the path decides. */
function isUnconditional(match: RouteMatch): boolean {
  const conditions = [
    match.headers,
    match.queryParameters,
    match.cookies,
    match.dynamicMetadata,
    match.filterState,
    match.others,
  ];
  return (
    !match.grpc &&
    match.tls === undefined &&
    match.runtimeFraction === undefined &&
    conditions.every((list) => list.length === 0)
  );
}

/** Routes that only a prefix decides, by that prefix: a table of routes is looked through once. */
class Prefixes {
  private readonly exact = new Map<string, Route>();
  /** Those that compare without regard to case, in lower case. */
  private readonly folded = new Map<string, Route>();

  add(route: Route): void {
    const { path } = route.match;
    if (path?.type !== "prefix") return;
    const [map, text] = path.caseSensitive ? [this.exact, path.text] : [this.folded, path.text.toLowerCase()];
    if (!map.has(text)) map.set(text, route);
  }

  /** The first route that takes all that the match takes. */
  covering({ path }: RouteMatch): Route | undefined {
    const found = prefixesOf(path).flatMap((prefix) => [
      this.folded.get(prefix.toLowerCase()) ?? [],
      isCompared(path, prefix) ? (this.exact.get(prefix) ?? []) : [],
    ]);
    return found.flat().sort((a, b) => a.origin.line - b.origin.line || a.origin.column - b.origin.column)[0];
  }
}

/** The prefixes that every path has which the match takes. */
function prefixesOf(path: RouteMatch["path"]): string[] {
  if (path === undefined || !("text" in path)) return [""];
  if (path.type === "safe_regex") return ["", "/"];
  return Array.from({ length: path.text.length + 1 }, (_, length) => path.text.slice(0, length));
}

/** Whether a prefix with regard to case is one of all the spellings that the match takes. */
function isCompared(path: RouteMatch["path"], prefix: string): boolean {
  const anyCase = path !== undefined && "caseSensitive" in path && !path.caseSensitive && path.type !== "safe_regex";
  return !anyCase || prefix.toLowerCase() === prefix.toUpperCase();
}
