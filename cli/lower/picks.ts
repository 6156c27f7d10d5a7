// Settings about how clusters are picked: `avoid_tried_clusters` and `pick`, of a route or of its virtual host. The module
// carries them out.

import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Json } from "../yaml/scalar.js";
import { refreshesCluster } from "./retry-policy.js";
import { groupsOf, isMessage } from "./settings.js";

type Settings = { [key: string]: Json };

const AVOID = "avoid_tried_clusters";
const PICK = "pick";
export const PICKS = [AVOID, PICK];

/** Whether a pick from the groups hangs on those before it, so that every attempt has a slot of its own. */
export function avoidsTried(settings: Settings): boolean {
  return settings[AVOID] === true && groupsOf(settings).some(({ clusters }) => clusters.length > 1);
}

/** Settings of a route that picks nothing, without what its virtual host says of picks. `own`: what the route itself says. */
export function withoutInheritedPicks(settings: Settings, own: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => !PICKS.includes(key) || key in own));
}

/** Whether picks hang on more than the interval of weights that the random value falls on. */
export function picksOtherwise(settings: Settings): boolean {
  return settings[AVOID] === true || settings[PICK] === "RENDEZVOUS";
}

/** What is wrong with avoiding clusters where the route stands. `composite`: it may meet a composite cluster. */
export function pickFindings(settings: Settings, route: Cursor, host: Cursor, composite: boolean): Finding[] {
  if (settings[AVOID] !== true) return [];
  const rules: [boolean, string][] = [
    [isMessage(settings["priority_group"]), `priority groups on a route with ${AVOID}, found none`],
    [settings["slot_form"] !== "HEADERS", `cluster_selection: MATCHER beside ${AVOID}, found HEADER`],
    [
      settings["slot_form"] !== "ONE_SLOT",
      `x-envoy-attempt-count as Envoy writes it beside ${AVOID}, found it changed`,
    ],
    [!composite, `no composite clusters beside ${AVOID}, found some`],
    [refreshesCluster(route, host), `refresh_cluster_on_retry: true in the retry policy beside ${AVOID}, found none`],
  ];
  return rules.filter(([holds]) => !holds).map(([, expected]) => route.finding(`expected ${expected}`));
}
