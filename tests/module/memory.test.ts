import { describe, expect, it } from "vitest";
import { encodeMetadata, WasmHost, type RequestSpec } from "../../cli/host/index.js";
import { groupOf, MODULE_PATH, routeWith, settingsOf } from "./routes.js";
import { specifiedRequest, specifier, template } from "./specifier-routes.js";

const GROUPS = [groupOf(1, 2, 3), groupOf(1, 1)];
const HASH_POLICY = [
  { header: { header_name: "x-key" } },
  { cookie: { name: "c" } },
  { query_parameter: { name: "q" } },
  { connection_properties: { source_ip: true } },
];
const COMPOSITES = [{ name: "all", clusters: ["c0", "c1", "c2"] }];

const override = (groups: object[], padding = 0) =>
  encodeMetadata({
    filter_metadata: { o: { priority_groups: groups as never }, other: { text: "x".repeat(padding) } },
  });
const overridden = routeWith(settingsOf(GROUPS, { override_metadata_namespace: "o" }));
const when = { headers: [{ name: "x-tier", string_match: { exact: "GOLD", ignore_case: true } }] };

/** One request per capability, those that fall back included. */
const REQUESTS: Readonly<Record<string, RequestSpec>> = {
  "no settings": { routeName: "plain" },
  weights: routeWith(settingsOf(GROUPS)),
  header_name: { ...routeWith(settingsOf(GROUPS, { header_name: "x-pick" })), headers: { "x-pick": "5" } },
  "header_name, no number": {
    ...routeWith(settingsOf(GROUPS, { header_name: "x-pick" })),
    headers: { "x-pick": "x".repeat(9000) },
  },
  "hash policies": {
    ...routeWith(settingsOf(GROUPS, { use_hash_policy: true }, { hash_policy: HASH_POLICY })),
    headers: { "x-key": ["a", "b"], cookie: "c=1", ":path": "/?q=1" },
    sourceAddress: "192.0.2.1:1234",
  },
  override: { ...overridden, dynamicMetadata: override([{ name: "g", clusters: [{ cluster_name: "z", weight: 1 }] }]) },
  "override, large": { ...overridden, dynamicMetadata: override([{ name: "g" }], 100_000) },
  "override, wrong": { ...overridden, dynamicMetadata: override([{ name: "unknown" }, { name: 1 }]) },
  "one slot": routeWith(settingsOf(GROUPS, {}, { slot_form: "ONE_SLOT" })),
  composite: routeWith({ cluster: "all", composite_clusters: COMPOSITES, slots: 3 }),
  "client's attempt count": { ...routeWith(settingsOf(GROUPS)), headers: { "x-envoy-attempt-count": "7" } },
  "specifiers: override": specifiedRequest({
    route: [
      specifier("RouteOverride", {
        when,
        cluster: "d",
        timeout: "1s",
        retry_policy: { retry_on: "5xx", num_retries: 2, retriable_status_codes: [429] },
        request_headers_to_add: [{ header: { key: "x-a", value: "b" } }],
        response_headers_to_add: [{ header: { key: "x-c", value: "d" } }],
      }),
      specifier("Audit", { log: true, counter: "seen", response_header: "x-audit" }),
    ],
  }),
  "specifiers: groups": specifiedRequest({
    virtual_host: [specifier("RouteOverride", { priority_groups: GROUPS as never })],
  }),
  "specifiers: template": specifiedRequest({ route_configuration: [template("other", { cluster: "e" })] }),
  "specifiers: no route": specifiedRequest({ virtual_host: [specifier("DropRoute")] }, null),
};

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
    const host = WasmHost.load(MODULE_PATH);
    const send = sender(host);
    const warm = send(20_000);
    for (let i = 0; i < 9; i++) expect(send(20_000)).toBe(warm);
    expect(host.failure).toBeUndefined();
    expect(host.contextCount).toBe(3);
  });

  it("keeps what it knows of routes while garbage is collected", () => {
    const host = WasmHost.load(MODULE_PATH);
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
});
