// `avoid_tried_clusters` and `pick: RENDEZVOUS` on real Envoys.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { WASM } from "../support/lowering.js";
import { Serving } from "../support/serving.js";
import type { Upstreams } from "../support/upstreams.js";
import { observe, type Options } from "./attempt-runs.js";

const { versions } = await envoyVersions();
const AVOID = { avoid_tried_clusters: true, record_attempts: true };
const SCENARIO = new URL("../../envoy-config/sticky-picks/native.yaml", import.meta.url).pathname;

describe.each(versions)("Envoy %s: avoid_tried_clusters", (version) => {
  const upstreams = { a: 503, b: 503, c: 503 };

  test("a repeated group uses each of its clusters before one again, and then picks as before", async () => {
    const values = Array.from({ length: 9 }, (_, index) => ({ "x-pick": String(index) }));
    const served = await observe(version, { upstreams, groups: [["a", "b", "c"]], settings: AVOID }, values);
    for (const [index, { hops, record }] of served.entries()) {
      expect([...hops.slice(0, 3)].sort(), `value ${index}`).toEqual(["a", "b", "c"]);
      expect(hops[3]).toBe(hops[0]);
      expect(record).toBe(hops.map((name) => `${name}:503`).join());
    }
    expect(served.map(({ hops }) => hops[0])).toEqual(["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
  });

  test("an overlapping group leaves out what an earlier one used, also where steps led to it", async () => {
    const groups = [["a"], ["b"], ["c", "a", "b"]];
    const values = ["0", "1", "2", "3"].map((value) => ({ "x-pick": value }));
    const plain = await observe(version, { upstreams, groups, settings: AVOID }, values);
    for (const { hops } of plain) expect(hops.slice(0, 3)).toEqual(["a", "b", "c"]);
    const steps = [{ on: { statuses: [429] }, next: "c" }];
    const options: Options = { upstreams: { ...upstreams, a: 429 }, groups, settings: { ...AVOID, steps } };
    const led = await observe(version, options, values);
    for (const { hops } of led) {
      expect(hops[0]).toBe("a");
      expect(hops.slice(1, 3).sort()).toEqual(["b", "c"]);
    }
  });

  test("STAY takes another cluster of the same group", async () => {
    const steps = [{ on: { statuses: [503] }, next: "STAY" }];
    const groups = [["a", "b"], ["c"]];
    const values = ["0", "1"].map((value) => ({ "x-pick": value }));
    const served = await observe(version, { upstreams, groups, settings: { ...AVOID, steps } }, values);
    expect(served.map(({ hops }) => hops.slice(0, 2))).toEqual([
      ["a", "b"],
      ["b", "a"],
    ]);
  });

  test("a request's own groups are told apart by cluster, too", async () => {
    const override = [
      { name: "mine", clusters: [{ cluster_name: "b", weight: 1 }] },
      { name: "all", clusters: ["b", "c"].map((cluster_name) => ({ cluster_name, weight: 1 })) },
      { name: "a" },
    ];
    const options = { upstreams, groups: [["a", "b"]], settings: AVOID, override };
    const [served] = await observe(version, options);
    expect(served?.hops).toEqual(["b", "c", "a", "a"]);
  });

  test("counts a cluster as itself where others stand in for it", async () => {
    const groups = [["a"], ["a", "b"], ["c"]];
    const settings = { ...AVOID, skip_clusters_without_hosts: true };
    const values = ["0", "1", "2"].map((value) => ({ "x-pick": value }));
    const served = await observe(version, { upstreams, groups, settings }, values);
    for (const { hops } of served) expect(hops.slice(0, 3)).toEqual(["a", "b", "c"]);
  });
});

/** The scenario on ports that the system chose. */
function onPorts(text: string, pools: string[], upstreams: Upstreams): string {
  const free = text.replace(/port_value: (9901|10000)/g, "port_value: 0");
  return pools.reduce(
    (all, pool, index) => all.replace(`port_value: ${9001 + index}`, `port_value: ${upstreams.port(pool)}`),
    free,
  );
}

describe.each(versions)("Envoy %s: the scenario of sticky picks", (version) => {
  const pools = ["pool_small", "pool_medium", "pool_large"];
  const ok = Object.fromEntries(pools.map((name) => [name, 200]));
  const native = readFileSync(SCENARIO, "utf8");
  const sessions = Array.from({ length: 40 }, (_, index) => ({ "x-session": `session ${index}` }));

  /** The pools of each session's request. */
  async function hops(upstreams: Record<string, number>, text = native): Promise<string[][]> {
    const lowering = { file: SCENARIO, wasm: WASM };
    const serving = await Serving.start(
      version,
      upstreams,
      (servers) => lower(onPorts(text, pools, servers), lowering).text,
    );
    try {
      const all: string[][] = [];
      for (const headers of sessions) all.push((await serving.get("/v1/chat", headers)).hops);
      return all;
    } finally {
      await serving.stop();
    }
  }

  test("a session stays, leaves only a pool that fails, and comes back", async () => {
    const before = await hops(ok);
    expect(before.every(({ length }) => length === 1)).toBe(true);
    expect(new Set(before.flat())).toEqual(new Set(pools));
    const failing = await hops({ ...ok, pool_medium: 503 });
    for (const [index, [home]] of before.entries()) {
      expect(failing[index]?.[0]).toBe(home);
      expect(failing[index]).toHaveLength(home === "pool_medium" ? 2 : 1);
      expect(failing[index]?.[1]).not.toBe("pool_medium");
    }
    // Taken out of the group: its sessions go where their second attempts went, and no other session moves.
    const without = await hops(ok, native.replace(/.*cluster_name: pool_medium, weight.*\n/, ""));
    expect(without.flat()).toEqual(failing.map((list) => list.at(-1)));
    expect(await hops(ok)).toEqual(before);
  });
});
