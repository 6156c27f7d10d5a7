import { expect, test } from "vitest";
import type { RouteSettings } from "../../cli/lower/settings.js";
import { fractionOf, sharesOf, type Share } from "../../cli/choose/weights.js";

type Weights = Record<string, number>;

const SIZES: Record<string, number> = { HUNDRED: 100, TEN_THOUSAND: 10_000, MILLION: 1_000_000 };

function settings(groups: Weights[], more: object = {}): RouteSettings {
  const priority_groups = groups.map((weights, index) => ({
    name: `g${index}`,
    clusters: Object.entries(weights).map(([cluster_name, weight]) => ({ cluster_name, weight })),
  }));
  return { priority_group: { priority_groups, ...more }, slots: groups.length };
}

/** What Envoy does with the routes of some shares: the first whose fraction holds. */
function picksOfShares(shares: readonly Share[], random: number): string[] {
  const share = shares.find(
    ({ below }) => below === undefined || random % (SIZES[below.denominator] ?? 1) < below.numerator,
  );
  return share?.slots.map(({ defaultCluster }) => defaultCluster) ?? [];
}

/** The picks of the native specifier: half-open intervals in list order. */
function nativePicks(groups: Weights[], random: number): string[] {
  return groups.map((weights) => {
    const total = Object.values(weights).reduce((a, b) => a + b, 0);
    let end = 0;
    return Object.entries(weights).find(([, weight]) => (end += weight) > random % total)?.[0] ?? "";
  });
}

const SAME: [string, Weights[]][] = [
  ["80 and 20", [{ a: 80, b: 20 }, { c: 1 }]],
  ["one group", [{ a: 25, b: 75 }]],
  ["groups that part at different values", [{ a: 70, b: 30 }, { b: 30, c: 20, d: 50 }, { d: 7 }]],
  [
    "groups that part at the same value",
    [
      { a: 50, b: 50 },
      { c: 50, d: 50 },
      { b: 50, a: 50 },
    ],
  ],
  [
    "a total of 10,000",
    [
      { a: 9_999, b: 1 },
      { c: 1, d: 9_999 },
    ],
  ],
  ["a total of a million", [{ a: 999_999, b: 1 }]],
];

// Other routes and mirror policies compare the same random value, so it is not enough that the shares have the same sizes.
test.each(SAME)("gives every random value the picks of the native specifier: %s", (_, groups) => {
  const shares = sharesIn(settings(groups));
  const size = SIZES[shares[0]?.below?.denominator ?? ""] ?? 0;
  expect(size).toBeGreaterThan(0);
  const randoms = [...range(0, 20_000), ...range(size - 10, size + 10), ...range(2 * size - 10, 2 * size + 10)];
  const differing = randoms.filter(
    (random) => picksOfShares(shares, random).join() !== nativePicks(groups, random).join(),
  );
  expect(differing).toEqual([]);
});

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

test("shares next to each other with the same picks are one route", () => {
  expect(
    sharesOf(
      settings([
        { a: 50, b: 50 },
        { c: 50, d: 50 },
      ]),
    ),
  ).toHaveLength(2);
});

test("so is a cluster that is listed twice in a row", () => {
  const clusters = ["a", "a", "b", "a"].map((cluster_name) => ({ cluster_name, weight: 25 }));
  const route = { priority_group: { priority_groups: [{ name: "g", clusters }] }, slots: 1 };
  const shares = sharesIn(route).map(({ slots, below }) => [slots[0]?.defaultCluster, below?.numerator]);
  expect(shares).toEqual([
    ["a", 50],
    ["b", 75],
    ["a", undefined],
  ]);
});

test("names that are the same when joined are other picks", () => {
  const groups = [
    { a: 50, ab: 50 },
    { bc: 50, c: 50 },
  ];
  expect(sharesIn(settings(groups))).toHaveLength(2);
});

test("a route that keeps its first cluster for retries has the first group in every share's slots", () => {
  const route = { ...settings([{ a: 50, b: 50 }, { c: 1 }]), refresh_cluster_on_retry: false };
  expect(sharesIn(route).map(({ slots }) => slots.map(({ defaultCluster }) => defaultCluster))).toEqual([
    ["a", "a"],
    ["b", "b"],
  ]);
});

test("attempts past the last group stay on it, and what else a slot has is kept", () => {
  const slot = { defaultCluster: "", otherClusters: ["b"], open: true, count: 2 };
  expect(sharesIn(settings([{ a: 50, b: 50 }]), [slot, {}]).map(({ slots }) => slots)).toEqual([
    [
      { defaultCluster: "a", otherClusters: [], open: false, count: 2 },
      { defaultCluster: "a", otherClusters: [], open: false },
    ],
    [
      { defaultCluster: "b", otherClusters: [], open: false, count: 2 },
      { defaultCluster: "b", otherClusters: [], open: false },
    ],
  ]);
});

test("a share says its fraction in the route's match, and the last one none", () => {
  expect(sharesIn(settings([{ a: 25, b: 75 }])).map(fractionOf)).toEqual([
    { runtime_fraction: { default_value: { numerator: 25, denominator: "HUNDRED" } } },
    {},
  ]);
});

test("ten shares are worth it, eleven are not", () => {
  const equal = (count: number) =>
    Object.fromEntries(range(0, count).map((index) => [`c${index}`, index === 0 ? 109 - 9 * count : 9]));
  expect(sharesIn(settings([equal(10)]))).toHaveLength(10);
  expect(sharesOf(settings([equal(11)]))).toBe("it would become 11 routes, more than 10");
});

function sharesIn(route: RouteSettings, slots?: Parameters<typeof sharesOf>[1]): Share[] {
  const shares = sharesOf(route, slots);
  if (typeof shares === "string") throw new Error(shares);
  return shares;
}

const MANY = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`c${index}`, 5]));

test.each<[string, RouteSettings, string]>([
  ["a total that divides no denominator", settings([{ a: 1, b: 2 }]), "the sum of its weights"],
  ["a total that divides a denominator", settings([{ a: 1, b: 1 }]), "the sum of its weights"],
  ["a total that a denominator divides", settings([{ a: 100, b: 100 }]), "the sum of its weights"],
  [
    "groups of different totals",
    settings([
      { a: 50, b: 50 },
      { c: 5_000, d: 5_000 },
    ]),
    "different sums",
  ],
  ["more shares than are worth it", settings([MANY]), "it would become 20 routes"],
  ["a weight that is none", settings([{ a: -1, b: 101 }]), "the sum of its weights"],
  [
    "attempts that avoid what was used",
    { ...settings([{ a: 50, b: 50 }]), avoid_tried_clusters: true },
    "attempts avoid clusters",
  ],
  ["a weight of 0", settings([{ a: 0, b: 100 }]), "the sum of its weights"],
  ["a weight that is no integer", settings([{ a: 0.5, b: 99.5 }]), "the sum of its weights"],
  ["the random value from a header", settings([{ a: 50, b: 50 }], { header_name: "x" }), "from a header"],
  ["the random value from hash policies", settings([{ a: 50, b: 50 }], { use_hash_policy: true }), "hash policies"],
  ["an override", settings([{ a: 50, b: 50 }], { override_metadata_namespace: "n" }), "override"],
  [
    "composite clusters",
    { ...settings([{ a: 50, b: 50 }]), composite_clusters: [{ name: "a", clusters: [] }] },
    "composite",
  ],
])("leaves to the module: %s", (_, route, because) => {
  expect(sharesOf(route)).toContain(because);
});
