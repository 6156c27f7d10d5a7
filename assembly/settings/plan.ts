import { Bytes } from "../bytes";
import { Candidates } from "../decide/candidates";
import { BaseRoute } from "../route/route";
import { RoutePlan } from "../route/route-plan";
import { readAnswers } from "./answers";
import { compile } from "./compile";
import { readConfiguredRoute } from "./configured-route";
import { Fields } from "./fields";
import { Problem } from "./problem";
import { readSpecifiers } from "./route-specifiers";
import { MAX_SLOTS, readRouteSettings } from "./route-settings";

/**
 * Reads the settings of a route, or of a virtual host for requests without one (`attempt_router.v1.RouteSettings`), into
 * the form that decisions are made by. What is wrong is noted in `problem`; the result is then null.
 */
export function readPlan(fields: Fields, name: Bytes, candidates: Candidates, problem: Problem): RoutePlan | null {
  const specifiers = fields.object("route_specifiers");
  const settings = readRouteSettings(fields, specifiers == null);
  const answers = readAnswers(fields, settings);
  fields.finish();
  const resolved = specifiers != null ? specifiers.object("resolved") : null;
  const route: BaseRoute | null = resolved != null ? readConfiguredRoute(resolved, candidates) : null;
  const chain = specifiers != null ? readSpecifiers(specifiers, candidates) : null;
  const overrideSlots = specifiers != null ? specifiers.whole("slots", 1, MAX_SLOTS) : 0;
  if (specifiers != null) specifiers.finish();
  if (problem.exists) return null;
  const plan = new RoutePlan(compile(settings, name, candidates));
  plan.attempts.answers = answers;
  plan.chain = chain;
  plan.overrideSlots = overrideSlots;
  if (route != null) {
    route.isResolved = true;
    plan.resolved = route;
  }
  return plan;
}
