// The table by which each route gets its form: the first one that fits, from the cheapest on.

import type { Attempts } from "../model/attempts.js";
import type { Origin } from "../model/origin.js";
import type { RouteSettings } from "../lower/settings.js";
import type { Slot } from "../lower/slot-tree.js";
import { FORMS, firstReason, type Choice, type Delivery, type Form, type Reason } from "./delivery.js";
import { sharesOf, type Share } from "./weights.js";

/** What counts of a route. A reason is why something does not hold; undefined: it holds. */
export interface RouteFacts {
  /** Of the route. */
  at: Origin;
  attempts: Attempts;
  settings: RouteSettings;
  /** Everything that an attempt may take, whatever the request. */
  slots: readonly Slot[];
  /** Why requests name clusters that no list holds. */
  byHeader: Reason | undefined;
  /** Why x-envoy-attempt-count does not tell the attempts apart. */
  countUnusable: Reason | undefined;
  /** Why the route cannot become several. */
  unsplittable: Reason | undefined;
  /** Why the request has to be kept on the route when the route is selected again. */
  pinned: Reason | undefined;
  /** Why metadata is read at every attempt. */
  readsPerAttempt: Reason | undefined;
  /** Why the answers of attempts are looked at. */
  watchesAnswers: Reason | undefined;
  /** Why the module has to know which clusters have a host. */
  skips: Reason | undefined;
}

/** What the connection managers around a route say of it. */
export interface RouteSurroundings {
  /** Why no filter marks that the router has begun. */
  unmarked: Reason | undefined;
  /** Why one filter serves all routes. */
  sharedFilter: Reason | undefined;
}

type Rule = (facts: RouteFacts, around: RouteSurroundings) => Delivery | Reason;

const RULES: Readonly<Record<Form, Rule>> = {
  static: (facts, around) =>
    firstReason([({ byHeader }) => byHeader, ({ watchesAnswers }) => watchesAnswers, somethingToDecide], facts) ??
    withoutModule(facts, around) ?? { kind: "static", routerStarted: facts.slots.length > 1 },
  shares: (facts, around) => {
    const reason = facts.byHeader ?? facts.watchesAnswers ?? withoutModule(facts, around) ?? facts.unsplittable;
    if (reason !== undefined) return reason;
    const shares = sharesOf(facts.settings, facts.slots);
    if (typeof shares === "string") return { because: shares, at: facts.attempts.origin };
    return { kind: "shares", shares, routerStarted: facts.slots.length > 1 };
  },
  "slots, a filter for each": (facts, { sharedFilter }) =>
    facts.byHeader ?? facts.countUnusable ?? sharedFilter ?? { kind: "slots", filter: "perChain", pinned: false },
  slots: (facts) =>
    facts.byHeader ?? facts.countUnusable ?? { kind: "slots", filter: "shared", pinned: facts.pinned !== undefined },
  "one slot": (facts) => facts.byHeader ?? { kind: "oneSlot", pinned: facts.pinned !== undefined },
  headers: () => ({ kind: "headers" }),
};

/** The form of a route, and why it does not get a cheaper one. */
export function choose(facts: RouteFacts, around: RouteSurroundings): Choice {
  const declined: Choice["declined"] = [];
  for (const form of FORMS) {
    const result = RULES[form](facts, around);
    if ("kind" in result) return { form, delivery: result, declined };
    declined.push({ form, ...result });
  }
  throw new Error("the last form takes every route");
}

/** Whether the module has work on a route. */
export function needsModule(facts: RouteFacts, unmarked: Reason | undefined): boolean {
  const around = { unmarked, sharedFilter: undefined };
  return !(["static", "shares"] as const).some((form) => "kind" in RULES[form](facts, around));
}

/** The upstream role's work on a route that needs the module. */
export function decidesPerAttempt(facts: RouteFacts): Reason | undefined {
  const { byHeader, countUnusable, readsPerAttempt, watchesAnswers, skips } = facts;
  return readsPerAttempt ?? watchesAnswers ?? skips ?? (byHeader === undefined ? countUnusable : undefined);
}

/** The routes that the delivery of a route is, the last one being the route itself. */
export function sharesOfDelivery(delivery: Delivery, slots: readonly Slot[]): readonly Share[] {
  return delivery.kind === "shares" ? delivery.shares : [{ slots }];
}

/** Why attempts of different requests may go to different clusters. */
function somethingToDecide({ attempts, slots, skips, at }: RouteFacts): Reason | undefined {
  if (slots.every(({ otherClusters, open }) => otherClusters.length === 0 && !open)) return undefined;
  const { override, groups } = attempts;
  if (override !== undefined) {
    return { because: `requests may override the priority groups by metadata ${override.value}`, at: override.origin };
  }
  const several = groups.find(({ clusters }) => clusters.length > 1);
  if (several !== undefined) {
    const name = several.name?.value ?? "";
    return { because: `the priority group ${name} has ${several.clusters.length} clusters`, at: several.origin };
  }
  return skips ?? { because: "an attempt may have to pass over clusters without a host", at };
}

/** Why attempts cannot be told apart without the module, if there are several. */
function withoutModule({ slots, countUnusable }: RouteFacts, { unmarked }: RouteSurroundings): Reason | undefined {
  return slots.length > 1 ? (countUnusable ?? unmarked) : undefined;
}
