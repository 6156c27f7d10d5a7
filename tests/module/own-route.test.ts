import { describe, expect, it } from "vitest";
import { namespaceMetadata, WasmHost, type RequestSpec } from "../../cli/host/index.js";
import { groupOf, MODULE, settingsOf } from "./routes.js";

const SETTINGS = settingsOf([groupOf(1, 1), groupOf(1)], { header_name: "x-pick" });
const NAME = "r@ar-00000000000000000123456789abcdef";

function hostOf(...configurations: object[]): WasmHost {
  const plugins = configurations.map((settings) => ({
    name: "attempt_router",
    rootId: "downstream",
    configuration: namespaceMetadata("attempt_router", settings as never),
  }));
  return WasmHost.load(MODULE, { plugins });
}

function slotsOf(host: WasmHost, spec: RequestSpec): Record<string, string> {
  const request = host.request(spec);
  request.end();
  return request.slots;
}

describe("a plugin for one route", () => {
  it("decides without asking for the request's route", () => {
    const host = hostOf({ route: settingsOf([groupOf(1), groupOf(1)]), route_name: NAME });
    const request = host.request({ routeName: "anything" });
    expect(request.hostCalls).toEqual({ proxy_get_header_map_value: 1 });
    expect(request.slots).toEqual({});
  });

  it("picks as the route's own settings would", () => {
    const host = hostOf({ route: SETTINGS, route_name: NAME });
    expect(slotsOf(host, { headers: { "x-pick": "1" } })).toEqual({ "1": "c1" });
    expect(slotsOf(host, { headers: { "x-pick": "2" } })).toEqual({});
  });

  it("names the route in what it reports", () => {
    const host = hostOf({ route: SETTINGS, route_name: NAME });
    slotsOf(host, { headers: { "x-pick": "none" } });
    expect(host.logs.map(({ message }) => message).join("\n")).toContain(NAME);
  });

  it("asks the route where its configuration is wrong, and says what is wrong", () => {
    const host = hostOf({ route: { slots: 1 }, route_name: NAME });
    expect(host.logs.map(({ message }) => message).join("\n")).toContain("configuration: ");
    expect(host.request({ routeName: "plain" }).hostCalls).toHaveProperty("proxy_get_property");
  });
});
