import { Plan } from "../decide/plan";
import { BaseRoute } from "./route";
import { SpecifierChain } from "./specifier-chain";

/** All that the settings of a route say: how its attempts are decided, and which specifiers its requests are given to. */
@final
export class RoutePlan {
  /** The route specifiers that requests of the route are given to, or null. */
  chain: SpecifierChain | null = null;
  /** Number of slots in the routes whose cluster a specifier's priority groups replace. */
  overrideSlots: i32 = 0;
  /** The route as its specifiers see it; null in the plan of a virtual host, for requests without a route. */
  resolved: BaseRoute | null = null;

  constructor(readonly attempts: Plan) {}
}
