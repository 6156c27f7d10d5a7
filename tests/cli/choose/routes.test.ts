// The table of routes by plain facts: each rule declines for its reason, and without the reason takes the route.

import { expect, test } from "vitest";
import { FORMS, type Form, type Reason } from "../../../cli/choose/delivery.js";
import { choose, decidesPerAttempt, type RouteFacts, type RouteSurroundings } from "../../../cli/choose/routes.js";
import { FREE, group, reason, route } from "./facts.js";

interface Row {
  facts?: Partial<RouteFacts>;
  around?: Partial<RouteSurroundings>;
  form: Form;
  /** Beginnings of the reasons of the cheaper forms, in the order of FORMS. */
  declined: string[];
}

const ALTERNATIVES = [group("g1", { a: 80, b: 20 }), group("g2", { c: 1 })];
const THIRDS = [group("g1", { a: 2, b: 1 })];
const WEIGHTED = route(ALTERNATIVES);
const SHARED = { sharedFilter: reason("shared") };
const GROUP = "the priority group g1 has 2 clusters";

const ROWS: Record<string, Row> = {
  "a chain of single clusters": { form: "static", declined: [] },
  "a single cluster, where nothing marks": {
    facts: route([group("g1", { a: 1 })]),
    around: { unmarked: reason("unmarked") },
    form: "static",
    declined: [],
  },
  "a weighted chain that may be split": { facts: WEIGHTED, form: "shares", declined: [GROUP] },
  "a weighted chain that may not": {
    facts: { ...WEIGHTED, unsplittable: reason("unsplittable") },
    form: "slots, a filter for each",
    declined: [GROUP, "unsplittable"],
  },
  "weights that are no fraction": {
    facts: route(THIRDS),
    form: "slots, a filter for each",
    declined: [GROUP, "the sum of its weights is none of 100, 10000, 1000000"],
  },
  "a chain of single clusters, where nothing marks": {
    around: { unmarked: reason("unmarked") },
    form: "slots, a filter for each",
    declined: ["unmarked", "unmarked"],
  },
  "one filter for all routes": {
    facts: { ...WEIGHTED, unsplittable: reason("unsplittable") },
    around: SHARED,
    form: "slots",
    declined: [GROUP, "unsplittable", "shared"],
  },
  "requests that may override": {
    facts: override(),
    around: SHARED,
    form: "slots",
    declined: [
      "requests may override the priority groups by metadata ns",
      "requests may override its groups",
      "shared",
    ],
  },
  "composite clusters that are skipped": {
    facts: { ...openSlots(), skips: reason("skips"), unsplittable: reason("unsplittable") },
    around: SHARED,
    form: "slots",
    declined: ["skips", "unsplittable", "shared"],
  },
  "attempts with a choice for no other reason": {
    facts: { ...openSlots(), unsplittable: reason("unsplittable") },
    form: "slots, a filter for each",
    declined: ["an attempt may have to pass over clusters without a host", "unsplittable"],
  },
  "answers that are looked at": {
    facts: { watchesAnswers: reason("watches") },
    around: SHARED,
    form: "slots",
    declined: ["watches", "watches", "shared"],
  },
  "a count that cannot be used": {
    facts: { countUnusable: reason("count") },
    form: "one slot",
    declined: ["count", "count", "count", "count"],
  },
  "clusters by header": {
    facts: { byHeader: reason("header"), countUnusable: reason("count") },
    form: "headers",
    declined: ["header", "header", "header", "header", "header"],
  },
};

test.each(Object.entries(ROWS))("%s", (_, { facts = {}, around = {}, form, declined }) => {
  const choice = choose({ ...route([group("g1", { a: 1 }), group("g2", { b: 1 })]), ...facts }, { ...FREE, ...around });
  expect(choice.form).toBe(form);
  expect(choice.declined.map(({ because }) => because)).toEqual(declined);
  expect(choice.declined.map((one) => one.form)).toEqual(FORMS.slice(0, FORMS.indexOf(form)));
});

test("every form is in the table", () => {
  expect(new Set(Object.values(ROWS).map(({ form }) => form))).toEqual(new Set(FORMS));
});

test("a route is pinned where it would move, and the module serves it for all routes", () => {
  const facts = { ...WEIGHTED, pinned: reason("moves"), unsplittable: reason("unsplittable") };
  const around = { ...FREE, ...SHARED };
  expect(choose(facts, around).delivery).toEqual({ kind: "slots", filter: "shared", pinned: true });
  expect(choose({ ...facts, countUnusable: reason("count") }, around).delivery).toEqual({
    kind: "oneSlot",
    pinned: true,
  });
  expect(choose({ ...facts, pinned: undefined }, around).delivery).toMatchObject({ pinned: false });
});

const PER_ATTEMPT: [string, Partial<RouteFacts>, Reason | undefined][] = [
  ["nothing", {}, undefined],
  ["a count that cannot be used", { countUnusable: reason("count") }, reason("count")],
  ["metadata that is read again", { readsPerAttempt: reason("reads"), skips: reason("skips") }, reason("reads")],
  ["answers that are looked at", { watchesAnswers: reason("watches"), skips: reason("skips") }, reason("watches")],
  ["clusters that are skipped", { skips: reason("skips"), countUnusable: reason("count") }, reason("skips")],
  ["headers, which need no count", { byHeader: reason("header"), countUnusable: reason("count") }, undefined],
];

test.each(PER_ATTEMPT)("the upstream role has work because of %s", (_, facts, expected) => {
  expect(decidesPerAttempt({ ...WEIGHTED, ...facts })).toEqual(expected);
});

function override(): RouteFacts {
  const facts = route(ALTERNATIVES, { override_metadata_namespace: "ns" });
  return { ...facts, attempts: { ...facts.attempts, override: { value: "ns", origin: facts.at } } };
}

/** Two attempts of which each may take another cluster, though every group has one. */
function openSlots(): RouteFacts {
  const facts = route([group("g1", { a: 1 }), group("g2", { b: 1 })]);
  return { ...facts, slots: facts.slots.map((slot) => ({ ...slot, otherClusters: ["c"] })) };
}
