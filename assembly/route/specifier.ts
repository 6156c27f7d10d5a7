import { RequestView } from "../decide/request-view";
import { Route } from "./route";

/** What a specifier says about the rest of the chain. */
export enum OnRouteStatus {
  /** It did nothing; the chain goes on. */
  PASSED,
  /** It did its work; the chain goes on unless the specifier is configured as `final`. */
  APPLIED,
  /** Its result is final. */
  STOP,
}

/** What a specifier returns: the route to hand to the next one, and whether the chain goes on. */
@final
export class OnRouteResult {
  route: Route | null = null;
  status: OnRouteStatus = OnRouteStatus.PASSED;
}

// One chain runs at a time, and the engine reads a result before it asks for the next.
const result = new OnRouteResult();

/** The specifier had nothing to do; `route` is what it was given. */
export function pass(route: Route | null): OnRouteResult {
  return returned(route, OnRouteStatus.PASSED);
}

/** The specifier applied; the next one is given `route`. */
export function apply(route: Route | null): OnRouteResult {
  return returned(route, OnRouteStatus.APPLIED);
}

/** The specifier declares its result final, whatever its configuration says. */
export function stop(route: Route | null): OnRouteResult {
  return returned(route, OnRouteStatus.STOP);
}

function returned(route: Route | null, status: OnRouteStatus): OnRouteResult {
  result.route = route;
  result.status = status;
  return result;
}

/**
 * Customizes or monitors the route of a request.
 *
 * One instance serves every request of a VM, so it keeps nothing about a request: what a request needs belongs on the
 * route that it returns. It must be total: a trap ends every request of the worker's VM.
 */
export abstract class RouteSpecifier {
  /**
   * @param route what the specifier before it returned; null is no route. Return it unchanged where there is nothing to
   *   do, and where it has no route entry (a redirect, a direct response) that could be overridden.
   * @param request read-only
   * @param seed a random value, the same for every specifier of the request
   */
  abstract onRoute(route: Route | null, request: RequestView, seed: u64): OnRouteResult;
}
