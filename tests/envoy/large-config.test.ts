import { describe, expect, it } from "vitest";
import { lower } from "../../cli/lower.js";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { largeBootstrap } from "../cli/large.js";
import { WASM } from "../support/lowering.js";
import { Serving } from "../support/serving.js";

const ROUTES = 100;
const CLUSTERS = 1000;

describe.each(versions.versions)("a hundred routes over a thousand clusters on Envoy %s", (version) => {
  it("serve each attempt of each route from the cluster of its own chain", async () => {
    const serving = await Serving.start(version, { all: 503 }, (upstreams) => {
      const native = largeBootstrap(ROUTES, CLUSTERS, upstreams.port("all"));
      const header = native.replaceAll(
        "priority_groups:",
        "header_name: x-pick\n                        priority_groups:",
      );
      const admin = "admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}\n";
      return admin + lower(header, { file: "large.yaml", wasm: WASM }).text;
    });
    try {
      // Weights 1, 2, 3: 0 is the first cluster of each group, 5 the last. Four attempts: the third group twice.
      for (const [pick, offset] of [
        ["0", 0],
        ["5", 2],
      ] as const) {
        for (let route = 0; route < ROUTES; route += 9) {
          const served = await serving.get(`/route-${route}/x`, { "x-pick": pick });
          expect(served.hops).toHaveLength(4);
          const counts = await Promise.all([0, 3, 6].map((step) => requestsOf(serving, route * 10 + step + offset)));
          expect(counts, `route ${route}, x-pick ${pick}`).toEqual([1, 1, 2]);
        }
      }
    } finally {
      await serving.stop();
    }
  });
});

async function requestsOf(serving: Serving, cluster: number): Promise<number> {
  return await serving.envoy.admin.stat(`cluster.cluster-${cluster}.upstream_rq_total`);
}
