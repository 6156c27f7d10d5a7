import { Condition } from "../decide/condition";
import { RequestView } from "../decide/request-view";
import { Route, reuseWrappers } from "./route";
import { OnRouteStatus, RouteSpecifier } from "./specifier";

/** One configured specifier. */
@final
export class SpecifierStep {
  constructor(
    readonly specifier: RouteSpecifier,
    /** What must hold for it to run; null: always. */
    readonly when: Condition | null,
    /** Where it applied, no further specifier runs. */
    readonly isFinal: bool,
  ) {}
}

/**
 * The specifiers that a route (or a virtual host without a resolved route) is given to, in order: those of the route
 * configuration, of the virtual host, of the resolved route. The route level belongs to the route that matching
 * resolved, whatever the specifiers before it made of it.
 *
 * Specification: route specifiers, "Configuration", "Requests with no resolved route", "Ending the chain early".
 */
@final
export class SpecifierChain {
  constructor(readonly steps: StaticArray<SpecifierStep>) {}

  /**
   * The final route; null is no route. `given` is what route matching resolved, `seed` the request's random value,
   * the same for every specifier.
   */
  run(given: Route | null, request: RequestView, seed: u64): Route | null {
    reuseWrappers();
    const steps = this.steps;
    let route = given;
    for (let i = 0; i < steps.length; i++) {
      const step = unchecked(steps[i]);
      const when = step.when;
      if (when != null && !when.holds(request, route != null, seed)) continue;
      const result = step.specifier.onRoute(route, request, seed);
      route = result.route;
      if (result.status == OnRouteStatus.STOP || (result.status == OnRouteStatus.APPLIED && step.isFinal)) break;
    }
    return route;
  }
}
