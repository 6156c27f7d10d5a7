import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { WasmHost } from "../../cli/host/index.js";
import { REQUESTS } from "./requests.js";
import { MODULE, routeWith, settingsOf } from "./routes.js";

function sender(host: WasmHost): (count: number) => number {
  const specs = Object.values(REQUESTS).map((spec) => ({
    ...spec,
    headers: { "x-tier": "gold", "x-forwarded-proto": "http", ...(spec.headers as object) },
  }));
  return (count) => {
    for (let i = 0; i < count; i++) {
      const request = host.request(specs[i % specs.length]);
      if (i % 3 === 0) request.attempt(1, { response: { status: 503 } });
      request.respond({ status: 200 });
      request.end();
    }
    host.logs.length = 0;
    return host.memorySize;
  };
}

describe("memory", () => {
  it("stays the same over 200,000 requests of every capability", { timeout: 300_000 }, () => {
    const host = WasmHost.load(MODULE);
    const send = sender(host);
    const warm = send(20_000);
    for (let i = 0; i < 9; i++) expect(send(20_000)).toBe(warm);
    expect(host.failure).toBeUndefined();
    expect(host.contextCount).toBe(3);
  });

  it("keeps what it knows of routes while garbage is collected", () => {
    const host = WasmHost.load(MODULE);
    const names = Array.from({ length: 2000 }, (_, i) => `cluster-${i}`);
    const specs = names.map((name) => ({
      ...routeWith(
        settingsOf(
          [
            {
              name: "g",
              clusters: [
                { cluster_name: "first", weight: 1 },
                { cluster_name: name, weight: 1 },
              ],
            },
          ],
          { header_name: "x-pick" },
        ),
      ),
      headers: { "x-pick": "1" },
    }));
    for (let round = 0; round < 5; round++) {
      for (const [i, spec] of specs.entries()) {
        const request = host.request(spec);
        expect(request.slots["1"]).toBe(names[i]);
        request.end();
      }
    }
    expect(host.memorySize).toBeLessThan(16 * 2 ** 20);
  });

  it("is bounded, however many routes there are with however long settings", { timeout: 120_000 }, () => {
    const host = WasmHost.load(MODULE);
    const groups = Array.from({ length: 100 }, (_, i) => ({
      name: `g${i}`,
      clusters: [{ cluster_name: "c", weight: 1 }],
    }));
    const route = routeWith(settingsOf(groups));
    // The settings of each take 9 KB, and 3,600 of them more than is kept at once.
    for (let i = 0; i < 3600; i++) {
      const routeName = `r@ar-${createHash("sha256").update(String(i)).digest("hex").slice(0, 32)}`;
      host.request({ ...route, routeName }).end();
    }
    const size = host.memorySize;
    expect(size).toBeGreaterThan(16 * 2 ** 20);
    expect(size).toBeLessThan(96 * 2 ** 20);
    expect(host.failure).toBeUndefined();
  });
});
