import type { Check } from "../check.js";

export const misplacedRouteField: Check = {
  code: "misplaced-route-field",
  severity: "error",
  title: "a field of the action that stands beside it",
  why: "Envoy reads retry_policy, hash_policy and timeout of a route only inside of `route`, and refuses the file, or overlooks them",
  find(context) {
    return context.routes.flatMap(({ route }) =>
      route.misplaced.map((at) => ({
        at,
        message: `${at.origin.path.split(".").at(-1) ?? "a field"} stands beside the route's action`,
        fix: "move it into `route`",
      })),
    );
  },
};
