import { Host } from "../host/host";
import { followPlan } from "./picks";
import { internalRandom } from "./random-value";
import { planOfRequest } from "./route-plan";
import { Role } from "./role";
import { specify } from "./specify";

/**
 * The downstream role, right before the router: gives the route to its specifiers, plans every attempt of the request and
 * writes the picks that differ from the static default of their slot. The role in which it awaits the response; UNKNOWN: in none.
 */
export function onDownstreamRequest(host: Host): Role {
  const plan = planOfRequest(host);
  if (plan == null) return Role.UNKNOWN;
  const chain = plan.chain;
  let awaits = false;
  if (chain != null) awaits = specify(host, plan, chain);
  else followPlan(host, plan.attempts, internalRandom());
  if (plan.attempts.answers != null) return Role.WATCHER;
  return awaits ? Role.DOWNSTREAM : Role.UNKNOWN;
}
