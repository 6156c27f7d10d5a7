import { Bytes } from "../bytes";
import { Candidates } from "../decide/candidates";
import { Plan } from "../decide/plan";
import { BaseRoute } from "../route/route";
import { compile } from "./compile";
import { readConfiguredRoute } from "./configured-route";
import { Fields } from "./fields";
import { Problem } from "./problem";
import { readChain } from "./route-specifiers";
import { MAX_SLOTS, readRouteSettings } from "./route-settings";
import { Value } from "./value";

/**
 * Reads the settings of a route, or of a virtual host for requests without one (`attempt_router.v1.RouteSettings`), into
 * the form that decisions are made by. What is wrong is noted in `problem`; the result is then null.
 */
export function readPlan(value: Value, name: Bytes, candidates: Candidates, problem: Problem): Plan | null {
  return readPlanFrom(new Fields(value, "", problem), name, candidates, problem);
}

/** As `readPlan`, from a message of which some fields may have been read. */
export function readPlanFrom(fields: Fields, name: Bytes, candidates: Candidates, problem: Problem): Plan | null {
  const specifiers = fields.object("route_specifiers");
  const settings = readRouteSettings(fields, specifiers == null);
  fields.finish();
  const resolved = specifiers != null ? specifiers.object("resolved") : null;
  const route: BaseRoute | null = resolved != null ? readConfiguredRoute(resolved, candidates) : null;
  const chain = specifiers != null ? readChain(specifiers, candidates) : null;
  const overrideSlots = specifiers != null ? specifiers.whole("slots", 1, MAX_SLOTS) : 0;
  if (specifiers != null) specifiers.finish();
  if (problem.exists) return null;
  const plan = compile(settings, name, candidates);
  plan.chain = chain;
  plan.overrideSlots = overrideSlots;
  if (route != null) {
    route.isResolved = true;
    plan.resolved = route;
  }
  return plan;
}
