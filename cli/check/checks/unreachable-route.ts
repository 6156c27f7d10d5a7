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
        const open: Route[] = [];
        for (const route of routes) {
          const before = open.find((one) => covers(one.match, route.match));
          if (before !== undefined) {
            const message = `the route on line ${before.origin.line} takes every request of this one`;
            found.push({ at: route, message, fix: "move the more specific route before it" });
          }
          if (isUnconditional(route.match)) open.push(route);
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

function covers({ path: before }: RouteMatch, { path }: RouteMatch): boolean {
  if (before?.type !== "prefix" || path === undefined || !("text" in path))
    return before?.type === "prefix" && before.text === "";
  if (path.type === "safe_regex") return before.text === "" || before.text === "/";
  const [wanted, found] = before.caseSensitive
    ? [before.text, path.text]
    : [before.text.toLowerCase(), path.text.toLowerCase()];
  return found.startsWith(wanted);
}
