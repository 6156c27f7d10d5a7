import type { Json } from "../yaml/scalar.js";
import { marksStart, type PriorityGroupRoute } from "./priority-group.js";
import { message, routeAction, submessage } from "./route-copy.js";
import { slotPerAttemptSpecifier } from "./slot-tree.js";
import { startMark } from "./start-mark.js";
import { PER_FILTER } from "./types.js";
import { fractionOf, type Share } from "../choose/weights.js";

/** The routes for all shares of a planned route but the last, which is the route itself: they go right before it. */
export function shareCopies(planned: PriorityGroupRoute): Json[] {
  const original = message(planned.route);
  return planned.shares.slice(0, -1).map((share) => {
    const fields = Object.entries(original).flatMap(([key, value]) => copiedField(planned, share, key, value));
    return Object.fromEntries(fields);
  });
}

function copiedField(planned: PriorityGroupRoute, share: Share, key: string, value: Json): [string, Json][] {
  const from = { [key]: value };
  if (key === "name") return [[key, planned.name]];
  if (key === "match") return [[key, { ...submessage(from, key), ...fractionOf(share) }]];
  if (key !== "route") return [[key, value]];
  const marks = marksStart(planned.delivery);
  const selection = { inline_cluster_specifier_plugin: slotPerAttemptSpecifier(share.slots, marks) };
  const action: [string, Json] = [key, routeAction(planned, submessage(from, key), selection)];
  return marks ? [[PER_FILTER, startMark()], action] : [action];
}
