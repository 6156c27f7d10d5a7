// Clusters that cool down, on real Envoys.

import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { waitFor } from "../../tools/wait.js";
import { serve, type Options } from "./attempt-runs.js";
import type { Serving } from "../support/serving.js";

const { versions } = await envoyVersions();
const COOL = { statuses: [429], base: "300s" };

describe.each(versions)("Envoy %s: cool_down", (version) => {
  const groups = [["a"], ["b"]];

  async function serving(options: Partial<Options>, use: (serving: Serving) => Promise<void>): Promise<void> {
    const one = await serve(version, {
      upstreams: { a: 429, b: 200 },
      groups,
      settings: { cool_down: COOL },
      ...options,
    });
    try {
      await use(one);
    } finally {
      await one.stop();
    }
  }

  const hops = async (one: Serving) => (await one.get("/")).hops;
  const stat = (one: Serving, name: string) => one.envoy.admin.stat(name);
  const ejections = (one: Serving) => stat(one, "cluster.a.outlier_detection.ejections_enforced_total");

  /** The main thread ejects, and then tells the workers. */
  async function isLeftOut(one: Serving): Promise<void> {
    await one.envoy.admin.waitForStat("cluster.a.outlier_detection.ejections_active", (value) => value === 1);
    await waitFor("the worker to know", async () => (await hops(one))[0] === "b");
  }

  test("the first 429 leaves the cluster out, from the next attempt on", async () => {
    await serving({}, async (one) => {
      expect(await hops(one)).toEqual(["a", "b"]);
      await isLeftOut(one);
      expect(await hops(one)).toEqual(["b"]);
    });
  });

  test("other statuses, resets and refused connections do not count", async () => {
    for (const answer of [503, "reset", "refuse"] as const) {
      await serving({ upstreams: { a: answer, b: 200 } }, async (one) => {
        for (let i = 0; i < 3; i++) expect((await hops(one)).at(-1)).toBe("b");
        expect(await ejections(one)).toBe(0);
      });
    }
  });

  test("with 503 among the statuses an attempt without an answer counts", async () => {
    for (const answer of [503, "reset", "refuse"] as const) {
      const settings = { cool_down: { statuses: [503], base: "300s" } };
      await serving({ upstreams: { a: answer, b: 200 }, settings }, async (one) => {
        await hops(one);
        await isLeftOut(one);
      });
    }
  });

  test("consecutive answers count, and a good one begins anew", async () => {
    const upstreams: Options["upstreams"] = { a: [429, 200, 429, 429, 200], b: 200 };
    await serving({ upstreams, settings: { cool_down: { ...COOL, consecutive: 2 } } }, async (one) => {
      expect(await hops(one)).toEqual(["a", "b"]);
      expect(await hops(one)).toEqual(["a"]);
      expect(await hops(one)).toEqual(["a", "b"]);
      expect(await ejections(one)).toBe(0);
      expect(await hops(one)).toEqual(["a", "b"]);
      await isLeftOut(one);
    });
  });

  test("the cluster comes back when its time is over", async () => {
    await serving(
      { upstreams: { a: [429, 200], b: 200 }, settings: { cool_down: { ...COOL, base: "0.5s" } } },
      async (one) => {
        await hops(one);
        await one.envoy.admin.waitForStat("cluster.a.outlier_detection.ejections_active", (value) => value === 1);
        await waitFor("the end", async () => (await hops(one))[0] === "a");
      },
    );
  });

  test("all cooling down: the pick is used all the same, and a counter says so", async () => {
    await serving({ upstreams: { a: 429, b: 429 } }, async (one) => {
      await hops(one);
      const ejected = (name: string) => `cluster.${name}.outlier_detection.ejections_active`;
      for (const name of ["a", "b"]) await one.envoy.admin.waitForStat(ejected(name), (value) => value === 1);
      await waitFor("panic routing", async () => {
        const { response, hops: used } = await one.get("/");
        expect(response.status).toBe(429);
        expect(used.length).toBeGreaterThan(0);
        return used[0] === "a" && (await stat(one, "cluster.a.lb_healthy_panic")) > 0;
      });
    });
  });

  test("without the setting nothing is ejected", async () => {
    await serving({ settings: {} }, async (one) => {
      for (let i = 0; i < 3; i++) expect(await hops(one)).toEqual(["a", "b"]);
    });
  });
});
