import { expect, test } from "vitest";
import { WasmHost } from "../../cli/host/index.js";
import { MODULE } from "./routes.js";
import { specifiedRequest, specifier } from "./specifier-routes.js";

const override = (tier: string, cluster: string) => {
  const when = { headers: [{ name: "x-tier", string_match: { exact: tier } }] };
  return specifier("RouteOverride", { when, cluster });
};
const tiers = ["gold", "silver", "bronze"].map((tier) => override(tier, `for-${tier}`));

test("a header that several conditions look at is read once a request", () => {
  const host = WasmHost.load(MODULE);
  const spec = specifiedRequest({ route: tiers });
  for (const tier of ["silver", "bronze", "silver", "none"]) {
    const request = host.request({ ...spec, headers: { "x-tier": tier } });
    request.end();
    const cluster = tier === "none" ? undefined : `for-${tier}`;
    expect(request.headers.first("x-attempt-router-cluster")).toBe(cluster);
  }
  const request = host.request({ ...spec, headers: { "x-tier": "none" } });
  request.end();
  // The route's name, and the header.
  expect(request.hostCalls).toEqual({ proxy_get_property: 2 });
});

test("a header's first line and all of its lines are two readings", () => {
  const host = WasmHost.load(MODULE);
  const when = { headers: [{ name: "x-c", string_match: { exact: "e" } }] };
  const spec = specifiedRequest({ route: [specifier("RouteOverride", { when, cluster_header: "x-c" })] });
  const request = host.request({ ...spec, headers: { "x-c": ["d", "e"] } });
  request.end();
  expect(request.headers.first("x-attempt-router-cluster")).toBe("d");
});
