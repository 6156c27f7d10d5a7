import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { lower } from "../../cli/lower.js";
import { builtHoldModulePath } from "../../cli/module-path.js";
import { fixtures } from "./support.js";

const TEXT = fixtures("lower").find(({ name }) => name === "hold-response.yaml")?.text ?? "";
const BUILT = builtHoldModulePath();
const DIGEST = createHash("sha256").update(readFileSync(BUILT)).digest("hex");

test("the module that holds answers is expected beside the other, under its own name", () => {
  const places = ["/etc/envoy/attempt-router.wasm", "/etc/envoy/mine.wasm", "attempt-router.wasm"];
  const named = places.map((wasm) => new Set(/^.*filename: (.*hold.*)$/m.exec(lower(TEXT, { wasm }).text)?.slice(1)));
  expect(named.flatMap((all) => [...all])).toEqual([
    "/etc/envoy/attempt-router-hold.wasm",
    "/etc/envoy/attempt-router-hold.wasm",
    "attempt-router-hold.wasm",
  ]);
  expect(lower(TEXT).text).toContain(`filename: ${BUILT}`);
});

test("a remote one comes from the same folder, with the digest of the built file", () => {
  const url = "https://modules.test:8443/a/attempt-router.wasm?v=1";
  const { text } = lower(TEXT, { wasmRemote: { url, sha256: "ab".repeat(32) } });
  expect(text).toContain("https://modules.test:8443/a/attempt-router-hold.wasm?v=1");
  expect(text).toContain(DIGEST);
  expect(text).toContain("name: attempt_router_module");
});

test("a file that only holds answers names the cluster of a remote module, too", () => {
  const plain = TEXT.replaceAll(/^ {14}- match: \{prefix: \/chain\}[^]*?(?=^ {14}- match)/gm, "");
  expect(plain).not.toContain("priority_group");
  const url = "https://modules.test/attempt-router.wasm";
  const { text } = lower(plain, { wasmRemote: { url, sha256: "ab".repeat(32) } });
  expect(text).toMatch(/name: attempt_router_module\b/);
  expect(text).not.toContain("/attempt-router.wasm");
});

test("routes that come by RDS hold where their listener stands in the same file, each resource with its part", () => {
  const [listener, routes] = resourcesOf(TEXT);
  expect(() => lower(routes ?? "")).toThrow(/lower the Listener and this RouteConfiguration as one file/);
  const { text } = lower(`resources:\n${indented(listener)}${indented(routes)}`);
  const [listenerOut = "", routesOut = ""] = text.split("type.googleapis.com/envoy.config.route.v3.RouteConfiguration");
  const switchedOn = new Set(routesOut.match(/attempt_router_hold_[0-9a-f]{16}/g));
  expect(switchedOn.size).toBeGreaterThan(0);
  for (const name of switchedOn) expect(listenerOut).toContain(`name: ${name}`);
  expect(listenerOut).toContain("name: attempt_router_hold\n");
});

/** The listener of a bootstrap with its routes behind RDS, and these routes, as resources. */
function resourcesOf(text: string): string[] {
  const bootstrap = parse(text) as { static_resources: { listeners: { filter_chains: Chain[] }[] } };
  const [listener] = bootstrap.static_resources.listeners;
  const manager = listener?.filter_chains[0]?.filters[0]?.typed_config;
  if (listener === undefined || manager === undefined) throw new Error("expected a listener with a connection manager");
  const routes = {
    "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
    ...manager.route_config,
    name: "r",
  };
  delete manager.route_config;
  manager.rds = { route_config_name: "r", config_source: { ads: {}, resource_api_version: "V3" } };
  return [{ "@type": "type.googleapis.com/envoy.config.listener.v3.Listener", ...listener }, routes].map((one) =>
    stringify(one),
  );
}

interface Chain {
  filters: { typed_config: { route_config?: object; rds?: object } }[];
}

function indented(resource = ""): string {
  return `- ${resource.trimEnd().replaceAll("\n", "\n  ")}\n`;
}
