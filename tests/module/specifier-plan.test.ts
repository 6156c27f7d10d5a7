// What specifiers share with the route they are given: its random value, its groups, its pin.
import type { JsonObject } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { WasmHost } from "../../cli/host/index.js";
import { groupOf, MODULE, routeWith, settingsOf } from "./routes.js";
import { specifiedRequest, specifier, template } from "./specifier-routes.js";

const HALF = { fraction: { numerator: 50 } };
const HALVES = settingsOf([groupOf(50, 50)]);
const host = WasmHost.load(MODULE);

/** Whether the condition held, and the cluster of attempt 1, over many requests. */
function outcomes(chain: JsonObject[], rest: JsonObject): Set<string> {
  const spec = specifiedRequest({ route: chain }, { name: "r", pin: "given" }, rest);
  const seen = new Set<string>();
  for (let i = 0; i < 200; i++) {
    const request = host.request(spec);
    seen.add(`${request.slots["route"] === undefined ? "passed" : "applied"} ${request.slots["1"] ?? "c0"}`);
    request.end();
  }
  return seen;
}

// A fraction compares the value that the groups are picked by, as `runtime_fraction` does natively: the lower half is c0.
test("one random value decides conditions, and the groups of the route with and without overrides", () => {
  const chain = [specifier("RouteOverride", { when: HALF, timeout: "1s" })];
  expect(outcomes(chain, HALVES)).toEqual(new Set(["applied c0", "passed c1"]));
});

test("and the groups of a template", () => {
  const chain = [template("t", { settings: HALVES }, { when: HALF })];
  expect(outcomes(chain, {})).toEqual(new Set(["applied c0", "passed c0"]));
});

test("and those of an override", () => {
  const { priority_group } = HALVES as { priority_group: JsonObject };
  const chain = [specifier("RouteOverride", { when: HALF, ...priority_group })];
  expect(outcomes(chain, {})).toEqual(new Set(["applied c0", "passed c0"]));
});

test("a template whose match the proxy evaluates falls back to the configured route below all overrides", () => {
  const chain = [specifier("RouteOverride", { cluster: "d" }), template("t", { proxy_matches: true })];
  const given = (resolved: JsonObject | null) =>
    host.request(specifiedRequest({ virtual_host: chain }, resolved)).slots["given"];
  expect(given({ name: "a name", pin: "a pin" })).toBe("a pin");
  expect(given(null)).toBe("(no route)");
});

test("every digit of a settings id counts", () => {
  const id = "0123456789abcdef0123456789abcdef";
  const ids = [id, ...Array.from(id, (digit, i) => id.slice(0, i) + (digit === "7" ? "8" : "7") + id.slice(i + 1))];
  const routes = [...new Set(ids)].map((one) => {
    const clusters = ["first", one].map((cluster_name) => ({ cluster_name, weight: 1 }));
    const settings = settingsOf([{ name: "g", clusters }], { header_name: "x-pick" });
    return { ...routeWith(settings), routeName: `r@ar-${one}`, headers: { "x-pick": "1" } };
  });
  expect(routes).toHaveLength(33);
  for (const route of [...routes, ...routes]) {
    expect(`r@ar-${host.request(route).slots["1"] ?? ""}`).toBe(route.routeName);
  }
});
