// From a request to its route: listener, route configuration, virtual host, route.

import type { ConnectionManager, Program, Route, RouteConfiguration, VirtualHost } from "../model/index.js";
import { chooseVirtualHost } from "./domains.js";
import { matcherRoutes } from "./matcher-tree.js";
import type { ExplainedRequest } from "./request.js";
import { chooseRoute } from "./route-match.js";

/** Which of the file's route tables is meant, where there are several. */
export interface Place {
  readonly listener?: string | undefined;
  readonly routeConfiguration?: string | undefined;
}

export interface Resolved {
  readonly manager: ConnectionManager | undefined;
  readonly configuration: RouteConfiguration;
  readonly virtualHost: VirtualHost | undefined;
  readonly route: Route | undefined;
  readonly virtualHostBecause: string;
  readonly routeBecause: string;
  /** Sentences about what could not be decided. */
  readonly undecided: readonly string[];
  /** Of requests like this one, those that take the route. */
  readonly probability: number;
}

/** The place names nothing that is in the file. */
export class PlaceError extends Error {
  override readonly name = "PlaceError";
}

/** The route of a request, by Envoy's order. @throws PlaceError */
export function resolve(program: Program, request: ExplainedRequest, place: Place): Resolved {
  const { manager, configuration } = routeTable(program, place);
  const { host, because } = chooseVirtualHost(configuration, request);
  const base = { manager, configuration, virtualHost: host, virtualHostBecause: because };
  if (host === undefined) return { ...base, route: undefined, routeBecause: "", undecided: [], probability: 1 };
  const { routes, undecided } = routesFor(host, request);
  const choice = chooseRoute(routes, request);
  const passed = choice.undecided.map(({ route, verdict }) => {
    const share = verdict.probability === undefined ? "may take" : `takes ${percent(verdict.probability)} of`;
    return `${describe(route)} stands before it and ${share} such requests: ${verdict.because}`;
  });
  return {
    ...base,
    route: choice.route,
    routeBecause: choice.because,
    undecided: [...undecided, ...passed],
    probability: choice.probability,
  };
}

function routesFor(host: VirtualHost, request: ExplainedRequest): { routes: readonly Route[]; undecided: string[] } {
  if (host.matcher === undefined) return { routes: host.routes.filter(({ listed }) => listed), undecided: [] };
  return matcherRoutes(host, host.matcher, request);
}

function routeTable(
  program: Program,
  place: Place,
): { manager: ConnectionManager | undefined; configuration: RouteConfiguration } {
  const listeners = program.listeners.filter(({ name }) => place.listener === undefined || name === place.listener);
  if (place.listener !== undefined && listeners.length === 0) {
    const names = program.listeners.map(({ name }) => name).join(", ");
    throw new PlaceError(`expected one of the listeners ${names || "(none)"}, found ${place.listener}`);
  }
  const managers = listeners.flatMap((listener) => listener.managers);
  const tables = [
    ...managers.flatMap((manager) => manager.routeConfigurations.map((configuration) => ({ manager, configuration }))),
    ...program.looseRouteConfigurations.map((configuration) => ({ manager: undefined, configuration })),
  ];
  const wanted = place.routeConfiguration;
  const found = tables.find(({ configuration }) => wanted === undefined || configuration.name?.value === wanted);
  if (found !== undefined) return found;
  const names = tables.map(({ configuration }) => configuration.name?.value ?? "(unnamed)").join(", ");
  const expected =
    wanted === undefined ? "a route configuration in the file" : `one of the route configurations ${names}`;
  throw new PlaceError(`expected ${expected}, found ${wanted ?? "none"}`);
}

/** `route "r" (line 12)`. */
export function describe(route: Route): string {
  const name = route.name?.value;
  return `route ${name === undefined || name === "" ? "" : `${JSON.stringify(name)} `}(line ${route.origin.line})`;
}

export function percent(probability: number): string {
  return `${Number((probability * 100).toFixed(2))} %`;
}
