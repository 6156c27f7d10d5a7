// Picks by `avoid_tried_clusters` and by rendezvous, made by the built module.

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it, test } from "vitest";
import type { JsonObject } from "@bufbuild/protobuf";
import { WasmHost } from "../../cli/host/index.js";
import { clusterOf, groupOf, MODULE_PATH, routeWith, settingsOf, type TestGroup } from "./routes.js";

let host: WasmHost;
beforeAll(() => {
  host = WasmHost.load(readFileSync(MODULE_PATH));
});

const BY_HEADER = { header_name: "x-pick" };
const VALUES = 1500;
/** Four standard deviations of a share of that many. */
const NEAR = 4 * Math.sqrt(0.25 / VALUES);

/** Even 64-bit values, the same in every run. */
function value(index: number): bigint {
  return BigInt.asUintN(64, (BigInt(index) + 1n) * 0x9e3779b97f4a7c15n);
}

/** The clusters of as many attempts as there are groups. */
function walk(groups: TestGroup[], settings: JsonObject, pick: bigint): string[] {
  const route = routeWith(settingsOf(groups, BY_HEADER, settings));
  const request = host.request({ ...route, headers: { "x-pick": pick.toString() } });
  request.end();
  return groups.map((_, index) => clusterOf(request, groups, index + 1));
}

function clusters(...names: [string, number][]): TestGroup {
  return { name: "g", clusters: names.map(([cluster_name, weight]) => ({ cluster_name, weight })) };
}

function share(list: readonly unknown[], of: number): number {
  return list.length / of;
}

describe("avoid_tried_clusters", () => {
  const avoid = { avoid_tried_clusters: true };

  it("uses every cluster of a repeated group before it uses one again, and then picks as before", () => {
    const groups = Array.from({ length: 4 }, () => groupOf(60, 30, 10));
    for (let i = 0; i < 300; i++) {
      const picks = walk(groups, avoid, value(i));
      expect(new Set(picks.slice(0, 3)).size).toBe(3);
      expect(picks[3]).toBe(picks[0]);
    }
  });

  it("keeps the weights among the rest, whatever was tried, and the first picks as they are", () => {
    const weights = [4, 1, 3, 2];
    const groups = Array.from({ length: 3 }, () => groupOf(...weights));
    const walks = Array.from({ length: VALUES }, (_, i) => walk(groups, avoid, value(i)));
    const plain = Array.from({ length: 100 }, (_, i) => walk(groups, {}, value(i))[0]);
    expect(walks.slice(0, 100).map(([first]) => first)).toEqual(plain);
    for (const attempt of [1, 2]) {
      const before = new Set(walks.map((picks) => picks.slice(0, attempt).join()));
      for (const tried of before) {
        const alike = walks.filter((picks) => picks.slice(0, attempt).join() === tried);
        const rest = weights.reduce((sum, weight, i) => (tried.includes(`c${i}`) ? sum : sum + weight), 0);
        weights.forEach((weight, i) => {
          const expected = tried.includes(`c${i}`) ? 0 : weight / rest;
          const found = share(
            alike.filter((picks) => picks[attempt] === `c${i}`),
            alike.length,
          );
          expect(Math.abs(found - expected), `${tried}, then c${i}`).toBeLessThan(4 * Math.sqrt(0.25 / alike.length));
        });
      }
    }
  });

  it("looks across groups, and counts a stand-in as the cluster that it begins with", () => {
    const groups = [
      clusters(["a@ar-0123456789ab", 1]),
      clusters(["a@ar-ba9876543210", 1], ["b", 1]),
      clusters(["b", 1], ["a", 1], ["a@ar-0123456789abc", 1]),
    ];
    for (let i = 0; i < 50; i++) {
      expect(walk(groups, avoid, value(i))).toEqual(["a@ar-0123456789ab", "b", "a@ar-0123456789abc"]);
    }
  });

  it("holds for the groups of a request's override, too", () => {
    const settings = settingsOf([clusters(["a", 1])], { override_metadata_namespace: "ns" }, { ...avoid, slots: 4 });
    const priority_groups = [
      { name: "a", clusters: [{ cluster_name: "x", weight: 1 }] },
      { name: "b", clusters: ["x", "y"].map((cluster_name) => ({ cluster_name, weight: 1 })) },
      { name: "g" },
      { name: "b", clusters: ["x", "y", "z"].map((cluster_name) => ({ cluster_name, weight: 1 })) },
    ];
    for (let i = 0; i < 20; i++) {
      const request = host.request({
        ...routeWith(settings),
        dynamicMetadata: { filter_metadata: { ns: { priority_groups } } },
      });
      request.end();
      expect(request.slots).toEqual({ 1: "x", 2: "y", 4: "z" });
    }
  });
});

describe("pick: RENDEZVOUS", () => {
  const rendezvous = { pick: "RENDEZVOUS" };
  const home = (group: TestGroup, index: number) => walk([group], rendezvous, value(index))[0];
  const homes = (group: TestGroup, count = VALUES) => Array.from({ length: count }, (_, i) => home(group, i));
  const WEIGHTS: [string, number][] = [
    ["a", 1],
    ["b", 2],
    ["c", 3],
    ["d", 4],
    ["e", 10],
  ];
  const TOTAL = 20;

  let before: (string | undefined)[] = [];
  beforeAll(() => {
    before = homes(clusters(...WEIGHTS));
  });

  it("gives every cluster its weight's share", () => {
    for (const [name, weight] of WEIGHTS) {
      const part = share(
        before.filter((one) => one === name),
        VALUES,
      );
      expect(Math.abs(part - weight / TOTAL), name).toBeLessThan(NEAR);
    }
  });

  test.each(WEIGHTS)("moves only the keys of %s when it is drained, and those come back", (name, weight) => {
    const after = homes(clusters(...WEIGHTS.filter(([other]) => other !== name)));
    const moved = before.filter((one, index) => one !== after[index]);
    expect(new Set(moved)).toEqual(new Set([name]));
    expect(Math.abs(share(moved, VALUES) - weight / TOTAL)).toBeLessThan(NEAR);
  });

  it("moves keys only to a cluster whose weight grows", () => {
    const after = homes(
      clusters(...WEIGHTS.map(([name, weight]): [string, number] => [name, name === "b" ? 6 : weight])),
    );
    const moved = after.filter((one, index) => one !== before[index]);
    expect(new Set(moved)).toEqual(new Set(["b"]));
    expect(Math.abs(share(moved, VALUES) - (6 / 24 - 2 / 20))).toBeLessThan(NEAR);
  });

  it("hangs on neither the order of the list nor on what stands behind a cluster", () => {
    const turned = homes(clusters(...[...WEIGHTS].reverse()), 300);
    expect(turned).toEqual(before.slice(0, 300));
    const standIns = WEIGHTS.map(([name, weight]): [string, number] => [`${name}@ar-0123456789ab`, weight]);
    const stood = homes(clusters(...standIns), 300);
    expect(stood.map((name) => name?.split("@")[0])).toEqual(before.slice(0, 300));
  });

  it("takes each key to its next cluster where the first one was tried", () => {
    const group = clusters(...WEIGHTS);
    for (let i = 0; i < 200; i++) {
      const [first, second] = walk([group, group], { ...rendezvous, avoid_tried_clusters: true }, value(i));
      const rest = clusters(...WEIGHTS.filter(([name]) => name !== first));
      expect(second).toBe(home(rest, i));
    }
  });

  it("takes the largest and the smallest weights and values", () => {
    const group = clusters(["a", 4294967295], ["b", 1]);
    for (const pick of [0n, 1n, (1n << 64n) - 1n]) expect(walk([group], rendezvous, pick)).toEqual(["a"]);
  });
});
