import { expect, test } from "vitest";
import { namespaceMetadata, WasmHost, type RequestSpec } from "../../cli/host/index.js";
import { groupOf, MODULE, routeWith, settingsOf } from "./routes.js";

const headers = { "x-pick": "1" };
const lowered = { ...routeWith(settingsOf([groupOf(1, 1)], { header_name: "x-pick" })), headers };
const named: RequestSpec = { ...lowered };
delete named.routeMetadata;

test.each<[string, RequestSpec]>([
  ["without metadata", named],
  ["with metadata of others", { ...named, routeMetadata: namespaceMetadata("other", { a: 1 }) }],
])("a plain route that is called like a lowered one is left alone, %s", (_, plain) => {
  const host = WasmHost.load(MODULE);
  expect(host.request(plain).slots).toEqual({});
  expect(host.metrics.value("attempt_router.settings_error")).toBe(0n);
  expect(host.logs).toEqual([]);
  // And its name does not stand for settings that are none.
  expect(host.request(lowered).slots).toEqual({ "1": "c1" });
});
