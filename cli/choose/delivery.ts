import type { Origin } from "../model/origin.js";
import type { Share } from "./weights.js";

/** Why something is not so, and the place that decides it. */
export interface Reason {
  /** The end of a sentence that begins with "because". */
  because: string;
  at: Origin;
}

/** How a route is written. docs/forms.md says what each one is. */
export type Delivery =
  /** No module: the tree says it all. `routerStarted`: it relies on the filter that marks that the router has begun. */
  | { kind: "static"; routerStarted: boolean }
  /** No module: a route for each share of the requests. */
  | { kind: "shares"; shares: readonly Share[]; routerStarted: boolean }
  /** A slot for each attempt; `filter`: one for each distinct chain of priority groups, or one for all routes. */
  | { kind: "slots"; filter: "perChain" | "shared"; pinned: boolean }
  /** One slot that is written anew for each attempt. */
  | { kind: "oneSlot"; pinned: boolean }
  /** A request header for each attempt. */
  | { kind: "headers" };

/** The forms from the cheapest per request to the dearest. */
export const FORMS = ["static", "shares", "slots, a filter for each", "slots", "one slot", "headers"] as const;

export type Form = (typeof FORMS)[number];

export interface Declined extends Reason {
  form: Form;
}

export interface Choice {
  form: Form;
  delivery: Delivery;
  /** Each cheaper form, and why the route does not get it. */
  declined: Declined[];
}

/** The first reason that some rules give. */
export function firstReason<T>(rules: readonly ((facts: T) => Reason | undefined)[], facts: T): Reason | undefined {
  for (const rule of rules) {
    const reason = rule(facts);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
