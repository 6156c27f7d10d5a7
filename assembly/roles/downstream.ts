import { Host } from "../host/host";
import { followPlan } from "./picks";
import { internalRandom } from "./random-value";
import { planOfRequest } from "./route-plan";
import { specify } from "./specify";

/**
 * The downstream role, right before the router: gives the route to its specifiers, plans every attempt of the request and
 * writes the picks that differ from the static default of their slot. Whether the response's headers are of interest.
 */
export function onDownstreamRequest(host: Host): bool {
  const plan = planOfRequest(host);
  if (plan == null) return false;
  const chain = plan.chain;
  if (chain != null) return specify(host, plan, chain);
  followPlan(host, plan.attempts, internalRandom());
  return false;
}
